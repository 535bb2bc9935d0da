package import RecordModel
import RecordSQL
package import RecordStore

extension FeedApplying {
    /// The number of events that are kept.
    private static let keptEvents: Int64 = 10_000

    /// Keeps the event, and reports it to observers.
    package func note(_ event: SyncEvent) throws(RecordError) {
        var kept = event
        kept.id = try keep(event)
        transaction.note(.exchanged, zone: event.zone ?? ZoneID(0))
        transaction.changes[transaction.changes.count - 1].exchange = kept
    }

    /// Keeps an event without an end. Observers hear of an exchange when it is over.
    /// - Returns: its number, for `end` or `forget`.
    package func begin(_ event: SyncEvent) throws(RecordError) -> Int64 { try keep(event) }

    /// Replaces the event of the beginning of an exchange with that of its end.
    package func end(_ event: SyncEvent, begun: Int64?) throws(RecordError) {
        var event = event
        event.begun = begun
        if let begun { try forget(begun: begun) }
        try note(event)
    }

    /// Removes the event of the beginning of an exchange that is over and has done nothing.
    package func forget(begun: Int64) throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM sync_event WHERE id = ? AND without_end = 1 AND error IS NULL",
            [.integer(begun)])
    }

    /// Indicates whether the last event about this record has the same error.
    package func isKnown(
        _ error: String, of record: SyncEvent.Record, in zone: ZoneID
    ) throws(RecordError) -> Bool {
        try transaction.connection.first(
            """
            SELECT error FROM sync_event WHERE zone_id = ? AND type = ? AND name = ?
            ORDER BY id DESC LIMIT 1
            """, [.integer(zone.rawValue), .name(record.type), .name(record.name)]
        ) { $0.string(0) } == error
    }

    private func keep(_ event: SyncEvent) throws(RecordError) -> Int64 {
        try transaction.connection.run(
            """
            INSERT INTO sync_event (kind, database, zone_id, started, ended, records, error,
                without_end, begun, type, name)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(event.kind.rawValue), .integer(event.database.rawValue),
                .optional(event.zone?.rawValue), .time(event.start),
                .time(event.end ?? event.start), .integer(event.records), .optional(event.error),
                .bool(event.end == nil), .optional(event.begun),
                event.record.map { .name($0.type) } ?? .null,
                event.record.map { .name($0.name) } ?? .null,
            ])
        let id = transaction.connection.lastInsertedRow
        try transaction.connection.run(
            "DELETE FROM sync_event WHERE id <= ?", [.integer(id - Self.keptEvents)])
        return id
    }
}

extension SyncState {
    /// Returns the events of the exchange, oldest first. Those that run come with the number of
    /// their beginning.
    ///
    /// Without a process that writes the store, nothing runs: what has no end was interrupted.
    package func syncEvents(after id: Int64, limit: Int) throws(RecordError) -> [SyncEvent] {
        let events = try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT id, kind, database, zone_id, started, ended, records, error, without_end,
                    begun, type, name
                FROM sync_event WHERE id > ? ORDER BY id LIMIT ?
                """, [.integer(id), .integer(Int64(limit))]
            ) { $0.syncEvent() }
        }
        guard events.contains(where: \.isRunning), !store.hasWriter else { return events }
        return events.map { $0.isRunning ? $0.interrupted : $0 }
    }

    /// Returns the number of the newest event. Returns 0 before the first.
    package func lastSyncEvent() throws(RecordError) -> Int64 {
        try store.read { connection throws(RecordError) in
            try connection.first("SELECT COALESCE(MAX(id), 0) FROM sync_event") { $0.int64(0) } ?? 0
        }
    }
}

extension SQLStatement {
    fileprivate func syncEvent() -> SyncEvent {
        var event = SyncEvent(
            SyncEvent.Kind(rawValue: string(1)) ?? .setup,
            Database(rawValue: int64(2)) ?? .private,
            int64IfPresent(3).map { ZoneID($0) }, start: time(4),
            end: int64(8) == 0 ? time(5) : nil,
            records: int64(6), error: isNull(7) ? nil : string(7))
        event.id = int64(0)
        event.begun = int64IfPresent(9)
        if let type = bytesIfPresent(10), let name = bytesIfPresent(11) {
            event.record = SyncEvent.Record(
                RecordTypeName(bytes: type), RecordName(bytes: name))
        }
        return event
    }
}
