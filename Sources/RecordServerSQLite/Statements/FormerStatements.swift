import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// The former states of records.
struct FormerStatements {
    let access: SQLiteAccess

    private static let columns = """
        name, type, tag, fields, has_assets, created, created_by, created_on, modified,
        modified_by, modified_on, parent, file_text, gesture, position, replaced, replaced_by,
        replaced_on, replacing_gesture, is_deletion
        """

    func formerRecords(
        _ zone: ZoneHandle, of name: RecordName?, before position: Int64?, limit: Int,
        maximumBytes: Int
    ) throws(ServerError) -> [FormerRecord] {
        var sql = "SELECT \(Self.columns) FROM former_records WHERE zone = ? AND position < ?"
        var values: [SQLValue] = [.zone(zone), .integer(position ?? .max)]
        if let name {
            sql += " AND name = ?"
            values.append(.name(name))
        }
        sql += " ORDER BY position DESC LIMIT ?"
        var room = ReadingRoom(maximumBytes)
        return try access.all(sql, values + [.limit(limit)], room: &room) {
            (row, room) throws(ServerError) in
            let former = try former(row)
            room.take(former.record)
            return former
        }
    }

    func putFormer(
        _ zone: ZoneHandle, _ former: FormerRecord, keeping count: Int
    ) throws(ServerError) {
        let record = former.record
        let stamps =
            try values(record.created) + values(record.modified) + [.optional(record.parent)]
        try access.run(
            """
            INSERT INTO former_records (zone, \(Self.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .zone(zone), .name(record.name),
                .integer(try access.makeNumber(record.type.bytes)), .integer(record.tag),
                .blob(record.fields), .bool(record.hasAssets),
            ] + stamps + [
                .optional(record.fileText), .optional(record.gesture),
                .integer(former.position),
            ] + values(former.replaced) + [
                .optional(former.gesture), .bool(former.isDeletion),
            ])
        try access.run(
            """
            DELETE FROM former_records WHERE zone = ?1 AND name = ?2 AND position <= (
                SELECT position FROM former_records WHERE zone = ?1 AND name = ?2
                ORDER BY position DESC LIMIT 1 OFFSET ?3)
            """, [.zone(zone), .name(record.name), .limit(count)])
    }

    func removeFormerRecords(
        before milliseconds: Int64, limit: Int
    ) throws(ServerError) -> Bool {
        try access.run(
            """
            DELETE FROM former_records WHERE replaced < ?1 AND id IN (
                SELECT id FROM former_records ORDER BY id LIMIT ?2)
            """, [.integer(milliseconds), .limit(limit)])
        return access.changedRows == limit
    }

    private func values(_ stamp: WriteStamp) throws(ServerError) -> [SQLValue] {
        [
            .integer(stamp.milliseconds), .integer(try access.makeNumber(stamp.user.bytes)),
            .integer(try access.makeClientNumber(stamp)),
        ]
    }

    private func former(_ row: SQLStatement) throws(ServerError) -> FormerRecord {
        let tag = row.int64(2)
        var record = StoredRecord(
            name: row.name(0), type: RecordTypeName(bytes: try access.name(row.int64(1))),
            tag: tag, position: tag, fields: row.bytes(3), hasAssets: row.bool(4),
            created: try access.stamp(row, 5), modified: try access.stamp(row, 8))
        record.parent = row.nameIfPresent(11)
        record.fileText = row.valueIfPresent(12)
        record.gesture = row.valueIfPresent(13)
        return FormerRecord(
            record, endedAt: row.int64(14), by: try access.stamp(row, 15),
            gesture: row.valueIfPresent(18), isDeletion: row.bool(19))
    }
}
