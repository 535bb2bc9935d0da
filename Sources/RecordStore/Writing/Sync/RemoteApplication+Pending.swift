import RecordModel
import RecordSQL

/// What the server has, and what it was not told or has not answered.
extension RemoteApplication {
    /// Says whether what is to be deleted here is not what the server tells of: a record keeps its type, so
    /// that one of another type is another record.
    func isDeleteOfOtherType(_ change: RemoteChange) throws(RecordError) -> Bool {
        guard let row = try outgoing(change.name) else { return false }
        return row.operation == .delete && row.type != change.type
    }

    /// Whether the server tells of what is about to be deleted, or being deleted, and nobody has
    /// edited. A delete that does not know the tag, for the answer to the create got lost, learns it.
    ///
    /// - Parameter shown: the text of its file, which may come back here by somebody else's move.
    func isOfDelete(
        _ change: RemoteChange, _ remote: RecordDocument, shown: [UInt8]
    ) throws(RecordError) -> Bool {
        guard let row = try outgoing(change.name), row.operation == .delete else { return false }
        let base = try connection.base(ofDelete: row.id)
        if let base, base.changeTag == change.changeTag {
            return true
        }
        if let base, try hasSameValues(base, remote, change.type) {
            // Another tag alone, as the root of a share gets one, or another way to write it.
            let content =
                base.text == shown
                ? nil
                : try keepTold(
                    shown, remote, since: transaction.document(of: base, change.type), change,
                    of: row.record, row.generation)
            try transaction.putBase(ofDelete: row.id, change.changeTag, content)
            return true
        }
        if try isMadeAgain(change, remote.text, since: base)
            || isEarlier(change, than: base?.changeTag)
        {
            try transaction.putBase(ofDelete: row.id, change.changeTag, .text(shown))
            return true
        }
        // The answer to what was sent before got lost: nobody has edited since.
        guard let sent = try sentVersion(of: change, with: remote.text) else { return false }
        try transaction.putBase(ofDelete: row.id, change.changeTag, .version(sent))
        return true
    }

    private func hasSameValues(
        _ base: AcknowledgedState, _ remote: RecordDocument, _ type: RecordTypeName
    ) throws(RecordError) -> Bool {
        do throws(RecordError) {
            guard let document = try transaction.document(of: base, type) else { return false }
            return document.hasSameValues(as: remote)
        } catch  where error.isAboutContent {
            return false
        }
    }

    /// What a delete that waits, or is on its way, was of.
    func baseOfDelete(_ name: RecordName) throws(RecordError) -> AcknowledgedState? {
        guard let row = try outgoing(name) else { return nil }
        return try connection.base(ofDelete: row.id)
    }

    /// What the two sides had, for whoever wants it otherwise than it was merged.
    func noteConflict(
        _ change: RemoteChange, of record: StoredRecord, in place: TypePlace,
        fields: [FieldName] = [], theirsStood: [FieldName] = [], base: [UInt8]?, mine: [UInt8]?,
        theirs: [UInt8]?
    ) throws(RecordError) {
        try transaction.noteConflict(
            of: record, in: place, fields: fields, theirsStood: theirsStood, base: base, mine: mine,
            theirs: theirs, theirTime: change.modified, theirUser: change.modifiedBy)
    }

    /// Says whether what is known of a name is of a record that is gone, and not of one that has got the name
    /// since, or is to get it.
    func isAsOf(_ known: Known, beforeDeletion change: RemoteChange) throws(RecordError) -> Bool {
        let tag =
            if let record = known.record { try connection.baseTag(of: record.id)?.tag } else {
                try baseOfDelete(change.name)?.changeTag
            }
        guard let acknowledged = tag.flatMap(ChangePosition.init(tag:)),
            let deleted = ChangePosition(tag: change.changeTag)
        else { return false }
        return acknowledged < deleted
    }

    /// Says whether the server cannot have had a record that is here, and that has come from nowhere.
    func wasNeverSent(
        _ record: StoredRecord, as name: RecordName
    ) throws(RecordError) -> Bool {
        guard try connection.baseTag(of: record.id) == nil, let row = try outgoing(name) else {
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
        guard let base = try connection.base(of: record) else { return nil }
        guard let document = try transaction.document(of: base, place.name) else {
            throw .damagedText("the base of record \(record)")
        }
        return document
    }

    /// What the server had last acknowledged, with what it has of a version that was sent and not
    /// answered: that arrived, whatever others have changed beside it.
    func base(
        of record: RecordID, named name: RecordName, arrivedIn remote: RecordDocument,
        _ place: TypePlace
    ) throws(RecordError) -> RecordDocument? {
        let acknowledged = try acknowledged(record, place)
        guard let last = try sentVersions(of: name).last, let text = last.text else {
            return acknowledged
        }
        let sent = try transaction.document(text, ofVersion: last.token, place.name)
        var fields = acknowledged?.fields ?? []
        let changed = FieldMerge.changedFields(from: fields, to: sent.fields)
        let edits = try transaction.lastEdits(of: changed, name, zone)
        for field in changed where FieldMerge.isSame(sent[field], remote[field]) {
            // What came from there since is not in what was sent, and was not removed by it.
            if let edit = edits[field], edit.author == .sync { continue }
            fields.removeAll { $0.name == field }
            if let value = sent[field] { fields.append(RecordField(name: field, value: value)) }
        }
        let parent = sent.parent == remote.parent ? sent.parent : acknowledged?.parent
        if acknowledged == nil, fields.isEmpty, parent == nil { return nil }
        return try transaction.parse(RecordDocument.print(fields, parent: parent), place)
    }

    /// What the server has, when the record has the same values: the version with them.
    func content(
        _ text: [UInt8], _ saved: Int64?, of name: RecordName
    ) throws(RecordError) -> BaseContent {
        if let saved { return .version(saved) }
        if let newest = try connection.newestVersion(name, zone) {
            return .version(newest)
        }
        return .text(text)
    }

    /// The version that was sent and whose values the server tells of now: the answer to it got lost
    /// or is still to come. A damaged one tells nothing.
    func sentVersion(
        of change: RemoteChange, with text: [UInt8]
    ) throws(RecordError) -> Int64? {
        for version in try sentVersions(of: change.name) {
            guard let stored = version.text else { continue }
            do throws(RecordError) {
                let told = try transaction.parse(text, of: change.type)
                let sent = try transaction.document(
                    stored, ofVersion: version.token, change.type)
                if sent.hasSameValues(as: told) { return version.token }
            } catch  where error.isAboutContent {
                continue
            }
        }
        return nil
    }

    /// Whether the last version that was sent, and is not answered, is written like that.
    func wasSent(_ text: [UInt8], of name: RecordName) throws(RecordError) -> Bool {
        try sentVersions(of: name).last?.text == text
    }

    /// The versions that were sent and are not answered, oldest first; the text is nil where it is
    /// damaged.
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

    /// The later of what waits and what is on its way.
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

    /// What is on its way is answered for by whoever sends it.
    func forgetPending(_ name: RecordName) throws(RecordError) {
        try connection.run(
            "DELETE FROM outbox WHERE zone_id = ? AND name = ? AND batch = 0",
            [.integer(zone.rawValue), .name(name)])
    }
}
