package import RecordModel
import RecordSQL
package import RecordStore

extension Outbox {
    /// Completes a change that the server accepted. The state that was sent becomes the new base,
    /// with the change tag of the server's answer. This does not happen when the server has
    /// reported something newer meanwhile. Errors: notFound.
    package func completeOutbox(_ claim: OutboxClaim, changeTag: String) throws(RecordError) {
        let row = try outboxRow(claim.row.id)
        try transaction.connection.run("DELETE FROM outbox WHERE id = ?", [.integer(row.id)])
        guard row.operation != .delete else { return }
        let sentOn = claim.base?.changeTag
        let sent = row.sent.map(BaseContent.version(_:))
        if let record = try transaction.connection.sync.record(of: row) {
            guard try transaction.connection.sync.baseTag(of: record.id)?.tag == sentOn else {
                return
            }
            return try transaction.merging.putBase(record.id, changeTag, sent, claim.textOnServer)
        }
        guard let later = try transaction.connection.sync.unclaimed(row.name, row.zone),
            later.operation == .delete,
            try transaction.connection.sync.base(ofDelete: later.id)?.changeTag == sentOn
        else { return }
        try transaction.merging.putBase(ofDelete: later.id, changeTag, sent)
    }
}
