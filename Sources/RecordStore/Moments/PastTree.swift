package import RecordModel
import RecordSQL
import Synchronization

/// The tree as it was after a version, only to be read. It costs as much as the tree of now: nothing
/// is computed in advance, and one index finds the version of a name.
///
/// A zone and a type are there when they had a record: directories are in no history.
package struct PastTree: Sendable {
    let store: RecordStore
    /// The last version that counts.
    package let token: Int64

    /// The size of a text above which it may have a long value.
    private var longText: Int { store.options.limits.shownValueBytes }

    /// Returns the zones of a database that had records, in the order of their names.
    package func zones(in database: Database) throws(RecordError) -> [ZoneInfo] {
        var zones: [ZoneInfo] = []
        for zone in try store.past.zones(in: database, with: .history)
        where try !types(in: zone.id).isEmpty {
            zones.append(zone)
        }
        return zones
    }

    /// Returns the types of a zone that had records, in the order of their names.
    package func types(in zone: ZoneID) throws(RecordError) -> [RecordTypeName] {
        // The history of a zone is erased when its share ends.
        guard
            try store.read({ connection throws(RecordError) in
                try connection.exists(
                    "SELECT 1 FROM history WHERE zone_id = ?", [.integer(zone.rawValue)])
            })
        else { return [] }
        let key = PastTypes.Key(token: token, zone: zone)
        if let known = store.pastTypes.withLock({ $0[key] }) { return known }
        var types: [RecordTypeName] = []
        for type in try store.past.types(in: zone, with: .history)
        where try hasRecord(of: type, in: zone) {
            types.append(type)
        }
        store.pastTypes.withLock { $0.keep(types, key) }
        return types
    }

    /// Returns whether a type had a record. The first page with one ends the search.
    private func hasRecord(
        of type: RecordTypeName, in zone: ZoneID
    ) throws(RecordError) -> Bool {
        var after: RecordName? = RecordName(bytes: [])
        while let name = after {
            let page = try records(in: zone, type, after: name, limit: 512)
            if !page.records.isEmpty { return true }
            after = page.next
        }
        return false
    }

    /// Returns the records of a type after a name, in the order of their names, and the name after
    /// which the next ones follow. That name is nil at the end.
    ///
    /// - Parameter limit: the number of names that are examined. Fewer of them may have a record.
    package func records(
        in zone: ZoneID, _ type: RecordTypeName, after name: RecordName, limit: Int
    ) throws(RecordError) -> (records: [PastRecord], next: RecordName?) {
        try store.readSnapshot { connection throws(RecordError) in
            var last: RecordName?
            var count = 0
            var rows: [PastRow] = []
            try connection.each(
                """
                SELECT \(PastRow.columns) FROM (
                    SELECT MAX(token) AS token FROM history
                    WHERE zone_id = ? AND name > ? AND token <= ? GROUP BY name
                    ORDER BY name LIMIT ?) last
                JOIN history h ON h.token = last.token ORDER BY h.name
                """,
                [
                    .integer(zone.rawValue), .name(name), .integer(token),
                    .integer(Int64(limit)),
                ]
            ) { statement throws(RecordError) in
                let row = PastRow(statement)
                (count, last) = (count + 1, row.name)
                if row.isRecord(of: type) { rows.append(row) }
            }
            try requireProgress(after: name, to: last, in: "history")
            var records: [PastRecord] = []
            for row in rows {
                records.append(
                    try PastRows(connection: connection).record(
                        row, zone, type, upTo: token, longText: longText))
            }
            return (records, count < limit ? nil : last)
        }
    }

    /// Returns the record that was shown with a stem. Returns nil when there was none.
    package func record(
        in zone: ZoneID, _ type: RecordTypeName, _ stem: Stem
    ) throws(RecordError) -> PastRecord? {
        guard let shown = stem.decoded else { return try shortened(zone, type, stem) }
        return try store.readSnapshot { connection throws(RecordError) in
            for name in shown.candidates(in: type) {
                if let row = try PastRows(connection: connection).row(name, zone, type, upTo: token)
                {
                    let record = try PastRows(connection: connection).record(
                        row, zone, type, upTo: token, longText: longText)
                    if record.stem == stem { return record }
                }
            }
            return nil
        }
    }

    /// Finds the record of a stem that does not have its whole name: only the list has it.
    private func shortened(
        _ zone: ZoneID, _ type: RecordTypeName, _ stem: Stem
    ) throws(RecordError) -> PastRecord? {
        guard stem.isShortened else { return nil }
        var after: RecordName? = RecordName(bytes: [])
        while let name = after {
            let (records, next) = try records(in: zone, type, after: name, limit: 1000)
            if let record = records.first(where: { $0.stem == stem }) { return record }
            after = next
        }
        return nil
    }
}

/// A record as a version has it.
package struct PastRecord: Sendable {
    package let token: Int64
    package let name: RecordName
    package let stem: Stem
    package let at: Timestamp
    /// The size of the text, in bytes.
    package let size: Int64
    /// Indicates whether `assets(ofVersion:)` may return any.
    package let mayHaveAssets: Bool
}

/// The last version of a name at a moment.
private struct PastRow {
    static let columns = """
        h.token, h.name, h.at, length(h.text), h.type, h.kind,
        EXISTS (SELECT 1 FROM kept_asset WHERE holder = 0 AND holder_id = h.token)
        """

    let token: Int64
    let name: RecordName
    let at: Timestamp
    let size: Int64
    let type: RecordTypeName
    let isDeletion: Bool
    let hasAssets: Bool

    init(_ row: SQLStatement) {
        token = row.int64(0)
        name = RecordName(bytes: row.bytes(1))
        at = row.time(2)
        size = row.int64(3)
        type = RecordTypeName(bytes: row.bytes(4))
        isDeletion = row.string(5) == ChangeKind.deleted.rawValue
        hasAssets = row.bool(6)
    }

    func isRecord(of type: RecordTypeName) -> Bool { !isDeletion && self.type == type }
}

/// Reads the versions that were shown at a moment.
private struct PastRows {
    let connection: SQLConnection

    func row(
        _ name: RecordName, _ zone: ZoneID, _ type: RecordTypeName, upTo token: Int64
    ) throws(RecordError) -> PastRow? {
        try connection.first(
            """
            SELECT \(PastRow.columns) FROM history h
            WHERE zone_id = ? AND name = ? AND token <= ? ORDER BY token DESC LIMIT 1
            """, [.integer(zone.rawValue), .name(name), .integer(token)]
        ) { PastRow($0) }.flatMap { $0.isRecord(of: type) ? $0 : nil }
    }

    /// Returns the record of a row, with the name under which it was shown (`RecordName.shown`).
    func record(
        _ row: PastRow, _ zone: ZoneID, _ type: RecordTypeName, upTo token: Int64,
        longText: Int
    ) throws(RecordError) -> PastRecord {
        let shown = try row.name.shown(in: type) { (short) throws(RecordError) in
            try self.row(short, zone, type, upTo: token) != nil
        }
        return PastRecord(
            token: row.token, name: row.name, stem: Stem(encoding: shown), at: row.at,
            size: row.size, mayHaveAssets: row.hasAssets || row.size > longText)
    }
}
