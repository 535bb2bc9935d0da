package import RecordModel
import RecordSQL

extension Transaction {
    /// The server refuses a deletion, for others hang on the record there: it is here again as it is
    /// there, with a conflict that tells of the deletion. Errors: those of `applyRemote`.
    package func takeBackDelete(
        _ claim: OutboxClaim, _ change: RemoteChange, in zone: ZoneID
    ) throws(RecordError) {
        let base = try connection.base(ofDelete: claim.row.id)
        try connection.run("DELETE FROM outbox WHERE id = ?", [.integer(claim.row.id)])
        var application = try RemoteApplication(self, zone)
        let result = try application.apply(change)
        guard result.outcome == .created, let id = result.id, let base else { return }
        let record = try requireRecord(id)
        try application.noteConflict(
            change, of: record, in: try place(record.entry.type), base: base.text, mine: nil,
            theirs: try connection.savedText(of: id))
    }
}
