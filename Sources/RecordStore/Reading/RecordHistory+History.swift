package import RecordModel
import RecordSQL

extension RecordHistory {
    /// Returns the versions of a record name that this machine has seen, oldest first.
    package func history(
        of name: RecordName, in zone: ZoneID
    ) throws(RecordError) -> [Version] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.version) FROM history
                WHERE zone_id = ? AND name = ? ORDER BY token
                """, [.integer(zone.rawValue), .name(name)]
            ) { $0.version() }
        }
    }

    /// Returns the names that have history, including those of deleted records: at most `limit`
    /// after `name`.
    package func historyNames(
        in zone: ZoneID, type: RecordTypeName, after name: RecordName = RecordName(bytes: []),
        limit: Int = 1_000_000
    ) throws(RecordError) -> [RecordName] {
        try store.read { connection throws(RecordError) in
            let names = try connection.all(
                """
                SELECT DISTINCT name FROM history
                WHERE zone_id = ? AND name > ? AND type = ? ORDER BY name LIMIT ?
                """,
                [
                    .integer(zone.rawValue), .name(name), .name(type), .integer(Int64(limit)),
                ]
            ) { RecordName(bytes: $0.bytes(0)) }
            try requireProgress(after: name, to: names.last, in: "history")
            return names
        }
    }

    /// Returns all these names, each with the stem of the record of the type that has it. The stem
    /// is nil for a deleted record.
    package func shownHistoryNames(
        in zone: ZoneID, type: RecordTypeName
    ) throws(RecordError) -> [(name: RecordName, stem: Stem?)] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT h.name, r.stem FROM
                    (SELECT DISTINCT name FROM history WHERE zone_id = ?1 AND type = ?2) h
                LEFT JOIN record r ON r.zone_id = ?1 AND r.name = h.name AND r.type_id =
                    (SELECT id FROM record_type WHERE zone_id = ?1 AND name = ?2)
                ORDER BY h.name
                """, [.integer(zone.rawValue), .name(type)]
            ) { row in
                (
                    name: RecordName(bytes: row.bytes(0)),
                    stem: row.bytesIfPresent(1).map { Stem(bytes: $0) }
                )
            }
        }
    }

    /// Returns whether a record name has a version of that type.
    package func hasHistory(
        of name: RecordName, in zone: ZoneID, type: RecordTypeName
    ) throws(RecordError) -> Bool {
        try store.read { connection throws(RecordError) in
            try connection.exists(
                "SELECT 1 FROM history WHERE zone_id = ? AND name = ? AND type = ?",
                [.integer(zone.rawValue), .name(name), .name(type)])
        }
    }

    /// Returns one version without its text, and its zone.
    package func versionEntry(_ token: Int64) throws(RecordError) -> (Version, ZoneID)? {
        try store.read { connection throws(RecordError) in
            try connection.first(
                "SELECT \(Columns.version), zone_id FROM history WHERE token = ?",
                [.integer(token)]
            ) { ($0.version(), ZoneID($0.int64(Columns.versionCount))) }
        }
    }

    /// Returns one version with its text.
    package func version(_ token: Int64) throws(RecordError) -> HistoryRow? {
        try store.read { connection throws(RecordError) in try connection.records.version(token) }
    }

    /// Returns the accepted changes after a token, in order, so that readers continue where they
    /// stopped.
    package func changes(
        after token: Int64, limit: Int
    ) throws(RecordError) -> [HistoryRow] {
        try store.read { connection throws(RecordError) in
            let rows = try connection.all(
                """
                SELECT \(Columns.history) FROM history h JOIN zone z ON z.id = h.zone_id
                WHERE h.token > ? ORDER BY h.token LIMIT ?
                """, [.integer(token), .integer(Int64(limit))]
            ) { row throws(RecordError) in try row.historyRow() }
            try requireProgress(after: token, to: rows.last?.token, in: "history")
            return rows
        }
    }

    /// Returns the versions after a token, in order, each with its zone and without its text.
    package func versions(
        after token: Int64, limit: Int
    ) throws(RecordError) -> [(version: Version, zone: ZoneID)] {
        try store.read { connection throws(RecordError) in
            let rows = try connection.all(
                """
                SELECT \(Columns.version), zone_id FROM history
                WHERE token > ? ORDER BY token LIMIT ?
                """, [.integer(token), .integer(Int64(limit))]
            ) { (version: $0.version(), zone: ZoneID($0.int64(Columns.versionCount))) }
            try requireProgress(after: token, to: rows.last?.version.token, in: "history")
            return rows
        }
    }

    /// Returns the records of the accepted changes after a token, in order.
    package func changedRecords(
        after token: Int64, limit: Int
    ) throws(RecordError) -> [(token: Int64, record: RecordID)] {
        try store.read { connection throws(RecordError) in
            try connection.records.changed(after: token, limit: Int64(limit))
        }
    }

    /// Returns the token of the last accepted change. Returns 0 before the first.
    package func lastToken() throws(RecordError) -> Int64 {
        try store.read { connection throws(RecordError) in try connection.lastToken() }
    }
}

extension RecordRows {
    /// Returns the records of the accepted changes after a token, in order.
    func changed(
        after token: Int64, limit: Int64
    ) throws(RecordError) -> [(token: Int64, record: RecordID)] {
        let rows = try connection.all(
            "SELECT token, record_id FROM history WHERE token > ? ORDER BY token LIMIT ?",
            [.integer(token), .integer(limit)]
        ) { (token: $0.int64(0), record: RecordID($0.int64(1))) }
        try requireProgress(after: token, to: rows.last?.token, in: "history")
        return rows
    }

    func version(_ token: Int64) throws(RecordError) -> HistoryRow? {
        try connection.first(
            """
            SELECT \(Columns.history) FROM history h JOIN zone z ON z.id = h.zone_id
            WHERE h.token = ?
            """, [.integer(token)]
        ) { row throws(RecordError) in try row.historyRow() }
    }

    /// Returns the token of a record's version in a type at a moment. Nil when there was no such
    /// record, or when the version is no longer kept.
    func version(
        of place: RecordPlace, upTo token: Int64
    ) throws(RecordError) -> Int64? {
        let version = try connection.first(
            """
            SELECT token, kind FROM history
            WHERE zone_id = ? AND name = ? AND type = ? AND token <= ?
            ORDER BY token DESC LIMIT 1
            """,
            [
                .integer(place.zone.rawValue), .name(place.name), .name(place.type),
                .integer(token),
            ]
        ) { (token: $0.int64(0), kind: $0.string(1)) }
        return version.flatMap { $0.kind == ChangeKind.deleted.rawValue ? nil : $0.token }
    }

    /// Returns whether two versions of a record have different texts. Nil stands for no record.
    func differ(_ version: Int64?, _ other: Int64?) throws(RecordError) -> Bool {
        guard let version, let other else { return version != other }
        guard version != other else { return false }
        return try connection.exists(
            """
            SELECT 1 FROM history a, history b WHERE a.token = ? AND b.token = ?
                AND a.text IS NOT b.text
            """, [.integer(version), .integer(other)])
    }

    /// Returns the places that have a version between two tokens, the first one excluded.
    func changedPlaces(after: Int64, upTo: Int64) throws(RecordError) -> Set<RecordPlace> {
        Set(
            try connection.all(
                "SELECT zone_id, type, name FROM history WHERE token > ? AND token <= ?",
                [.integer(after), .integer(upTo)]
            ) { $0.recordPlace(0) })
    }

    /// Returns the records that have the name, in any type of the zone, or the name of the file in the
    /// type. One that waits for its deletion has neither.
    func takers(of place: RecordPlace, _ stem: Stem) throws(RecordError) -> [RecordID] {
        try connection.all(
            """
            SELECT id FROM record WHERE zone_id = ?1 AND name = ?2 AND state != 2
            UNION
            SELECT r.id FROM record_type t JOIN record r ON r.type_id = t.id
            WHERE t.zone_id = ?1 AND t.name = ?3 AND r.stem = ?4 AND r.state != 2
            """,
            [
                .integer(place.zone.rawValue), .name(place.name), .name(place.type), .name(stem),
            ]
        ) { RecordID($0.int64(0)) }
    }

    /// Returns the deletions that are not final yet, in the order of the records' numbers.
    func waitingDeletions() throws(RecordError) -> [WaitingDeletion] {
        try connection.all(
            """
            SELECT r.zone_id, t.name, r.name, r.id, r.stem, r.waiting_since, r.gesture
            FROM record r JOIN record_type t ON t.id = r.type_id
            WHERE r.waiting_since IS NOT NULL AND r.name IS NOT NULL ORDER BY r.id
            """
        ) { row in
            WaitingDeletion(
                id: RecordID(row.int64(3)), place: row.recordPlace(0),
                stem: Stem(bytes: row.bytes(4)), since: row.time(5),
                gesture: row.int64IfPresent(6).map { GestureID($0) })
        }
    }
}
