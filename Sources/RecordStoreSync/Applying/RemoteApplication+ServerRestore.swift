import RecordModel
import RecordSQL
import RecordStore

/// States that this machine knows, and that a server no longer knows after it was restored from a
/// backup. A state that the server acknowledged to this machine is the later one, and is sent
/// again. Changes that were made on the server since the restore are news.
extension RemoteApplication {
    /// Returns whether the change has an earlier state of a record than the server has
    /// acknowledged, judged by the change tag. Only a restored server sends such a state.
    func isEarlier(_ change: RemoteChange, than acknowledged: String?) -> Bool {
        guard serverRestorePoint != nil, let acknowledged,
            let told = ChangePosition(tag: change.changeTag),
            let known = ChangePosition(tag: acknowledged)
        else { return false }
        return told < known
    }

    /// Returns whether another machine has created a record again that a restored server had lost.
    /// All its values were in the record before, either in a version of this machine from before
    /// the deletion, or in a version of the server.
    ///
    /// - Parameter base: the state that the server had then. After a merge of lines, no version has
    ///   exactly that state.
    func isMadeAgain(
        _ change: RemoteChange, _ text: [UInt8], since base: AcknowledgedState? = nil
    ) throws(RecordError) -> Bool {
        guard restoredPass != nil else { return false }
        let fields = try transaction.records.parse(text, of: change.type).fields
        var known = try versions(of: change.name, change.type)
        known += try lostSides(of: change.name, change.type)
        known += try readable([base].compactMap(\.self)) { (base) throws(RecordError) in
            try transaction.outbox.document(of: base, change.type)
        }
        return known.contains { version in
            fields.allSatisfy { FieldMerge.isSame(version[$0.name], $0.value) }
        }
    }

    /// Returns whether a record that no longer exists here was deleted after the state that the
    /// server reports. A state that was never seen here comes from an author with later knowledge,
    /// and stays.
    func wasDeletedLater(
        _ change: RemoteChange, _ text: [UInt8], _ known: Known
    ) throws(RecordError) -> Bool {
        guard known.generation > 0 else { return false }
        return try isMadeAgain(change, text)
    }

    /// Deletes the record on the server once more.
    func deleteAgain(
        _ change: RemoteChange, _ text: [UInt8], _ known: Known
    ) throws(RecordError) {
        let row = try transaction.outbox.addOutbox(
            .delete, nil, change.name, known.generation, change.type, in: zone)
        try transaction.merging.putBase(ofDelete: row, change.changeTag, .text(text))
    }

    /// Returns whether the change is from before the server's last restore. Its author then knew
    /// everything that the server had at that time.
    private func isOfBackup(_ change: RemoteChange) -> Bool {
        serverRestorePoint.map { $0.isBehind(change.changeTag) } ?? false
    }

    /// Returns whether another restore, which this machine does not know of, lies between the state
    /// that it has seen of a record and the change. The author of the change may then not have
    /// known the record.
    private func isOfMissedRestore(
        _ change: RemoteChange, _ record: RecordID
    ) throws(RecordError) -> Bool {
        guard let tag = try connection.sync.base(of: record)?.changeTag,
            let acknowledged = ChangePosition(tag: tag),
            let told = ChangePosition(tag: change.changeTag)
        else { return false }
        return acknowledged.isBeforeRestore(behind: told)
    }

    /// Returns whether the server, which is behind, has not reported a record yet.
    func isUnconfirmed(_ record: RecordID) throws(RecordError) -> Bool {
        guard let restoredPass else { return false }
        let pass = try connection.sync.pass(ofBase: record)
        return pass.map { $0 != restoredPass } ?? false
    }

    /// Lists a conflict for a record that another user has deleted since the restore. That user may
    /// not have known the edits of this machine that the server has lost.
    func noteLostEdit(
        _ change: RemoteChange, of existing: StoredRow
    ) throws(RecordError) {
        guard try isUnconfirmed(existing.id),
            let text = try connection.records.savedText(of: existing.id)
        else { return }
        let place = try transaction.place(existing.entry.type)
        guard try isEditedHere(text, existing, change.name, place) else { return }
        try noteConflict(
            change, of: existing, in: place, base: nil, mine: text, theirs: nil)
    }

    /// Returns whether a field has a value of this machine, whatever others have changed beside it.
    /// A text that cannot be read may have one.
    private func isEditedHere(
        _ text: [UInt8], _ record: StoredRow, _ name: RecordName, _ place: TypePlace
    ) throws(RecordError) -> Bool {
        let fields: [RecordField]
        do throws(RecordError) {
            fields = try transaction.outbox.document(text, of: record.id, place).fields
        } catch  where error.isAboutContent {
            return true
        }
        let edits = try transaction.merging.lastEdits(of: fields.map(\.name), name, zone)
        return edits.values.contains { $0.author != .sync }
    }

    /// Returns the base of the merge, when the server reports a record for the first time since it
    /// was restored, and another user has changed it since. That user may have had the state of the
    /// backup.
    ///
    /// A field with a value that it had here before is no news. Any other value beside an edit of
    /// this machine is a conflict, because it is not known whether one of the two users knew the
    /// other's edit.
    func baseAfterRestore(
        _ base: RecordDocument?, _ remote: RecordDocument, _ existing: StoredRow,
        _ change: RemoteChange, _ place: TypePlace
    ) throws(RecordError) -> RecordDocument? {
        guard let base, try isUnconfirmed(existing.id) else { return base }
        let isOfMissedRestore = try isOfMissedRestore(change, existing.id)
        guard isOfMissedRestore || !isOfBackup(change) else { return base }
        let changed = FieldMerge.changedFields(from: base.fields, to: remote.fields)
        let edits = try transaction.merging.lastEdits(of: changed, change.name, zone)
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
        return try transaction.records.parse(printed(fields, base.parent, place.name), place)
    }

    /// Returns the versions of a record, newest first.
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
                try transaction.outbox.document(text, ofVersion: version.token, type)
            }
        }
    }

    /// Returns the versions of others from the conflicts of a record with this machine's versions.
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
            try text.map { (text) throws(RecordError) in
                try transaction.records.parse(text, of: type)
            }
        }
    }

    /// Returns the states that can be read, without those that are damaged or no longer records of
    /// their type.
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
