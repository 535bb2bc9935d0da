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
        let deleted = try unclaimed(change.name, change.zone)
        if let deleted, try connection.baseTag(ofDelete: deleted.id) == change.changeTag {
            // What is about to be deleted, told again: nobody has edited it.
            return RemoteResult(outcome: .unchanged, id: nil, conflicts: [])
        }
        // Delete against edit: the edit wins.
        try forgetPending(change)
        let type = try makeType(change.zone, change.type)
        let place = try place(type.id)
        let stem = try freeStem(for: change.name, place)
        let text = try printed(fields, parent, place)
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
        try putBase(result.id, change.changeTag, text)
        return RemoteResult(outcome: .created, id: result.id, conflicts: [])
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
        var base: RecordDocument? = local
        if try isPending(change) {
            base = nil
            if let text = try connection.baseText(of: existing.id) {
                base = try parse(text, place)
            }
        }
        let (newText, conflicts) = merge(
            local, with: fields, parent: parent, since: base)
        var new = NewState(text: newText, place: place, stem: existing.entry.stem)
        new.modified = change.modified
        new.changedBy = change.modifiedBy
        let result = try keepingDraft(of: existing) { () throws(RecordError) in
            try update(existing, to: new)
        }
        let remoteText = try printed(fields, parent, place)
        try putBase(existing.id, change.changeTag, remoteText)
        if try parse(newText, place).hasSameValues(as: try parse(remoteText, place)) {
            try forgetPending(change)
        }
        try setPending(change, .create, to: .update)
        return RemoteResult(
            outcome: result.outcome == .unchanged ? .unchanged : .updated, id: existing.id,
            conflicts: conflicts)
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
        if existing.state != .waitingDelete, try isPending(change) {
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

    /// Whether the record has changes that the server did not have: waiting, or on their way.
    private func isPending(_ change: RemoteChange) throws(RecordError) -> Bool {
        try connection.first(
            """
            SELECT EXISTS (SELECT 1 FROM outbox
                WHERE zone_id = ? AND name = ? AND operation != 3)
            """, [.integer(change.zone.rawValue), .name(change.name)]
        ) { $0.bool(0) } ?? false
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
        _ fields: [RecordField], _ parent: RecordName?, _ place: TypePlace
    ) throws(RecordError) -> [UInt8] {
        RecordDocument.print(fields, parent: parent, schema: try schema(of: place.name))
    }
}

extension SQLConnection {
    /// The last state that the server has acknowledged.
    func baseText(of id: RecordID) throws(RecordError) -> [UInt8]? {
        try first(
            "SELECT text, checksum FROM base WHERE record_id = ?", [.integer(id.rawValue)]
        ) { row throws(RecordError) in
            try row.text(0) { "the base of record \(id)" }
        }
    }

    func baseTag(of id: RecordID) throws(RecordError) -> String? {
        try first("SELECT change_tag FROM base WHERE record_id = ?", [.integer(id.rawValue)]) {
            $0.string(0)
        }
    }

    /// The tag of what an outgoing delete deletes.
    fileprivate func baseTag(ofDelete row: Int64) throws(RecordError) -> String? {
        try first(
            "SELECT base_tag FROM outbox WHERE id = ? AND base_tag IS NOT NULL", [.integer(row)]
        ) { $0.string(0) }
    }
}
