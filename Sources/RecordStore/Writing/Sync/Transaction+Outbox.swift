package import RecordModel
import RecordSQL

/// What two changes of one record between two sends amount to.
enum Coalescing {
    /// The one operation that means `earlier` and then `later`; nil when nothing is left to send.
    static func merge(
        _ earlier: OutboxRow.Operation, _ later: OutboxRow.Operation
    ) -> OutboxRow.Operation? {
        switch (earlier, later) {
        case (.create, .create), (.create, .update): .create
        case (.create, .delete): nil
        case (.update, .create), (.update, .update): .update
        case (.update, .delete): .delete
        // The server still has the old one: a new generation replaces it.
        case (.delete, .create), (.delete, .update): .update
        case (.delete, .delete): .delete
        }
    }
}

extension OutboxRow {
    /// What this and a later change amount to; nil when nothing is left to send. A create that was
    /// sent and not refused may have arrived, so that a delete after it has to be sent.
    fileprivate func followed(by later: Operation) -> Operation? {
        let merged = Coalescing.merge(operation, later)
        return merged == nil && attempts > 0 && error == nil ? .delete : merged
    }
}

extension Transaction {
    /// Notes a change for the server, merged with one that nobody has taken yet.
    func enqueue(
        _ operation: OutboxRow.Operation, _ record: RecordID, _ name: RecordName,
        _ generation: Int64, _ place: TypePlace, waitsForAsset: Bool = false,
        alsoOfSync: Bool = false
    ) throws(RecordError) {
        guard place.zone.database.isSynced, author != .sync || alsoOfSync else { return }
        if operation == .update {
            return try enqueueUpdate(record, name, generation, place, waitsForAsset)
        }
        guard let earlier = try unclaimed(name, place.zone.id) else {
            return try addOutbox(operation, record, name, generation, place, waitsForAsset)
        }
        guard let merged = earlier.followed(by: operation) else {
            return try connection.run("DELETE FROM outbox WHERE id = ?", [.integer(earlier.id)])
        }
        if operation == .create { try inheritBase(of: earlier.id, record) }
        try connection.run(
            """
            UPDATE outbox SET operation = ?, record_id = ?, generation = ?, type = ?, last_at = ?,
                error = NULL, waits_for_asset = ?, base_tag = NULL, base_text = NULL,
                base_checksum = NULL
            WHERE id = ?
            """,
            [
                .integer(merged.rawValue), .integer(record.rawValue), .integer(generation),
                .name(place.name), .time(now), .bool(waitsForAsset), .integer(earlier.id),
            ])
        if merged == .delete { try keepBase(of: record, in: earlier.id) }
    }

    /// The usual case in one statement: a create stays a create, all else is an update.
    private func enqueueUpdate(
        _ record: RecordID, _ name: RecordName, _ generation: Int64, _ place: TypePlace,
        _ waitsForAsset: Bool
    ) throws(RecordError) {
        try connection.run(
            """
            INSERT INTO outbox (zone_id, name, generation, record_id, operation, type, first_at,
                last_at, waits_for_asset)
            VALUES (?1, ?2, ?3, ?4, 2, ?5, ?6, ?6, ?7)
            ON CONFLICT DO UPDATE SET last_at = ?6, waits_for_asset = ?7, error = NULL
            """,
            [
                .integer(place.zone.id.rawValue), .name(name), .integer(generation),
                .integer(record.rawValue), .name(place.name), .time(now), .bool(waitsForAsset),
            ])
    }

    private func addOutbox(
        _ operation: OutboxRow.Operation, _ record: RecordID, _ name: RecordName,
        _ generation: Int64, _ place: TypePlace, _ waitsForAsset: Bool
    ) throws(RecordError) {
        try connection.run(
            """
            INSERT INTO outbox (zone_id, name, generation, record_id, operation, type, first_at,
                last_at, waits_for_asset)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)
            """,
            [
                .integer(place.zone.id.rawValue), .name(name), .integer(generation),
                .integer(record.rawValue), .integer(operation.rawValue), .name(place.name),
                .time(now), .bool(waitsForAsset),
            ])
        if operation == .delete { try keepBase(of: record, in: connection.lastInsertedRow) }
    }

    /// A delete outlives its record's base, which a record of the same name may need.
    private func keepBase(of record: RecordID, in row: Int64) throws(RecordError) {
        try connection.run(
            """
            UPDATE outbox SET (base_tag, base_text, base_checksum) =
                (SELECT change_tag, text, checksum FROM base WHERE record_id = ?1)
            WHERE id = ?2
            """, [.integer(record.rawValue), .integer(row)])
    }

    private func inheritBase(of row: Int64, _ record: RecordID) throws(RecordError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO base (record_id, change_tag, text, checksum)
            SELECT ?1, base_tag, base_text, base_checksum FROM outbox WHERE id = ?2 AND base_tag IS NOT NULL
            """, [.integer(record.rawValue), .integer(row)])
    }

    /// The base of a delete that was not sent is that of what came after it.
    private func passBase(of row: Int64, to later: OutboxRow) throws(RecordError) {
        if later.operation != .delete { return try inheritBase(of: row, later.record) }
        try connection.run(
            """
            UPDATE outbox SET (base_tag, base_text, base_checksum) =
                (SELECT base_tag, base_text, base_checksum FROM outbox WHERE id = ?1)
            WHERE id = ?2 AND base_tag IS NULL
            """, [.integer(row), .integer(later.id)])
    }

    func unclaimed(_ name: RecordName, _ zone: ZoneID) throws(RecordError) -> OutboxRow? {
        try connection.first(
            """
            SELECT \(Columns.outbox) FROM outbox WHERE zone_id = ? AND name = ? AND batch = 0
            """, [.integer(zone.rawValue), .name(name)]
        ) { $0.outbox() }
    }

    /// What an engine that is no more has taken goes back, merged with what came after it.
    fileprivate func releaseOutbox() throws(RecordError) {
        let batch = try connection.first("SELECT value FROM meta WHERE key = 'nextBatch'") {
            $0.int64(0)
        }
        // An outbox can be long: where nobody ever took anything it is not looked through.
        guard let batch, batch > 1 else { return }
        let claimed = try connection.all("SELECT id FROM outbox WHERE batch != 0 ORDER BY id") {
            $0.int64(0)
        }
        for id in claimed { try failOutbox(id, error: nil) }
    }

    // MARK: For the engine

    /// Takes up to `limit` changes that nobody sends, oldest first, under one new batch number.
    /// Those that wait for an asset's bytes, and parked ones (with an error), are left.
    package func claimOutbox(limit: Int) throws(RecordError) -> [OutboxRow] {
        let batch = try connection.first("SELECT value FROM meta WHERE key = 'nextBatch'") {
            $0.int64(0)
        }
        guard let batch else { throw RecordError(.corrupt, "The store has no batch counter.") }
        try connection.run("UPDATE meta SET value = value + 1 WHERE key = 'nextBatch'")
        try connection.run(
            """
            UPDATE outbox SET batch = ?1, attempts = attempts + 1 WHERE id IN (
                SELECT o.id FROM outbox o
                WHERE batch = 0 AND waits_for_asset = 0 AND error IS NULL
                    AND NOT EXISTS (SELECT 1 FROM outbox e WHERE e.zone_id = o.zone_id
                        AND e.name = o.name AND e.batch != 0)
                ORDER BY o.id LIMIT ?2)
            """, [.integer(batch), .integer(Int64(limit))])
        return try connection.all(
            "SELECT \(Columns.outbox) FROM outbox WHERE batch = ? ORDER BY id",
            [.integer(batch)]
        ) { $0.outbox() }
    }

    /// The server took it: `text`, which was sent, is the new base. Errors: notFound.
    package func completeOutbox(
        _ id: Int64, changeTag: String, text: [UInt8]?
    ) throws(RecordError) {
        let row = try outboxRow(id)
        try connection.run("DELETE FROM outbox WHERE id = ?", [.integer(id)])
        guard row.operation != .delete else { return }
        if let record = try connection.stored(row.record) {
            let saved = try connection.savedText(of: record.id)
            return try putBase(record.id, changeTag, text ?? saved ?? [])
        }
        // It was deleted while it was on its way, and perhaps made anew: that is of this base.
        if let record = try connection.stored(named: row.name, row.zone) {
            return try putBase(record.id, changeTag, text ?? [])
        }
        try connection.run(
            """
            UPDATE outbox SET base_tag = ?, base_text = ?, base_checksum = ?
            WHERE zone_id = ? AND name = ? AND batch = 0 AND operation = 3
            """,
            [
                .text(changeTag), .blob(text ?? []), .checksum(text ?? []),
                .integer(row.zone.rawValue), .name(row.name),
            ])
    }

    /// It was not taken: the change goes back, merged with what came after it. With an error it
    /// stays parked until it is edited or `retryOutbox` is called; without, it is sent again.
    package func failOutbox(_ id: Int64, error: String?) throws(RecordError) {
        let row = try outboxRow(id)
        guard let later = try unclaimed(row.name, row.zone), later.id != id else {
            guard try isStillMeant(row) else {
                return try connection.run("DELETE FROM outbox WHERE id = ?", [.integer(id)])
            }
            return try connection.run(
                "UPDATE outbox SET batch = 0, error = ? WHERE id = ?",
                [.optional(error), .integer(id)])
        }
        // A create that was sent may have arrived, so that a delete after it must be sent.
        let merged: OutboxRow.Operation =
            switch (row.operation, later.operation) {
            case (.create, .delete): .delete
            default: Coalescing.merge(row.operation, later.operation) ?? .delete
            }
        if row.operation == .delete { try passBase(of: id, to: later) }
        try connection.run("DELETE FROM outbox WHERE id = ?", [.integer(id)])
        try connection.run(
            """
            UPDATE outbox SET operation = ?, first_at = min(first_at, ?),
                attempts = max(attempts, ?)
            WHERE id = ?
            """,
            [
                .integer(merged.rawValue), .time(row.first), .integer(row.attempts),
                .integer(later.id),
            ])
    }

    /// Whether what was not sent still says what is so here: not when the server's changes have
    /// meanwhile removed the record, or brought back the one to delete.
    private func isStillMeant(_ row: OutboxRow) throws(RecordError) -> Bool {
        if row.operation != .delete { return try connection.stored(row.record) != nil }
        return try connection.stored(named: row.name, row.zone) == nil
    }

    /// Sends parked changes again: those of one record, or all.
    package func retryOutbox(_ record: RecordID? = nil) throws(RecordError) {
        try connection.run(
            "UPDATE outbox SET error = NULL WHERE batch = 0 AND (?1 IS NULL OR record_id = ?1)",
            [.optional(record?.rawValue)])
    }

    func putBase(
        _ record: RecordID, _ changeTag: String, _ text: [UInt8]
    ) throws(RecordError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO base (record_id, change_tag, text, checksum)
            VALUES (?, ?, ?, ?)
            """,
            [.integer(record.rawValue), .text(changeTag), .blob(text), .checksum(text)])
    }

    private func outboxRow(_ id: Int64) throws(RecordError) -> OutboxRow {
        let row = try connection.first(
            "SELECT \(Columns.outbox) FROM outbox WHERE id = ?", [.integer(id)]
        ) { $0.outbox() }
        guard let row else { throw RecordError(.notFound, "The outgoing change is gone.") }
        return row
    }
}

extension RecordStore {
    /// For a store that was just opened: nobody sends anything yet.
    func releaseOutbox() throws(RecordError) {
        try write(author: .sync, isFreeing: true) { transaction throws(RecordError) in
            try transaction.releaseOutbox()
        }
    }
}
