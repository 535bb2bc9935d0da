package import RecordModel

/// A large field of a record: the file NAME@FIELD.EXT.
package struct AssetEntry: Hashable, Sendable {
    /// The raw value is stored; never renumber.
    package enum Kind: Int64, Sendable {
        /// Bytes in a file of the store, named by their hash.
        case file = 0
        /// A long string or bytes value: its bytes are in the record's text.
        case value = 1
    }

    package let id: AssetID
    package let record: RecordID
    package let type: TypeID
    package let stem: Stem
    package let field: FieldName
    /// The place in a list of assets.
    package let index: Int?
    package let kind: Kind
    /// The hash of the content. Nil while the text names an asset whose bytes were never
    /// downloaded.
    package let hash: ContentHash?
    package let size: Int64
    /// The extension without the dot. It may be empty.
    package let fileExtension: [UInt8]
    /// Indicates whether the bytes are on this machine.
    package let isDownloaded: Bool
    package let modified: Timestamp
    /// The time at which its content, name or times last changed on this machine.
    package let statusChanged: Timestamp
    /// Indicates whether the file was moved to a name that exists only on this machine. The field
    /// leaves the record after the grace time, and the name is free until then.
    package let isLeaving: Bool

    /// The one name that a listing shows: STEM@FIELD.EXT, STEM@FIELD.INDEX.EXT.
    package var fileName: [UInt8] {
        EntryName.assetFileName(
            stem: stem, field: field, index: index, fileExtension: fileExtension)
    }
}
