import Glibc
import RecordModel
import RecordStore

/// The place of an asset: a large field of a record.
struct AssetKey: Hashable, Sendable {
    let record: RecordID
    let field: FieldName
    let index: Int?
    init(record: RecordID, field: FieldName, index: Int?) {
        self.record = record
        self.field = field
        self.index = index
    }
    init(_ entry: AssetEntry) {
        self.init(record: entry.record, field: entry.field, index: entry.index)
    }
}

/// The file of an open asset: its name, and its bytes at the beginning.
struct AssetHome {
    let place: AssetKey
    let type: TypeID
    let stem: Stem
    let fileExtension: [UInt8]
    private let kind: AssetEntry.Kind
    private let hash: ContentHash?
    private let size: Int64

    init(_ entry: AssetEntry) {
        place = AssetKey(entry)
        type = entry.type
        stem = entry.stem
        fileExtension = entry.fileExtension
        (kind, hash, size) = (entry.kind, entry.hash, entry.size)
    }

    var hasBytes: Bool { kind == .value || hash != nil }

    /// Returns true when the entry is this file, under the name that it has in another record.
    func isSameFile(as entry: AssetEntry) -> Bool {
        place.field == entry.field && place.index == entry.index && !entry.isLeaving && hasBytes
            && (kind, hash, size) == (entry.kind, entry.hash, entry.size)
    }
}
