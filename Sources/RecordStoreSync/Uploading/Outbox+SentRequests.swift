package import RecordModel
import RecordSQL
package import RecordStore

extension Outbox {
    /// Keeps a request that is about to be sent. If no answer arrives, it can be sent again with
    /// the same bytes, even by a later process.
    ///
    /// - Parameter batch: the batch of the claims in it.
    package func keepRequest(
        _ body: [UInt8], batch: Int64, in zone: ZoneID
    ) throws(RecordError) {
        try transaction.connection.run(
            "INSERT INTO sent_request (zone_id, batch, body) VALUES (?, ?, ?)",
            [.integer(zone.rawValue), .integer(batch), .blob(body)])
    }

    /// Deletes the request after it was answered or refused.
    package func forgetRequest(in zone: ZoneID) throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM sent_request WHERE zone_id = ?", [.integer(zone.rawValue)])
    }
}

extension SyncState {
    /// Returns the request of a zone that has no answer yet.
    package func sentRequest(in zone: ZoneID) throws(RecordError) -> SentRequest? {
        try store.read { connection throws(RecordError) in
            let request = try connection.first(
                "SELECT batch, body FROM sent_request WHERE zone_id = ?",
                [.integer(zone.rawValue)]
            ) { (batch: $0.int64(0), body: $0.bytes(1)) }
            guard let request else { return nil }
            let rows = try connection.all(
                "SELECT \(Columns.outbox) FROM outbox WHERE zone_id = ? AND batch = ? ORDER BY id",
                [.integer(zone.rawValue), .integer(request.batch)]
            ) { $0.outbox() }
            let claims = try rows.map { (row) throws(RecordError) in
                OutboxClaim(row: row, base: try connection.sync.base(ofClaimed: row), document: nil)
            }
            return SentRequest(body: request.body, claims: claims)
        }
    }
}

extension SyncRows {
    /// Returns the state that the server had of a record when a change of it was taken. Nothing in
    /// a zone changes this state before the change is answered.
    fileprivate func base(
        ofClaimed row: OutboxRow
    ) throws(RecordError) -> AcknowledgedState? {
        if row.operation == .delete { return try base(ofDelete: row.id) }
        if let record = try record(of: row) { return try base(of: record.id) }
        let later = try unclaimed(row.name, row.zone)
        return try later.flatMap { (later) throws(RecordError) in try base(ofDelete: later.id) }
    }
}
