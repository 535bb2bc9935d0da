package import RecordModel
import RecordSQL
package import RecordStore

extension Outbox {
    /// Completes a change that the server accepted. The state that was sent becomes the new base,
    /// with the change tag of the server's answer. This does not happen when the server has
    /// reported something newer meanwhile: then the rest of the record that the server lacks is
    /// sent. Errors: notFound.
    package func completeOutbox(_ claim: OutboxClaim, changeTag: String) throws(RecordError) {
        let row = try outboxRow(claim.row.id)
        if try isOvertaken(row, sentOn: claim.base?.changeTag) {
            return try failOutbox(row.id, error: nil)
        }
        try transaction.connection.run("DELETE FROM outbox WHERE id = ?", [.integer(row.id)])
        guard row.operation != .delete else { return }
        // The server has reported that the record is gone. What waits makes it again.
        let later = try transaction.connection.sync.unclaimed(row.name, row.zone)
        if later?.operation == .create { return }
        let sentOn = claim.base?.changeTag
        let sent = row.sent.map(BaseContent.version(_:))
        if let record = try transaction.connection.sync.record(of: row) {
            guard try transaction.connection.sync.baseTag(of: record.id)?.tag == sentOn else {
                return
            }
            return try transaction.merging.putBase(record.id, changeTag, sent, claim.textOnServer)
        }
        guard let later, later.operation == .delete,
            try transaction.connection.sync.base(ofDelete: later.id)?.changeTag == sentOn
        else { return }
        try transaction.merging.putBase(ofDelete: later.id, changeTag, sent)
    }
    /// Returns whether the server has reported, since the change was taken, that it does not have
    /// the record as it is here, and no other change waits that would tell it. Somebody has deleted
    /// the record after the change arrived, or has given its fields values that lost here.
    private func isOvertaken(_ row: OutboxRow, sentOn tag: String?) throws(RecordError) -> Bool {
        guard row.operation != .delete,
            try transaction.connection.sync.unclaimed(row.name, row.zone) == nil,
            let record = try transaction.connection.sync.record(of: row),
            try transaction.connection.sync.baseTag(of: record.id)?.tag != tag
        else { return false }
        let place = try transaction.place(record.entry.type)
        do throws(RecordError) {
            guard let text = try transaction.connection.records.savedText(of: record.id) else {
                return false
            }
            guard let there = try acknowledgedDocument(of: record.id, place.name) else {
                return true
            }
            return try !document(text, of: record.id, place).hasSameValues(as: there)
        } catch  where error.isAboutContent || error.code == .corrupt {
            // Nobody can tell here. A damaged text is parked with its reason.
            return true
        }
    }
}
