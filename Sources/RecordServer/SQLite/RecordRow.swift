import RecordModel
import RecordSQL
import RecordWire

/// A record's name in its zone.
struct RecordKey: Hashable {
    /// By its number alone, which is the only one of its kind in the file.
    let zone: Int64
    let name: RecordName

    init(zone: ZoneHandle, name: RecordName) {
        self.zone = zone.number
        self.name = name
    }
}

/// Where a record is stored, and what the indexes of its table have of it.
struct RecordPlace {
    let id: Int64
    var type: Int64
    var isDeleted: Bool
    var parent: RecordName?
    var tree: TreeNumber?
    /// Whether the tables of index entries, references and assets may have rows of the record.
    /// Those that this transaction has made have none yet: there is nothing to take away.
    var hasIndex = true
    var hasReferences = true
    var hasAssets = true
}

extension SQLiteAccess {
    /// The columns that `record` reads, in its order, of the table under the name `r`.
    static let recordColumns = """
        r.name, r.type, r.tag, r.position, r.fields, r.has_assets,
        r.created, r.created_by, r.created_on, r.modified, r.modified_by, r.modified_on,
        r.parent, r.tree, r.short_guid, r.deleted, r.id, r.zone, r.file_text
        """

    func record(_ row: SQLStatement, from first: Int32 = 0) throws(ServerError) -> StoredRecord {
        var record = StoredRecord(
            name: row.name(first), type: RecordTypeName(bytes: try name(row.int64(first + 1))),
            tag: row.int64(first + 2), position: row.int64(first + 3),
            fields: row.bytes(first + 4), hasAssets: row.bool(first + 5),
            created: try stamp(row, first + 6), modified: try stamp(row, first + 9))
        record.parent = row.nameIfPresent(first + 12)
        record.tree = row.treeNumber(first + 13)
        record.share = try share(inZone: row.int64(first + 17), of: record.tree)
        record.shortGUID = row.valueIfPresent(first + 14)
        record.isDeleted = row.bool(first + 15)
        // One column has what the two kinds of rows have of their own.
        if record.isDeleted {
            record.movedTo = row.bytesIfPresent(first + 18).flatMap(RecordAddress.init(stored:))
        } else {
            record.fileText = row.valueIfPresent(first + 18)
        }
        return record
    }

    private func stamp(_ row: SQLStatement, _ first: Int32) throws(ServerError) -> WriteStamp {
        WriteStamp(
            milliseconds: row.int64(first), user: UserName(bytes: try name(row.int64(first + 1))),
            device: Text(utf8: try name(row.int64(first + 2))))
    }
}

extension RecordAddress {
    /// No name has a NUL.
    var stored: [UInt8] { zone.bytes + [0] + type.bytes + [0] + name.bytes }

    init?(stored bytes: [UInt8]) {
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        self.init(
            zone: ZoneName(bytes: Array(parts[0])), type: RecordTypeName(bytes: Array(parts[1])),
            name: RecordName(bytes: Array(parts[2])))
    }
}
