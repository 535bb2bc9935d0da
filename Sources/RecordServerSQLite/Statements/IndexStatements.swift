import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// The index entries of records.
struct IndexStatements {
    let access: SQLiteAccess

    func putIndexes(_ zone: ZoneHandle, _ records: [IndexKeys]) throws(ServerError) {
        for item in records { try putIndex(zone, item) }
    }

    private func putIndex(_ zone: ZoneHandle, _ item: IndexKeys) throws(ServerError) {
        let key = RecordKey(zone: zone, name: item.record)
        if item.entries.isEmpty, try access.place(key) == nil { return }
        var place = try access.requirePlace(key)
        var numbered: [IndexList.Entry] = []
        numbered.reserveCapacity(item.entries.count)
        for entry in item.entries {
            numbered.append(
                IndexList.Entry(
                    field: try access.makeNumber(entry.field.bytes), kind: entry.kind.rawValue,
                    key: entry.key))
        }
        try replaceIndex(
            zone, &place, item.record, type: try access.makeNumber(item.type.bytes), numbered)
        access.places[key] = place
    }

    /// Writes only the entries that differ from the earlier ones.
    func replaceIndex(
        _ zone: ZoneHandle, _ place: inout RecordPlace, _ name: RecordName, type: Int64,
        _ entries: [IndexList.Entry]
    ) throws(ServerError) {
        let old = place.hasIndex ? try indexList(place.id) : nil
        if old == nil, entries.isEmpty { return }
        if let old, old.type == type {
            let (before, after) = (Set(old.entries), Set(entries))
            guard before != after else { return }
            try removeEntries(zone, name, type, before.subtracting(after))
            try insertEntries(zone, name, place.id, type, after.subtracting(before))
        } else {
            if let old { try removeEntries(zone, name, old.type, old.entries) }
            try insertEntries(zone, name, place.id, type, entries)
        }
        if entries.isEmpty {
            try access.run("DELETE FROM index_lists WHERE record = ?", [.integer(place.id)])
        } else {
            try access.run(
                .insertIndexList,
                "INSERT OR REPLACE INTO index_lists (record, entries) VALUES (?, ?)",
                [.integer(place.id), .blob(IndexList(type: type, entries: entries).bytes)])
        }
        place.hasIndex = !entries.isEmpty
    }

    private func indexList(_ record: Int64) throws(ServerError) -> IndexList? {
        let bytes = try access.first(
            "SELECT entries FROM index_lists WHERE record = ?", [.integer(record)]
        ) { $0.bytes(0) }
        guard let bytes else { return nil }
        guard let list = IndexList(bytes) else {
            throw access.damaged("the index entries of a record cannot be read")
        }
        return list
    }

    private func removeEntries(
        _ zone: ZoneHandle, _ name: RecordName, _ type: Int64,
        _ entries: some Sequence<IndexList.Entry>
    ) throws(ServerError) {
        for entry in entries {
            try access.run(
                """
                DELETE FROM index_entries
                WHERE zone = ? AND type = ? AND field = ? AND kind = ? AND key = ? AND name = ?
                """,
                [
                    .zone(zone), .integer(type), .integer(entry.field), .integer(entry.kind),
                    .blob(entry.key), .name(name),
                ])
        }
    }

    private func insertEntries(
        _ zone: ZoneHandle, _ name: RecordName, _ record: Int64, _ type: Int64,
        _ entries: some Sequence<IndexList.Entry>
    ) throws(ServerError) {
        let statement = try access.statement(
            .insertIndexEntry,
            """
            INSERT OR IGNORE INTO index_entries (zone, type, field, kind, key, name, record)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """)
        let place: [(Int32, SQLValue)] = [
            (1, .zone(zone)), (2, .integer(type)), (6, .name(name)), (7, .integer(record)),
        ]
        for (index, value) in place { try access.bind(value, to: index, of: statement) }
        for entry in entries {
            try access.bind(.integer(entry.field), to: 3, of: statement)
            try access.bind(.integer(entry.kind), to: 4, of: statement)
            try access.bind(.blob(entry.key), to: 5, of: statement)
            while try access.step(statement) {}
        }
    }

    func scan(_ zone: ZoneHandle, _ scan: IndexScan) throws(ServerError) -> [IndexedRecord] {
        guard let type = try access.number(scan.type.bytes),
            let field = try access.number(scan.field.bytes)
        else { return [] }
        var values: [SQLValue] = [
            .zone(zone), .integer(type), .integer(field), .integer(scan.kind.rawValue),
        ]
        let sql = Self.sql(scan, &values)
        var room = ReadingRoom(scan.maximumBytes)
        return try access.all(sql, values + [.limit(scan.limit)], room: &room) {
            (row, room) throws(ServerError) in
            let record = try access.record(row, from: 1)
            room.take(record)
            return IndexedRecord(key: row.bytes(0), record: record)
        }
    }

    /// Counts rows of indexes only, in both statements.
    func countUnindexed(
        _ zone: ZoneHandle, type: RecordTypeName, field: FieldName
    ) throws(ServerError) -> Int64 {
        guard let type = try access.number(type.bytes) else { return 0 }
        let records = try access.first(
            "SELECT COUNT(*) FROM records WHERE zone = ? AND type = ? AND deleted = 0",
            [.zone(zone), .integer(type)]
        ) { $0.int64(0) }
        guard let field = try access.number(field.bytes) else { return records ?? 0 }
        let entries = try access.first(
            """
            SELECT COUNT(*) FROM index_entries
            WHERE zone = ? AND type = ? AND field = ? AND kind = ?
            """,
            [
                .zone(zone), .integer(type), .integer(field),
                .integer(IndexEntry.Kind.value.rawValue),
            ]
        ) { $0.int64(0) }
        return (records ?? 0) - (entries ?? 0)
    }

    /// Returns the statement of a scan. The order of the join is fixed, because SQLite could
    /// otherwise read the records of the zone and sort them. `after` replaces the bound at which
    /// the scan began.
    private static func sql(_ scan: IndexScan, _ values: inout [SQLValue]) -> String {
        var sql = """
            SELECT e.key, \(SQLiteAccess.recordColumns)
            FROM index_entries e CROSS JOIN records r ON r.id = e.record
            WHERE e.zone = ? AND e.type = ? AND e.field = ? AND e.kind = ?
            """
        if let after = scan.after {
            sql += " AND (e.key, e.name) \(scan.ascending ? ">" : "<") (?, ?)"
            values += [.blob(after.key), .name(after.name)]
        }
        if !scan.lower.isEmpty, !scan.ascending || scan.after == nil {
            sql += " AND e.key >= ?"
            values.append(.blob(scan.lower))
        }
        if let upper = scan.upper, scan.ascending || scan.after == nil {
            sql += " AND e.key < ?"
            values.append(.blob(upper))
        }
        let order = scan.ascending ? "ASC" : "DESC"
        return sql + " ORDER BY e.key \(order), e.name \(order) LIMIT ?"
    }
}
