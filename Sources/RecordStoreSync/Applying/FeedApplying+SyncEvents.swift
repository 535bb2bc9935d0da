package import RecordModel
import RecordSQL
package import RecordStore

extension FeedApplying {
    /// The number of events that are kept.
    private static let keptEvents: Int64 = 10_000

    /// Keeps the event, and reports it to observers.
    package func note(_ event: SyncEvent) throws(RecordError) {
        try transaction.connection.run(
            """
            INSERT INTO sync_event (kind, database, zone_id, started, ended, records, error)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(event.kind.rawValue), .integer(event.database.rawValue),
                .optional(event.zone?.rawValue), .time(event.start), .time(event.end),
                .integer(event.records), .optional(event.error),
            ])
        var kept = event
        kept.id = transaction.connection.lastInsertedRow
        try transaction.connection.run(
            "DELETE FROM sync_event WHERE id <= ?", [.integer(kept.id - Self.keptEvents)])
        transaction.note(.exchanged, zone: event.zone ?? ZoneID(0))
        transaction.changes[transaction.changes.count - 1].exchange = kept
    }
}

extension SyncState {
    /// Returns the events of the exchange, oldest first.
    package func syncEvents(after id: Int64, limit: Int) throws(RecordError) -> [SyncEvent] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT id, kind, database, zone_id, started, ended, records, error FROM sync_event
                WHERE id > ? ORDER BY id LIMIT ?
                """, [.integer(id), .integer(Int64(limit))]
            ) { row in
                var event = SyncEvent(
                    SyncEvent.Kind(rawValue: row.string(1)) ?? .setup,
                    Database(rawValue: row.int64(2)) ?? .private,
                    row.int64IfPresent(3).map { ZoneID($0) }, start: row.time(4), end: row.time(5),
                    records: row.int64(6), error: row.isNull(7) ? nil : row.string(7))
                event.id = row.int64(0)
                return event
            }
        }
    }

    /// Returns the number of the newest event. Returns 0 before the first.
    package func lastSyncEvent() throws(RecordError) -> Int64 {
        try store.read { connection throws(RecordError) in
            try connection.first("SELECT COALESCE(MAX(id), 0) FROM sync_event") { $0.int64(0) } ?? 0
        }
    }
}
