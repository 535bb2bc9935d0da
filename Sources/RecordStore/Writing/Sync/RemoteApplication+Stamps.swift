import RecordModel
import RecordSQL

/// The place of edits among those of other machines: their stamps, and who has lost.
extension RemoteApplication {
    /// Of a record that is new here.
    func keepStamps(of change: RemoteChange, _ known: Known) throws(RecordError) {
        if change.stamps.isEmpty, known.generation == 0 { return }
        try replaceStamps(of: change)
    }

    /// All values are the server's.
    func replaceStamps(of change: RemoteChange) throws(RecordError) {
        var heard = try transaction.heardStamps(of: change.name, zone)
        heard.replace(by: change.stamps)
        try transaction.keep(heard, of: change.name, zone)
    }

    /// Of one that was merged with what is here.
    func keepStamps(
        of change: RemoteChange, _ remote: RecordDocument, _ merged: RecordDocument,
        _ edits: LocalEdits
    ) throws(RecordError) {
        var heard = try transaction.heardStamps(of: change.name, zone)
        let mergedAt = edits.mergedLines.isEmpty ? nil : try transaction.newStamp()
        heard.note(merged.fields, from: remote, change.stamps, edits, mergedAt: mergedAt)
        try transaction.keep(heard, of: change.name, zone)
    }

    /// Where an edit of this machine lost against another in a merge elsewhere, it is listed here, too.
    func noteLosses(
        _ change: RemoteChange, of existing: StoredRecord, in place: TypePlace,
        _ local: RecordDocument, _ remote: RecordDocument, _ merged: RecordDocument,
        _ edits: LocalEdits
    ) throws(RecordError) {
        guard change.stamps.contains(where: { !$0.value.losers.isEmpty }) else { return }
        let replaced = FieldMerge.changedFields(from: local.fields, to: merged.fields).filter {
            !edits.lost.contains($0) && FieldMerge.isSame(merged[$0], remote[$0])
        }
        let lost = try edits.lostElsewhere(replaced, to: remote)
        guard !lost.isEmpty else { return }
        try noteConflict(
            change, of: existing, in: place, fields: lost, theirsStood: lost, base: nil,
            mine: local.text, theirs: remote.text)
    }

    /// A record that was deleted there is made there again, for it was edited here. Others may make it
    /// again, too: then stamps tell whose fields are later, and the outgoing change keeps what the server
    /// had.
    func makeAnew(_ record: RecordID, _ name: RecordName) throws(RecordError) {
        try setPending(name, .update, to: .create)
        try connection.run(
            """
            UPDATE outbox SET sent = COALESCE(sent, ?3), (base_version, base_text, base_checksum) =
                (SELECT version, text, checksum FROM base WHERE record_id = ?4)
            WHERE zone_id = ?1 AND name = ?2 AND operation = 1
                AND EXISTS (SELECT 1 FROM base WHERE record_id = ?4)
            """,
            [
                .integer(zone.rawValue), .name(name),
                .optional(try connection.newestVersion(name, zone)), .integer(record.rawValue),
            ])
    }
}
