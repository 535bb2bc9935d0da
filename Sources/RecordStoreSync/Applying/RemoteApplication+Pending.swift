import RecordModel
import RecordSQL
import RecordStore

/// The state of the server, and the changes that were not sent to it or are not answered yet.
extension RemoteApplication {
    /// Returns whether the record that is to be deleted here is not the one in the server's change.
    /// A record keeps its type, so that a record of another type is another record.
    func isDeleteOfOtherType(_ change: RemoteChange) throws(RecordError) -> Bool {
        guard let row = try outgoing(change.name) else { return false }
        return row.operation == .delete && row.type != change.type
    }

    /// Returns whether the change is about a record that is to be deleted, or is being deleted, and
    /// that no other user has edited. A delete that does not know the tag, because the answer to
    /// the create was lost, learns it.
    ///
    /// - Parameter shown: the text of its file. The file may return to this place by another user's
    ///   move.
    func isOfDelete(
        _ change: RemoteChange, _ remote: RecordDocument, shown: [UInt8]
    ) throws(RecordError) -> Bool {
        guard let row = try outgoing(change.name), row.operation == .delete else { return false }
        let base = try connection.sync.base(ofDelete: row.id)
        if let base, base.changeTag == change.changeTag {
            return true
        }
        if let base, try hasSameValues(base, remote, of: change.name, change.type) {
            // Only the tag differs, as after the root of a share got a new one, or only the layout
            // does, or keys of other deleted objects are gone.
            let content =
                base.text == shown
                ? nil
                : try keepTold(
                    shown, remote, since: transaction.outbox.document(of: base, change.type),
                    change,
                    of: row.record, row.generation)
            try transaction.merging.putBase(ofDelete: row.id, change.changeTag, content)
            return true
        }
        if try isMadeAgain(change, remote.text, since: base)
            || isEarlier(change, than: base?.changeTag)
        {
            try transaction.merging.putBase(ofDelete: row.id, change.changeTag, .text(shown))
            return true
        }
        // The answer to an earlier request was lost, and no other user has edited the record since.
        guard let sent = try sentVersion(of: change, with: remote.text) else { return false }
        try transaction.merging.putBase(ofDelete: row.id, change.changeTag, .version(sent))
        return true
    }

    /// Returns whether nobody has changed a value since.
    private func hasSameValues(
        _ base: AcknowledgedState, _ remote: RecordDocument, of name: RecordName,
        _ type: RecordTypeName
    ) throws(RecordError) -> Bool {
        do throws(RecordError) {
            guard let document = try transaction.outbox.document(of: base, type) else {
                return false
            }
            if document.hasSameValues(as: remote) { return true }
            return try transaction.links.hasOnlyLostKeys(
                remote, since: document, of: name, type, in: zone)
        } catch  where error.isAboutContent {
            return false
        }
    }

    /// Returns the state that a waiting delete, or one that is on its way, has to delete.
    func baseOfDelete(_ name: RecordName) throws(RecordError) -> AcknowledgedState? {
        guard let row = try outgoing(name) else { return nil }
        return try connection.sync.base(ofDelete: row.id)
    }

    /// Stores the versions of the two sides, for users who want another result than that of the
    /// merge.
    func noteConflict(
        _ change: RemoteChange, of record: StoredRow, in place: TypePlace,
        fields: [FieldName] = [], theirsStood: [FieldName] = [], base: [UInt8]?, mine: [UInt8]?,
        theirs: [UInt8]?
    ) throws(RecordError) {
        try transaction.merging.noteConflict(
            of: record, in: place, fields: fields, theirsStood: theirsStood, base: base, mine: mine,
            theirs: theirs, theirTime: change.modified, theirUser: change.modifiedBy)
    }

    /// Returns whether the known state of a name belongs to a deleted record, and not to a record
    /// that has got the name since or will get it.
    func isAsOf(_ known: Known, beforeDeletion change: RemoteChange) throws(RecordError) -> Bool {
        let tag =
            if let record = known.record { try connection.sync.baseTag(of: record.id)?.tag } else {
                try baseOfDelete(change.name)?.changeTag
            }
        guard let acknowledged = tag.flatMap(ChangePosition.init(tag:)),
            let deleted = ChangePosition(tag: change.changeTag)
        else { return false }
        return acknowledged < deleted
    }

    /// Returns whether the server cannot have had a record of this machine, and the record was not
    /// moved or renamed from another place.
    func wasNeverSent(
        _ record: StoredRow, as name: RecordName
    ) throws(RecordError) -> Bool {
        guard try connection.sync.baseTag(of: record.id) == nil, let row = try outgoing(name) else {
            return false
        }
        guard row.operation == .create, row.attempts == 0, row.sent == nil else { return false }
        return try !connection.exists(
            """
            SELECT 1 FROM move WHERE zone_id = ?1 AND name = ?2
            UNION ALL SELECT 1 FROM renamed WHERE zone_id = ?1 AND name = ?2
            """, [.integer(zone.rawValue), .name(name)])
    }

    func acknowledged(
        _ record: RecordID, _ place: TypePlace
    ) throws(RecordError) -> RecordDocument? {
        guard let base = try connection.sync.base(of: record) else { return nil }
        guard let document = try transaction.outbox.document(of: base, place.name) else {
            throw .damagedText("the base of record \(record)")
        }
        return document
    }

    /// Returns the state that the server acknowledged last. It includes those values of an
    /// unanswered version that the server has: they have arrived, whatever others have changed
    /// beside them.
    func base(
        of record: RecordID, named name: RecordName, arrivedIn remote: RecordDocument,
        _ place: TypePlace
    ) throws(RecordError) -> RecordDocument? {
        let acknowledged = try acknowledged(record, place)
        guard let last = try sentVersions(of: name).last, let text = last.text else {
            return acknowledged
        }
        let sent = try transaction.outbox.document(text, ofVersion: last.token, place.name)
        var fields = acknowledged?.fields ?? []
        let changed = FieldMerge.changedFields(from: fields, to: sent.fields)
        let edits = try transaction.merging.lastEdits(of: changed, name, zone)
        for field in changed where FieldMerge.isSame(sent[field], remote[field]) {
            // A value that arrived from the server since is not in the sent version, and that
            // version did not remove it.
            if let edit = edits[field], edit.author == .sync { continue }
            fields.removeAll { $0.name == field }
            if let value = sent[field] { fields.append(RecordField(name: field, value: value)) }
        }
        let parent = sent.parent == remote.parent ? sent.parent : acknowledged?.parent
        if acknowledged == nil, fields.isEmpty, parent == nil { return nil }
        return try transaction.records.parse(printed(fields, parent, place.name), place)
    }

    /// Returns the values of the server, when the record has the same values: the version that has
    /// them.
    func content(
        _ text: [UInt8], _ saved: Int64?, of name: RecordName
    ) throws(RecordError) -> BaseContent {
        if let saved { return .version(saved) }
        if let newest = try connection.sync.newestVersion(name, zone) {
            return .version(newest)
        }
        return .text(text)
    }

    /// Returns the sent version whose values the server reports now: its answer was lost or has not
    /// arrived yet. A damaged version is skipped.
    func sentVersion(
        of change: RemoteChange, with text: [UInt8]
    ) throws(RecordError) -> Int64? {
        for version in try sentVersions(of: change.name) {
            guard let stored = version.text else { continue }
            do throws(RecordError) {
                let told = try transaction.records.parse(text, of: change.type)
                let sent = try transaction.outbox.document(
                    stored, ofVersion: version.token, change.type)
                if sent.hasSameValues(as: told) { return version.token }
            } catch  where error.isAboutContent {
                continue
            }
        }
        return nil
    }

    /// Returns whether the last version that was sent, and is not answered, has this text.
    func wasSent(_ text: [UInt8], of name: RecordName) throws(RecordError) -> Bool {
        try sentVersions(of: name).last?.text == text
    }

    /// Returns the versions that were sent and are not answered, oldest first. The text is nil when
    /// it is damaged.
    private func sentVersions(
        of name: RecordName
    ) throws(RecordError) -> [(token: Int64, text: [UInt8]?)] {
        try connection.all(
            """
            SELECT h.token, h.text, h.checksum FROM outbox o JOIN history h ON h.token = o.sent
            WHERE o.zone_id = ? AND o.name = ? ORDER BY o.id
            """, [.integer(zone.rawValue), .name(name)]
        ) { ($0.int64(0), $0.wholeText(1)) }
    }

    /// Returns the later of the change that waits and the change that is on its way.
    func outgoing(_ name: RecordName) throws(RecordError) -> OutboxRow? {
        try connection.first(
            """
            SELECT \(Columns.outbox) FROM outbox WHERE zone_id = ? AND name = ?
            ORDER BY batch != 0, id DESC LIMIT 1
            """, [.integer(zone.rawValue), .name(name)]
        ) { $0.outbox() }
    }

    func pendingEdit(_ name: RecordName) throws(RecordError) -> Bool {
        guard let row = try outgoing(name) else { return false }
        return row.operation != .delete
    }

    func setPending(
        _ name: RecordName, _ old: OutboxRow.Operation, to new: OutboxRow.Operation
    ) throws(RecordError) {
        try connection.run(
            "UPDATE outbox SET operation = ? WHERE zone_id = ? AND name = ? AND operation = ?",
            [
                .integer(new.rawValue), .integer(zone.rawValue), .name(name),
                .integer(old.rawValue),
            ])
    }

    /// Removes the waiting change. The sender of a change that is on its way handles its answer.
    func forgetPending(_ name: RecordName) throws(RecordError) {
        try connection.run(
            "DELETE FROM outbox WHERE zone_id = ? AND name = ? AND batch = 0",
            [.integer(zone.rawValue), .name(name)])
    }
}
