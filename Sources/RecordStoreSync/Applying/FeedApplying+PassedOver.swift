package import RecordModel
import RecordSQL
package import RecordStore

extension FeedApplying {
    /// Keeps a list of the records of a page that cannot be shown here, and removes from it the
    /// records that can. Records that are new in the list are reported in one event.
    func notePassedOver(of page: RemotePage) throws(RecordError) {
        let zone = SQLValue.integer(page.zone.rawValue)
        if try transaction.connection.exists("SELECT 1 FROM passed_over WHERE zone_id = ?", [zone])
        {
            for change in page.changes {
                try transaction.connection.run(
                    "DELETE FROM passed_over WHERE zone_id = ? AND name = ?",
                    [zone, .name(change.name)])
            }
        }
        var news: [String] = []
        for record in page.passedOver {
            let reason = record.reason
            guard let name = record.name else {
                news.append(reason)
                continue
            }
            let known = try transaction.connection.first(
                "SELECT reason FROM passed_over WHERE zone_id = ? AND name = ?",
                [zone, .name(name)]
            ) { $0.string(0) }
            if known != reason { news.append("\(name): \(reason)") }
            try transaction.connection.run(
                """
                INSERT OR REPLACE INTO passed_over (zone_id, name, reason, type)
                VALUES (?, ?, ?, ?)
                """,
                [zone, .name(name), .text(reason), record.type.map { .name($0) } ?? .null])
        }
        try tell(of: news, in: page.zone)
    }

    /// Reports the records, because the files do not show that something is missing.
    private func tell(of news: [String], in zone: ZoneID) throws(RecordError) {
        guard let first = news.first else { return }
        let database = try transaction.connection.first(
            "SELECT database FROM zone WHERE id = ?", [.integer(zone.rawValue)]
        ) { Database(rawValue: $0.int64(0)) }
        let message =
            news.count == 1
            ? "A record cannot be shown here: \(first)"
            : "\(news.count) records cannot be shown here, the first: \(first)"
        try note(
            SyncEvent(
                .import, (database ?? nil) ?? .private, zone, start: transaction.now,
                end: transaction.now, error: message))
    }

    /// Notes that these records were requested. Records that are still in the list wait for the
    /// next `retryPassedOver`.
    package func endRetry(of names: [RecordName], in zone: ZoneID) throws(RecordError) {
        for name in names {
            try transaction.connection.run(
                "UPDATE passed_over SET due = 0 WHERE zone_id = ? AND name = ?",
                [.integer(zone.rawValue), .name(name)])
        }
    }

    func forgetPassedOver(of zone: ZoneID) throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM passed_over WHERE zone_id = ?", [.integer(zone.rawValue)])
    }
}

extension SyncState {
    /// Returns the records that the server has and that cannot be shown here, each with the reason.
    package func passedOver(
        limit: Int
    ) throws(RecordError) -> [(zone: ZoneID, record: PassedOver)] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT zone_id, p.name, reason, type FROM passed_over p
                JOIN zone z ON z.id = zone_id
                WHERE removed = 0 ORDER BY zone_id, p.name LIMIT ?
                """, [.integer(Int64(limit))]
            ) { row in
                (
                    ZoneID(row.int64(0)),
                    PassedOver(
                        RecordName(bytes: row.bytes(1)), row.string(2),
                        type: row.bytesIfPresent(3).map { RecordTypeName(bytes: $0) })
                )
            }
        }
    }

    /// Returns the records of a zone that are to be requested once more.
    package func passedOverToRetry(
        in zone: ZoneID, limit: Int
    ) throws(RecordError) -> [RecordName] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                "SELECT name FROM passed_over WHERE zone_id = ? AND due = 1 LIMIT ?",
                [.integer(zone.rawValue), .integer(Int64(limit))]
            ) { RecordName(bytes: $0.bytes(0)) }
        }
    }

    /// Returns the zones of a database with such records.
    package func zonesWithPassedOverToRetry(
        in database: Database
    ) throws(RecordError) -> [ZoneID] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT DISTINCT zone_id FROM passed_over JOIN zone ON id = zone_id
                WHERE due = 1 AND database = ? AND removed = 0
                """, [.integer(database.rawValue)]
            ) { ZoneID($0.int64(0)) }
        }
    }
}
