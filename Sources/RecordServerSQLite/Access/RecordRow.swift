import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// A record's name in its zone.
struct RecordKey: Hashable {
    /// The number of the zone. It is enough alone, because no other zone in the file has it.
    let zone: Int64
    let name: RecordName

    init(zone: ZoneHandle, name: RecordName) {
        self.zone = zone.number
        self.name = name
    }
}

/// The place where a record is stored, and the columns of it that the indexes of its table have.
struct RecordPlace {
    let id: Int64
    var type: Int64
    var isDeleted: Bool
    var parent: RecordName?
    var tree: TreeNumber?
    /// Indicates whether the table of index entries may have rows of the record; the next two do so
    /// for references and assets. A record that this transaction has made has no rows yet, so that
    /// there is nothing to remove.
    var hasIndex = true
    var hasReferences = true
    var hasAssets = true
}

extension SQLiteAccess {
    /// The columns that `record` reads, in its order, from the table with the name `r`.
    static let recordColumns = """
        r.name, r.type, r.tag, r.position, r.fields, r.has_assets,
        r.created, r.created_by, r.created_on, r.modified, r.modified_by, r.modified_on,
        r.parent, r.tree, r.short_guid, r.deleted, r.id, r.zone, r.file_text,
        r.gesture
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
        // Tombstones and records use the same column for the value that only one of the two kinds
        // has.
        if record.isDeleted {
            record.movedTo = row.bytesIfPresent(first + 18).flatMap(RecordAddress.init(stored:))
        } else {
            record.fileText = row.valueIfPresent(first + 18)
        }
        record.gesture = row.valueIfPresent(first + 19)
        return record
    }

    func stamp(_ row: SQLStatement, _ first: Int32) throws(ServerError) -> WriteStamp {
        WriteStamp(
            milliseconds: row.int64(first), user: UserName(bytes: try name(row.int64(first + 1))),
            device: Text(utf8: try name(row.int64(first + 2))))
    }
}

extension RecordAddress {
    /// The address as bytes. No name contains a NUL.
    var stored: [UInt8] { zone.bytes + [0] + type.bytes + [0] + name.bytes }

    init?(stored bytes: [UInt8]) {
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        self.init(
            zone: ZoneName(bytes: Array(parts[0])), type: RecordTypeName(bytes: Array(parts[1])),
            name: RecordName(bytes: Array(parts[2])))
    }
}
