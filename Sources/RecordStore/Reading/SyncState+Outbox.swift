package import RecordModel
import RecordSQL

extension SyncState {
    /// Returns the changes that wait for the server or are being sent, oldest first.
    package func outbox(limit: Int) throws(RecordError) -> [OutboxRow] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                "SELECT \(Columns.outbox) FROM outbox ORDER BY id LIMIT ?",
                [.integer(Int64(limit))]
            ) { $0.outbox() }
        }
    }

    /// Returns the changes that the server has refused, oldest first. They wait for an edit.
    package func refusedChanges(limit: Int = 1000) throws(RecordError) -> [OutboxRow] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.outbox) FROM outbox WHERE error IS NOT NULL ORDER BY id LIMIT ?
                """, [.integer(Int64(limit))]
            ) { $0.outbox() }
        }
    }

    /// Counts rows: linear in the number of records. Not for frequent use.
    package func counts() throws(RecordError) -> StoreCounts {
        try store.read { connection throws(RecordError) in
            let zones = try connection.all(
                """
                SELECT z.id,
                    (SELECT COUNT(*) FROM record_type t JOIN record r ON r.type_id = t.id
                        WHERE t.zone_id = z.id AND r.state = 0),
                    (SELECT COUNT(DISTINCT name) FROM outbox o WHERE o.zone_id = z.id),
                    (SELECT MIN(first_at) FROM outbox o WHERE o.zone_id = z.id),
                    (SELECT COUNT(*) FROM draft d CROSS JOIN record r ON r.id = d.record_id
                        WHERE r.zone_id = z.id AND r.state != 2),
                    (SELECT COUNT(*) FROM outbox o
                        WHERE o.zone_id = z.id AND o.error IS NOT NULL),
                    (SELECT COUNT(*) FROM conflict c
                        WHERE c.zone_id = z.id AND c.settled IS NULL),
                    (SELECT COUNT(*) FROM passed_over p WHERE p.zone_id = z.id)
                FROM zone z WHERE removed = 0 ORDER BY z.id
                """
            ) { row in
                StoreCounts.Zone(
                    zone: ZoneID(row.int64(0)), records: row.int64(1), pending: row.int64(2),
                    oldestPending: row.int64IfPresent(3).map { Timestamp(nanoseconds: $0) },
                    drafts: row.int64(4), refused: row.int64(5), conflicts: row.int64(6),
                    passedOver: row.int64(7))
            }
            func number(_ sql: String) throws(RecordError) -> Int64 {
                try connection.first(sql) { $0.int64(0) } ?? 0
            }
            let pages = try number("PRAGMA page_count")
            return StoreCounts(
                zones: zones, trash: try number("SELECT COUNT(*) FROM trash"),
                historyRows: try number("SELECT COUNT(*) FROM history"),
                databaseBytes: pages * (try number("PRAGMA page_size")))
        }
    }
}
