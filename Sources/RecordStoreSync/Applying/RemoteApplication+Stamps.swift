import RecordModel
import RecordSQL
import RecordStore

/// The order of edits among those of other machines: their stamps, and the edits that lost.
extension RemoteApplication {
    /// Keeps the stamps of a record that is new here.
    func keepStamps(of change: RemoteChange, _ known: Known) throws(RecordError) {
        if change.stamps.isEmpty, known.generation == 0 { return }
        try replaceStamps(of: change)
    }

    /// Replaces the stamps, because all values are the server's.
    func replaceStamps(of change: RemoteChange) throws(RecordError) {
        var heard = try transaction.merging.heardStamps(of: change.name, zone)
        heard.replace(by: change.stamps)
        try transaction.merging.keep(heard, of: change.name, zone)
    }

    /// Keeps the stamps of a record that was merged with what is here.
    func keepStamps(_ update: RecordUpdate) throws(RecordError) {
        let (change, edits) = (update.change, update.edits)
        var heard = try transaction.merging.heardStamps(of: change.name, zone)
        let mergedAt = edits.mergedLines.isEmpty ? nil : try transaction.merging.newStamp()
        heard.note(
            update.merged.document.fields, from: update.news.remote, change.stamps, edits,
            mergedAt: mergedAt)
        try transaction.merging.keep(heard, of: change.name, zone)
    }

    /// Lists an edit of this machine that lost against another one in a merge elsewhere.
    func noteLosses(_ update: RecordUpdate) throws(RecordError) {
        let (news, merged, edits) = (update.news, update.merged.document, update.edits)
        guard update.change.stamps.contains(where: { !$0.value.losers.isEmpty }) else { return }
        let changed = FieldMerge.changedFields(from: news.local.fields, to: merged.fields)
        let replaced = changed.filter {
            !edits.lost.contains($0) && FieldMerge.isSame(merged[$0], news.remote[$0])
        }
        let lost = try edits.lostElsewhere(replaced, to: news.remote)
        guard !lost.isEmpty else { return }
        try noteConflict(
            update.change, of: update.existing, in: update.place, fields: lost,
            theirsStood: lost, base: nil, mine: news.local.text, theirs: news.remote.text)
    }

    /// Makes the server create a record again that was deleted there, because it was edited here.
    /// Other machines may create it again too. The stamps then decide which fields are later, and
    /// the outgoing change keeps the state that the server had.
    ///
    /// A change that is on its way does not do that: it may have reached the server before somebody
    /// deleted the record there. So another change waits until it is answered.
    func makeAnew(_ record: StoredRow, _ name: RecordName) throws(RecordError) {
        if try connection.sync.unclaimed(name, zone) == nil {
            try addNext(of: record, name)
        }
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
                .optional(try connection.sync.newestVersion(name, zone)),
                .integer(record.id.rawValue),
            ])
    }

    /// Adds a change that follows the change on its way. It counts as sent: what is on its way may
    /// still arrive.
    private func addNext(of record: StoredRow, _ name: RecordName) throws(RecordError) {
        let type = try transaction.place(record.entry.type).name
        let next = try transaction.outbox.addOutbox(
            .create, record.id, name, record.generation, type, in: zone)
        try connection.run(
            """
            UPDATE outbox SET attempts = (SELECT MAX(attempts) FROM outbox
                WHERE zone_id = ?1 AND name = ?2) WHERE id = ?3
            """, [.integer(zone.rawValue), .name(name), .integer(next)])
    }
}
