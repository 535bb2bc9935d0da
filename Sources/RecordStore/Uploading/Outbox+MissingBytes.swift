package import RecordModel
import RecordSQL

/// Outgoing changes with large fields whose bytes are neither here nor, in any record, on the
/// server. They were deleted with a record that somebody deleted before this machine had read them.
extension Outbox {
    /// The number of searches for the bytes, each after everything that the server has reported
    /// meanwhile, because another machine may upload them.
    private static let looksForBytes: Int64 = 3

    /// Lets the change wait until the server has reported everything new; then it is tried again.
    /// In the end the fields get the server's values, or are removed, and a conflict says so.
    ///
    /// - Returns: whether it waits.
    package func failForBytes(
        _ id: Int64, of fields: [FieldName], reason: String
    ) throws(RecordError) -> Bool {
        let looks = try transaction.connection.first(
            "UPDATE outbox SET bytes_missed = bytes_missed + 1 WHERE id = ? RETURNING bytes_missed",
            [.integer(id)]
        ) { $0.int64(0) }
        let row = try outboxRow(id)
        guard let looks, looks >= Self.looksForBytes,
            let record = try transaction.connection.records.stored(row.record),
            record.state == .saved,
            let text = try transaction.connection.records.savedText(of: record.id)
        else {
            try failOutbox(id, error: reason)
            return true
        }
        try failOutbox(id, error: nil)
        let place = try transaction.place(record.entry.type)
        let local = try document(text, of: record.id, place)
        let base = try acknowledgedDocument(of: record.id, place.name)
        let newText = local.replacing(fields.map { ($0, base?[$0]) })
        var new = RecordWriting.NewState(text: newText, place: place, stem: record.entry.stem)
        new.knownAssets = KeptAsset.all(
            in: (base?.fields ?? []).filter { fields.contains($0.name) })
        _ = try transaction.records.keepingDraft(of: record) { () throws(RecordError) in
            try transaction.records.update(record, to: new)
        }
        try transaction.merging.noteConflict(
            of: record, in: place, fields: fields, theirsStood: fields, base: nil, mine: text,
            theirs: newText, theirTime: nil)
        return false
    }

    /// Tries changes with missing bytes again, after the server has reported everything new.
    package func retryMissingBytes() throws(RecordError) {
        try transaction.connection.run(
            "UPDATE outbox SET error = NULL WHERE bytes_missed > 0 AND batch = 0 AND error IS NOT NULL"
        )
    }
}

extension SyncState {
    /// The reason why a change is not sent when its text names bytes that did not arrive.
    private static let awaitsBytes =
        "It waits for the bytes of a large field that its text names and that are not here. Write the file "
        + "of that field, or take its sha256, or the whole reference, out of the text."

    /// The time for which a text may wait for the files that it names without being wrong: texts
    /// may arrive before their files, as with cp -r.
    package static let longestWaitForBytes = Duration.seconds(30)

    /// Notes for changes that have waited long for bytes that they wait. When the bytes arrive, or
    /// another text, the note is removed.
    package func noteAwaitedBytes() throws(RecordError) {
        let limit = store.options.clock.now - Self.longestWaitForBytes
        let isAny = try store.read { connection throws(RecordError) in
            try connection.exists(
                """
                SELECT 1 FROM outbox
                WHERE waits_for_asset = 1 AND batch = 0 AND error IS NULL AND last_at < ?
                """, [.time(limit)])
        }
        guard isAny else { return }
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.connection.run(
                """
                UPDATE outbox SET error = ?2
                WHERE waits_for_asset = 1 AND batch = 0 AND error IS NULL AND last_at < ?1
                """, [.time(limit), .text(Self.awaitsBytes)])
        }
    }

    /// Returns whether a change waits for bytes that were found nowhere.
    package func missesBytes() throws(RecordError) -> Bool {
        try store.read { connection throws(RecordError) in
            try connection.exists(
                "SELECT 1 FROM outbox WHERE bytes_missed > 0 AND batch = 0 AND error IS NOT NULL")
        }
    }
}
