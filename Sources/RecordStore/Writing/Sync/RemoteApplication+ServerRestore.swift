import RecordModel
import RecordSQL

/// What is known here and not any more by a server that was restored from a backup. What this machine
/// has seen acknowledged is the later state, and is sent again; what was changed there since the
/// restore is news.
extension RemoteApplication {
    /// Whether the server tells of an earlier state of a record than it has acknowledged, under that
    /// change tag. No server does so but one that was restored.
    func isEarlier(_ change: RemoteChange, than acknowledged: String?) -> Bool {
        guard restorePoint != nil, let acknowledged,
            let told = ChangePosition(tag: change.changeTag),
            let known = ChangePosition(tag: acknowledged)
        else { return false }
        return told < known
    }

    /// Whether another machine has made a record again that a restored server had lost: all that it
    /// says was in it here, before it was deleted, or there.
    ///
    /// - Parameter base: what the server had then; where lines were merged, no version has just that.
    func isMadeAgain(
        _ change: RemoteChange, _ text: [UInt8], since base: AcknowledgedState? = nil
    ) throws(RecordError) -> Bool {
        guard restoredPass != nil else { return false }
        let fields = try transaction.parse(text, of: change.type).fields
        var known = try versions(of: change.name, change.type)
        known += try lostSides(of: change.name, change.type)
        known += try readable([base].compactMap(\.self)) { (base) throws(RecordError) in
            try transaction.document(of: base, change.type)
        }
        return known.contains { version in
            fields.allSatisfy { FieldMerge.isSame(version[$0.name], $0.value) }
        }
    }

    /// Whether a record that is not here any more was deleted after what the server tells of it. What
    /// was never seen here is of somebody who knew more, and stays.
    func wasDeletedLater(
        _ change: RemoteChange, _ text: [UInt8], _ known: Known
    ) throws(RecordError) -> Bool {
        guard known.generation > 0 else { return false }
        return try isMadeAgain(change, text)
    }

    /// It is deleted there once more.
    func deleteAgain(
        _ change: RemoteChange, _ text: [UInt8], _ known: Known
    ) throws(RecordError) {
        let row = try transaction.addOutbox(
            .delete, nil, change.name, known.generation, change.type, in: zone)
        try transaction.putBase(ofDelete: row, change.changeTag, .text(text))
    }

    /// The server had a record and lost it: it is made there again.
    mutating func makeAgain(_ name: RecordName) throws(RecordError) -> RemoteResult {
        guard let record = try connection.stored(named: name, zone),
            record.state != .waitingDelete
        else { return try apply(RemoteChange(deleted: name)) }
        try connection.run(
            "DELETE FROM base WHERE record_id = ?", [.integer(record.id.rawValue)])
        if try pendingEdit(name) {
            try setPending(name, .update, to: .create)
        } else {
            try transaction.enqueue(
                .create, record.id, name, record.generation,
                try transaction.place(record.entry.type), alsoOfSync: true)
        }
        // Another machine may make it too: then stamps tell whose fields are later.
        try connection.run(
            """
            UPDATE outbox SET sent = COALESCE(sent, ?3)
            WHERE zone_id = ?1 AND name = ?2 AND operation = 1
            """,
            [
                .integer(zone.rawValue), .name(name),
                .optional(try connection.newestVersion(name, zone)),
            ])
        return RemoteResult(outcome: .kept, id: record.id, conflicts: [])
    }

    /// Whether what is told was so before the server's last restore: whoever made it knew all that was
    /// there then.
    private func isOfBackup(_ change: RemoteChange) -> Bool {
        restorePoint.map { $0.isBehind(change.changeTag) } ?? false
    }

    /// Whether another restore, of which this machine has not heard, lies between what it has seen of a
    /// record and what is told: whoever made that may not have known the record.
    private func isOfMissedRestore(
        _ change: RemoteChange, _ record: RecordID
    ) throws(RecordError) -> Bool {
        guard let tag = try connection.base(of: record)?.changeTag,
            let acknowledged = ChangePosition(tag: tag),
            let told = ChangePosition(tag: change.changeTag)
        else { return false }
        return acknowledged.isBeforeRestore(behind: told)
    }

    /// Whether the server, which is behind, has not told of a record yet.
    func isUnconfirmed(_ record: RecordID) throws(RecordError) -> Bool {
        guard let restoredPass else { return false }
        let pass = try connection.pass(ofBase: record)
        return pass.map { $0 != restoredPass } ?? false
    }

    /// Somebody has deleted a record since the restore, and may not have known what this machine has
    /// made of it and the server has lost.
    func noteLostEdit(
        _ change: RemoteChange, of existing: StoredRecord
    ) throws(RecordError) {
        guard try isUnconfirmed(existing.id),
            let text = try connection.savedText(of: existing.id)
        else { return }
        let place = try transaction.place(existing.entry.type)
        guard try isEditedHere(text, existing, change.name, place) else { return }
        try noteConflict(
            change, of: existing, in: place, base: nil, mine: text, theirs: nil)
    }

    /// Says whether a field has a value of this machine, whatever others have changed beside it. A text that
    /// cannot be read may have one.
    private func isEditedHere(
        _ text: [UInt8], _ record: StoredRecord, _ name: RecordName, _ place: TypePlace
    ) throws(RecordError) -> Bool {
        let fields: [RecordField]
        do throws(RecordError) {
            fields = try transaction.document(text, of: record.id, place).fields
        } catch  where error.isAboutContent {
            return true
        }
        let edits = try transaction.lastEdits(of: fields.map(\.name), name, zone)
        return edits.values.contains { $0.author != .sync }
    }

    /// The base to merge with, when the server tells of a record for the first time since it was
    /// restored, and somebody has changed it since: he may have had the state of the backup. A field
    /// with a value that it had here before is no news. Any other value beside an edit of this machine
    /// is a conflict: it is not known who knew of whom.
    func baseAfterRestore(
        _ base: RecordDocument?, _ remote: RecordDocument, _ existing: StoredRecord,
        _ change: RemoteChange, _ place: TypePlace
    ) throws(RecordError) -> RecordDocument? {
        guard let base, try isUnconfirmed(existing.id) else { return base }
        let isOfMissedRestore = try isOfMissedRestore(change, existing.id)
        guard isOfMissedRestore || !isOfBackup(change) else { return base }
        let changed = FieldMerge.changedFields(from: base.fields, to: remote.fields)
        let edits = try transaction.lastEdits(of: changed, change.name, zone)
        let earlier = try versions(of: change.name, place.name).dropFirst()
        var fields = base.fields
        for field in changed {
            var value = base[field]
            if earlier.contains(where: { FieldMerge.isSame($0[field], remote[field]) }) {
                value = remote[field]
            } else if let edit = edits[field], edit.author != .sync {
                value = nil
            }
            fields.removeAll { $0.name == field }
            if let value { fields.append(RecordField(name: field, value: value)) }
        }
        return try transaction.parse(RecordDocument.print(fields, parent: base.parent), place)
    }

    /// What a record has been, newest first.
    private func versions(
        of name: RecordName, _ type: RecordTypeName
    ) throws(RecordError) -> [RecordDocument] {
        let texts = try connection.all(
            """
            SELECT text, checksum, token FROM history
            WHERE zone_id = ? AND name = ? AND text IS NOT NULL ORDER BY token DESC
            LIMIT \(Self.versionsMax)
            """, [.integer(zone.rawValue), .name(name)]
        ) { (text: $0.wholeText(0), token: $0.int64(2)) }
        return try readable(texts) { (version) throws(RecordError) in
            try version.text.map { (text) throws(RecordError) in
                try transaction.document(text, ofVersion: version.token, type)
            }
        }
    }

    /// What others have made of a record where this machine had made something else of it.
    private func lostSides(
        of name: RecordName, _ type: RecordTypeName
    ) throws(RecordError) -> [RecordDocument] {
        let texts = try connection.all(
            """
            SELECT t.text, t.checksum FROM conflict c
            JOIN conflict_text t ON t.conflict_id = c.id AND t.side = ?3
            WHERE c.record_id IN (SELECT record_id FROM history WHERE zone_id = ?1 AND name = ?2)
            ORDER BY c.id DESC LIMIT \(Self.versionsMax)
            """,
            [.integer(zone.rawValue), .name(name), .integer(Conflict.Side.theirs.rawValue)]
        ) { $0.wholeText(0) }
        return try readable(texts) { (text) throws(RecordError) in
            try text.map { (text) throws(RecordError) in try transaction.parse(text, of: type) }
        }
    }

    /// Without those that are damaged, or no records of their type any more.
    private func readable<State>(
        _ states: [State], _ read: (State) throws(RecordError) -> RecordDocument?
    ) throws(RecordError) -> [RecordDocument] {
        var documents: [RecordDocument] = []
        for state in states {
            do throws(RecordError) {
                if let document = try read(state) { documents.append(document) }
            } catch  where error.isAboutContent {
                continue
            }
        }
        return documents
    }

    private static let versionsMax = 100
}
