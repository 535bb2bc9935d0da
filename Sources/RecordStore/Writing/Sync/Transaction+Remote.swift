package import RecordModel
import RecordSQL

extension Transaction {
    /// Applies what the server reports: base and, merged by field with what is pending here, the
    /// record. Makes history by the transaction's author, who has to be `sync`. A draft stays.
    ///
    /// Errors: notFound for the zone; invalidArgument for another author.
    package func applyRemote(_ change: RemoteChange) throws(RecordError) -> RemoteResult {
        guard author == .sync else {
            throw RecordError(.invalidArgument, "Remote changes are made by sync.")
        }
        let existing = try connection.stored(named: change.name, change.zone)
        switch change.operation {
        case .delete: return try applyRemoteDelete(existing, change)
        case .upsert(let sent, let parent):
            let fields = try schema(of: change.type).reading(sent)
            if let existing, try place(existing.entry.type).name == change.type {
                return try applyRemoteUpdate(existing, change, fields, parent)
            }
            if let existing { try makeRoom(existing, change) }
            return try applyRemoteCreate(change, fields, parent)
        }
    }

    private func applyRemoteCreate(
        _ change: RemoteChange, _ fields: [RecordField], _ parent: RecordName?
    ) throws(RecordError) -> RemoteResult {
        let text = try printed(fields, parent, change.type)
        if try isOfDelete(change, text) {
            return RemoteResult(outcome: .unchanged, id: nil, conflicts: [])
        }
        // Delete against edit: the edit wins.
        try forgetPending(change)
        let type = try makeType(change.zone, change.type)
        let place = try place(type.id)
        let stem = try freeStem(for: change.name, place)
        var new = NewState(text: text, place: place, stem: stem)
        new.name = change.name
        new.created = change.created
        new.createdBy = change.createdBy
        new.modified = change.modified
        new.changedBy = change.modifiedBy
        let result: SaveResult
        if let draft = try connection.stored(type.id, stem) {
            result = try keepingDraft(of: draft) { () throws(RecordError) in
                try create(new, over: draft, id: nil)
            }
        } else {
            result = try create(new, over: nil, id: nil)
        }
        try putBase(result.id, change.changeTag, try content(text, result, in: change))
        return RemoteResult(outcome: .created, id: result.id, conflicts: [])
    }

    /// Whether the server tells of what is about to be deleted, or being deleted, and nobody has
    /// edited. A delete that does not know the tag, for the answer to the create got lost, learns it.
    private func isOfDelete(
        _ change: RemoteChange, _ text: [UInt8]
    ) throws(RecordError) -> Bool {
        guard let row = try outgoing(change), row.operation == .delete else { return false }
        if let base = try connection.base(ofDelete: row.id) {
            return base.changeTag == change.changeTag
        }
        guard let sent = try sentVersion(of: change, with: text) else { return false }
        try putBase(ofDelete: row.id, change.changeTag, .version(sent))
        return true
    }

    private func applyRemoteUpdate(
        _ existing: StoredRecord, _ change: RemoteChange, _ fields: [RecordField],
        _ parent: RecordName?
    ) throws(RecordError) -> RemoteResult {
        if existing.state == .waitingDelete,
            try connection.baseTag(of: existing.id) == change.changeTag
        {
            return RemoteResult(outcome: .unchanged, id: existing.id, conflicts: [])
        }
        let place = try place(existing.entry.type)
        guard let text = try connection.savedText(of: existing.id) else {
            throw RecordError(.corrupt, "Record \(existing.entry.stem) has no text.")
        }
        let local = try parse(text, place)
        let remote = try parse(try printed(fields, parent, place.name), place)
        let sent = try sentVersion(of: change, with: remote.text)
        var base: RecordDocument? = local
        if try pendingEdit(change) != nil {
            // Of what was sent and is told now, nothing is news.
            base = sent == nil ? try acknowledged(existing.id, place) : remote
        }
        let (newText, conflicts) = merge(
            local, with: fields, parent: parent, since: base)
        var new = NewState(text: newText, place: place, stem: existing.entry.stem)
        new.modified = change.modified
        new.changedBy = change.modifiedBy
        let result = try keepingDraft(of: existing) { () throws(RecordError) in
            try update(existing, to: new)
        }
        if try parse(newText, place).hasSameValues(as: remote) {
            try forgetPending(change)
            try putBase(
                existing.id, change.changeTag, try content(remote.text, result, in: change))
        } else {
            try putBase(
                existing.id, change.changeTag, sent.map { .version($0) } ?? .text(remote.text))
        }
        try setPending(change, .create, to: .update)
        return RemoteResult(
            outcome: result.outcome == .unchanged ? .unchanged : .updated, id: existing.id,
            conflicts: conflicts)
    }

    private func acknowledged(
        _ record: RecordID, _ place: TypePlace
    ) throws(RecordError) -> RecordDocument? {
        guard let text = try connection.baseText(of: record) else { return nil }
        return try parse(text, place)
    }

    /// What the server has, when the record has the same values: the version with them.
    private func content(
        _ text: [UInt8], _ saved: SaveResult, in change: RemoteChange
    ) throws(RecordError) -> BaseContent {
        if let version = saved.version { return .version(version) }
        if let newest = try connection.newestVersion(change.name, change.zone) {
            return .version(newest)
        }
        return .text(text)
    }

    /// The version that was sent and whose values the server tells of now: the answer to it got lost
    /// or is still to come. A damaged one tells nothing.
    private func sentVersion(
        of change: RemoteChange, with text: [UInt8]
    ) throws(RecordError) -> Int64? {
        let versions = try connection.all(
            """
            SELECT h.token, h.text, h.checksum FROM outbox o JOIN history h ON h.token = o.sent
            WHERE o.zone_id = ? AND o.name = ? ORDER BY o.id
            """, [.integer(change.zone.rawValue), .name(change.name)]
        ) { (token: $0.int64(0), text: $0.wholeText(1)) }
        for version in versions {
            guard let stored = version.text else { continue }
            if stored == text { return version.token }
            do throws(RecordError) {
                let told = try parse(text, of: change.type)
                if try parse(stored, of: change.type).hasSameValues(as: told) {
                    return version.token
                }
            } catch  where error.isAboutContent {
                continue
            }
        }
        return nil
    }

    /// A deletion loses against an edit that is still to be sent: the record stays and is made
    /// anew on the server.
    private func applyRemoteDelete(
        _ existing: StoredRecord?, _ change: RemoteChange
    ) throws(RecordError) -> RemoteResult {
        guard let existing else {
            try forgetPending(change)
            return RemoteResult(outcome: .absent, id: nil, conflicts: [])
        }
        if existing.state != .waitingDelete, try pendingEdit(change) != nil {
            try setPending(change, .update, to: .create)
            try connection.run(
                "DELETE FROM base WHERE record_id = ?", [.integer(existing.id.rawValue)])
            return RemoteResult(outcome: .kept, id: existing.id, conflicts: [])
        }
        try forgetPending(change)
        let draft = try connection.draft(of: existing.id)
        try finalizeDelete(existing.id)
        if let draft {
            // Nobody but this machine has that text.
            _ = try saveDraft(
                text: draft.text, type: draft.type, stem: draft.stem, error: draft.error)
        }
        return RemoteResult(outcome: .deleted, id: existing.id, conflicts: [])
    }

    // MARK: What is pending

    /// What the server was not told, or has not answered: waiting, or on its way. Of two the later.
    private func outgoing(_ change: RemoteChange) throws(RecordError) -> OutboxRow? {
        try connection.first(
            """
            SELECT \(Columns.outbox) FROM outbox WHERE zone_id = ? AND name = ?
            ORDER BY batch != 0, id DESC LIMIT 1
            """, [.integer(change.zone.rawValue), .name(change.name)]
        ) { $0.outbox() }
    }

    private func pendingEdit(_ change: RemoteChange) throws(RecordError) -> OutboxRow? {
        guard let row = try outgoing(change), row.operation != .delete else { return nil }
        return row
    }

    private func setPending(
        _ change: RemoteChange, _ old: OutboxRow.Operation, to new: OutboxRow.Operation
    ) throws(RecordError) {
        try connection.run(
            "UPDATE outbox SET operation = ? WHERE zone_id = ? AND name = ? AND operation = ?",
            [
                .integer(new.rawValue), .integer(change.zone.rawValue), .name(change.name),
                .integer(old.rawValue),
            ])
    }

    /// What is on its way is answered for by whoever sends it.
    private func forgetPending(_ change: RemoteChange) throws(RecordError) {
        try connection.run(
            "DELETE FROM outbox WHERE zone_id = ? AND name = ? AND batch = 0",
            [.integer(change.zone.rawValue), .name(change.name)])
    }

    private func printed(
        _ fields: [RecordField], _ parent: RecordName?, _ type: RecordTypeName
    ) throws(RecordError) -> [UInt8] {
        RecordDocument.print(fields, parent: parent, schema: try schema(of: type))
    }
}
