package import RecordModel
import RecordSQL

/// The result of two changes of one record between two sends.
enum Coalescing {
    /// Returns the one operation that means `earlier` and then `later`. Returns nil when nothing is
    /// left to send.
    static func merge(
        _ earlier: OutboxRow.Operation, _ later: OutboxRow.Operation
    ) -> OutboxRow.Operation? {
        switch (earlier, later) {
        case (.create, .create), (.create, .update): .create
        case (.create, .delete): nil
        case (.update, .create), (.update, .update): .update
        case (.update, .delete): .delete
        // The server still has the old record, so a new generation replaces it.
        case (.delete, .create), (.delete, .update): .update
        case (.delete, .delete): .delete
        }
    }
}

extension OutboxRow {
    /// Returns the result of this change and a later one. Returns nil when nothing is left to send.
    /// A create that was sent and not refused may have reached the server, so a deletion after it
    /// has to be sent.
    fileprivate func followed(by later: Operation) -> Operation? {
        let merged = Coalescing.merge(operation, later)
        return merged == nil && attempts > 0 && error == nil ? .delete : merged
    }
}

extension Outbox {
    /// Notes a change for the server. It is merged with a change that nobody has taken yet.
    package func enqueue(
        _ operation: OutboxRow.Operation, _ record: RecordID, _ name: RecordName,
        _ generation: Int64, _ place: TypePlace, waitsForAsset: Bool = false,
        alsoOfSync: Bool = false
    ) throws(RecordError) {
        guard place.zone.database.isSynced, transaction.author != .sync || alsoOfSync else {
            return
        }
        if operation == .update {
            return try enqueueUpdate(record, name, generation, place, waitsForAsset)
        }
        guard let earlier = try transaction.connection.sync.unclaimed(name, place.zone.id) else {
            let row = try addOutbox(
                operation, record, name, generation, place.name, in: place.zone.id,
                waitsForAsset: waitsForAsset)
            if operation == .delete { try transaction.merging.keepBase(of: record, in: row) }
            return
        }
        guard let merged = earlier.followed(by: operation) else {
            return try transaction.connection.run(
                "DELETE FROM outbox WHERE id = ?", [.integer(earlier.id)])
        }
        if operation == .create { try transaction.merging.inheritBase(of: earlier.id, record) }
        try transaction.connection.run(
            """
            UPDATE outbox SET operation = ?, record_id = ?, generation = ?, type = ?, last_at = ?,
                error = NULL, waits_for_asset = ?, base_tag = NULL, base_version = NULL,
                base_text = NULL, base_checksum = NULL
            WHERE id = ?
            """,
            [
                .integer(merged.rawValue), .integer(record.rawValue), .integer(generation),
                .name(place.name), .time(transaction.now), .bool(waitsForAsset),
                .integer(earlier.id),
            ])
        if merged == .delete { try transaction.merging.keepBase(of: record, in: earlier.id) }
    }

    /// Handles the usual case in one statement: a create stays a create, and everything else is an
    /// update.
    private func enqueueUpdate(
        _ record: RecordID, _ name: RecordName, _ generation: Int64, _ place: TypePlace,
        _ waitsForAsset: Bool
    ) throws(RecordError) {
        try transaction.connection.run(
            """
            INSERT INTO outbox (zone_id, name, generation, record_id, operation, type, first_at,
                last_at, waits_for_asset)
            VALUES (?1, ?2, ?3, ?4, 2, ?5, ?6, ?6, ?7)
            ON CONFLICT DO UPDATE SET last_at = ?6, waits_for_asset = ?7, error = NULL
            """,
            [
                .integer(place.zone.id.rawValue), .name(name), .integer(generation),
                .integer(record.rawValue), .name(place.name), .time(transaction.now),
                .bool(waitsForAsset),
            ])
    }

    /// Adds a row to the outbox.
    ///
    /// - Parameter record: nil for the deletion of a record that is not here.
    /// - Returns: its row.
    package func addOutbox(
        _ operation: OutboxRow.Operation, _ record: RecordID?, _ name: RecordName,
        _ generation: Int64, _ type: RecordTypeName, in zone: ZoneID, waitsForAsset: Bool = false
    ) throws(RecordError) -> Int64 {
        try transaction.connection.run(
            """
            INSERT INTO outbox (zone_id, name, generation, record_id, operation, type, first_at,
                last_at, waits_for_asset)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)
            """,
            [
                .integer(zone.rawValue), .name(name), .integer(generation),
                .integer(record?.rawValue ?? 0), .integer(operation.rawValue), .name(type),
                .time(transaction.now), .bool(waitsForAsset),
            ])
        return transaction.connection.lastInsertedRow
    }

    /// Puts the changes that an earlier engine has taken back into the outbox, merged with the
    /// changes that came after them. Changes in a request that may be sent again stay taken.
    fileprivate func releaseOutbox() throws(RecordError) {
        let batch = try transaction.connection.first(
            "SELECT value FROM meta WHERE key = 'nextBatch'"
        ) {
            $0.int64(0)
        }
        // An outbox can be long. It is not searched where nobody ever took anything.
        guard let batch, batch > 1 else { return }
        try release(
            """
            SELECT id FROM outbox WHERE batch != 0
                AND batch NOT IN (SELECT batch FROM sent_request) ORDER BY id
            """, [])
    }

    /// Does the same in one zone, while nobody sends anything from it.
    package func releaseOutbox(in zone: ZoneID) throws(RecordError) {
        try release(
            "SELECT id FROM outbox WHERE zone_id = ? AND batch != 0 ORDER BY id",
            [.integer(zone.rawValue)])
    }

    private func release(_ query: String, _ values: [SQLValue]) throws(RecordError) {
        for id in try transaction.connection.all(query, values, { $0.int64(0) }) {
            try failOutbox(id, error: nil)
        }
    }

    // MARK: For the engine

    /// Puts a change that was not accepted back into the outbox, merged with the change that came
    /// after it. With an error it stays parked until it is edited or `retryOutbox` is called.
    /// Without an error it is sent again.
    package func failOutbox(_ id: Int64, error: String?) throws(RecordError) {
        let row = try outboxRow(id)
        guard let later = try transaction.connection.sync.unclaimed(row.name, row.zone),
            later.id != id
        else {
            guard try isStillMeant(row), try !isAcknowledged(row) else {
                return try transaction.connection.run(
                    "DELETE FROM outbox WHERE id = ?", [.integer(id)])
            }
            return try transaction.connection.run(
                "UPDATE outbox SET batch = 0, error = ? WHERE id = ?",
                [.optional(error), .integer(id)])
        }
        // A create that was sent may have reached the server, so a deletion after it must be sent.
        let merged: OutboxRow.Operation =
            switch (row.operation, later.operation) {
            case (.create, .delete): .delete
            default: Coalescing.merge(row.operation, later.operation) ?? .delete
            }
        if row.operation == .delete {
            try transaction.merging.passBase(of: id, to: later)
            try transaction.connection.run(
                "UPDATE OR IGNORE move SET outbox_id = ? WHERE outbox_id = ?",
                [.integer(later.id), .integer(id)])
        }
        if row.operation == .create { try transaction.merging.passAncestor(of: id, to: later) }
        try transaction.connection.run("DELETE FROM outbox WHERE id = ?", [.integer(id)])
        try transaction.connection.run(
            """
            UPDATE outbox SET operation = ?, first_at = min(first_at, ?),
                attempts = max(attempts, ?), sent = ?
            WHERE id = ?
            """,
            [
                .integer(merged.rawValue), .time(row.first), .integer(row.attempts),
                .optional(row.sent), .integer(later.id),
            ])
    }

    /// Returns whether an unsent change still describes the state here. It does not when the
    /// server's changes have meanwhile removed the record, or brought back the record to delete.
    private func isStillMeant(_ row: OutboxRow) throws(RecordError) -> Bool {
        if row.operation != .delete {
            return try transaction.connection.records.stored(row.record) != nil
        }
        return try transaction.connection.records.stored(named: row.name, row.zone) == nil
    }

    /// Returns whether the server has reported the state that was sent, although its answer was
    /// lost.
    private func isAcknowledged(_ row: OutboxRow) throws(RecordError) -> Bool {
        guard row.operation != .delete, let sent = row.sent,
            try transaction.connection.sync.newestVersion(row.name, row.zone) == sent
        else { return false }
        return try transaction.connection.sync.baseVersion(of: row.record) == sent
    }

    /// Sends parked changes again: those of one record, or all.
    package func retryOutbox(_ record: RecordID? = nil) throws(RecordError) {
        try transaction.connection.run(
            "UPDATE outbox SET error = NULL WHERE batch = 0 AND (?1 IS NULL OR record_id = ?1)",
            [.optional(record?.rawValue)])
    }

    package func retryOutbox(of name: RecordName, in zone: ZoneID) throws(RecordError) {
        try transaction.connection.run(
            "UPDATE outbox SET error = NULL WHERE batch = 0 AND zone_id = ? AND name = ?",
            [.integer(zone.rawValue), .name(name)])
    }

    /// Sends changes of a zone again that the server refused with a reason that begins with this
    /// text. The missing data may exist now.
    package func retryOutbox(
        in zone: ZoneID, refusedFor reason: String
    ) throws(RecordError) {
        try transaction.connection.run(
            """
            UPDATE outbox SET error = NULL
            WHERE zone_id = ?1 AND batch = 0 AND substr(error, 1, length(?2)) = ?2
            """, [.integer(zone.rawValue), .text(reason)])
    }

    package func outboxRow(_ id: Int64) throws(RecordError) -> OutboxRow {
        let row = try transaction.connection.first(
            "SELECT \(Columns.outbox) FROM outbox WHERE id = ?", [.integer(id)]
        ) { $0.outbox() }
        guard let row else { throw RecordError(.notFound, "The outgoing change is gone.") }
        return row
    }
}

extension SyncRows {
    /// Returns the change of a name that nobody has taken.
    package func unclaimed(_ name: RecordName, _ zone: ZoneID) throws(RecordError) -> OutboxRow? {
        try connection.first(
            """
            SELECT \(Columns.outbox) FROM outbox WHERE zone_id = ? AND name = ? AND batch = 0
            """, [.integer(zone.rawValue), .name(name)]
        ) { $0.outbox() }
    }

    /// Returns the record of an outgoing change. While the change was being sent, the record may
    /// have been deleted and perhaps made again with the same base.
    package func record(of row: OutboxRow) throws(RecordError) -> StoredRow? {
        if let record = try connection.records.stored(row.record) { return record }
        return try connection.records.stored(named: row.name, row.zone)
    }
}

extension SyncState {
    /// Sends everything again that the server has refused, and requests the records that could not
    /// be shown.
    package func retryParked() throws(RecordError) {
        try store.write(author: .commandLine) { transaction throws(RecordError) in
            try transaction.outbox.retryOutbox()
            try transaction.retryPassedOver()
        }
    }

    /// Releases the outbox of a store that was just opened, while nobody sends anything yet.
    func releaseOutbox() throws(RecordError) {
        try store.write(author: .sync, isFreeing: true) { transaction throws(RecordError) in
            try transaction.outbox.releaseOutbox()
        }
    }
}
