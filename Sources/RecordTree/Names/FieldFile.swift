import RecordModel
import RecordStore

/// A name that belongs to a large field, and the file with that name.
struct FieldFile: Hashable, Sendable {
    let type: TypeID
    let stem: Stem
    let field: FieldName
    let index: Int?
    /// The file extension without the dot. It may be empty.
    let fileExtension: [UInt8]
    /// The field's file. Nil where the name is free: the first file with this name belongs to the
    /// field.
    var entry: AssetEntry?

    var name: [UInt8] {
        EntryName.assetFileName(
            stem: stem, field: field, index: index, fileExtension: fileExtension)
    }

    var scratchPlace: ScratchPlace { ScratchPlace(directory: .type(type), name: name) }

    /// Returns whether both names belong to the same large field, with any endings.
    func isSameField(as other: FieldFile) -> Bool {
        type == other.type && stem == other.stem && field == other.field && index == other.index
    }
}
