package import RecordModel
import RecordSQL
package import RecordStore

extension Outbox {
    /// Brings back a record whose deletion the server refuses because the record has children
    /// there. It returns to its state on the server, with a conflict that shows the deletion.
    /// Errors: those of `applyRemote`.
    package func takeBackDelete(
        _ claim: OutboxClaim, _ change: RemoteChange, in zone: ZoneID
    ) throws(RecordError) {
        let base = try transaction.connection.sync.base(ofDelete: claim.row.id)
        try transaction.connection.run("DELETE FROM outbox WHERE id = ?", [.integer(claim.row.id)])
        var application = try RemoteApplication(transaction, zone)
        let result = try application.apply(change)
        guard result.outcome == .created, let id = result.id, let base else { return }
        let record = try transaction.records.requireRecord(id)
        try application.noteConflict(
            change, of: record, in: try transaction.place(record.entry.type), base: base.text,
            mine: nil,
            theirs: try transaction.connection.records.savedText(of: id))
    }
}
