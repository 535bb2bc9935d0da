package import RecordModel
package import RecordSQL

/// A complete row of `record`, as writing needs it.
package struct StoredRow {
    package static let columns = Columns.record + ", zone_id, generation, name, created_by"

    package static let columnCount = Columns.recordCount + 4
    /// The columns of the table when it is joined as `r`.
    package static let joinedColumns = Columns.joined(columns, as: "r")

    fileprivate static let ofStem = "SELECT \(columns) FROM record WHERE type_id = ? AND stem = ?"
    fileprivate static let ofNumber = "SELECT \(columns) FROM record WHERE id = ?"
    fileprivate static let ofName = "SELECT \(columns) FROM record WHERE zone_id = ? AND name = ?"

    package var entry: RecordEntry
    package let zone: ZoneID
    package let generation: Int64
    package let name: RecordName?
    package let createdBy: String

    package var id: RecordID { entry.id }
    package var state: RecordEntry.State { entry.state }

    package init(_ row: SQLStatement) {
        entry = row.record()
        let next = Columns.recordCount
        zone = ZoneID(row.int64(next))
        generation = row.int64(next + 1)
        name = row.bytesIfPresent(next + 2).map { RecordName(bytes: $0) }
        createdBy = row.string(next + 3)
    }
}

extension RecordRows {
    package func stored(_ type: TypeID, _ stem: Stem) throws(RecordError) -> StoredRow? {
        try connection.first(
            StoredRow.ofStem, [.integer(type.rawValue), .name(stem)], StoredRow.init)
    }

    package func stored(_ id: RecordID) throws(RecordError) -> StoredRow? {
        try connection.first(StoredRow.ofNumber, [.integer(id.rawValue)], StoredRow.init)
    }

    package func stored(named name: RecordName, _ zone: ZoneID) throws(RecordError) -> StoredRow? {
        try connection.first(
            StoredRow.ofName, [.integer(zone.rawValue), .name(name)], StoredRow.init)
    }
}

extension RecordWriting {
    package func requireRecord(_ id: RecordID) throws(RecordError) -> StoredRow {
        guard let record = try transaction.connection.records.stored(id) else {
            throw RecordError(.notFound, "The record is gone.")
        }
        return record
    }

    package func requireEntry(_ id: RecordID) throws(RecordError) -> RecordEntry {
        try requireRecord(id).entry
    }

    /// Does the same as `RecordStore.record(_:_:)`, including the changes of this transaction.
    package func record(_ type: TypeID, _ stem: Stem) throws(RecordError) -> RecordEntry? {
        try transaction.connection.records.record(type, stem)
    }

    package func record(_ id: RecordID) throws(RecordError) -> RecordEntry? {
        try transaction.connection.records.record(id)
    }

    package func text(of id: RecordID) throws(RecordError) -> [UInt8]? {
        try transaction.connection.records.shownText(of: id)
    }

    package func savedText(of id: RecordID) throws(RecordError) -> [UInt8]? {
        try transaction.connection.records.savedText(of: id)
    }

    package func asset(
        _ record: RecordID, _ field: FieldName, _ index: Int?
    ) throws(RecordError) -> AssetEntry? {
        try transaction.connection.records.asset(record, field, index)
    }

    package func asset(_ id: AssetID) throws(RecordError) -> AssetEntry? {
        try transaction.connection.records.asset(id)
    }

    package func assets(of record: RecordID) throws(RecordError) -> [AssetEntry] {
        try transaction.connection.records.assets(of: record)
    }
}

/// Reads and writes the rows of records.
package struct RecordRows {
    package let connection: SQLConnection
}
