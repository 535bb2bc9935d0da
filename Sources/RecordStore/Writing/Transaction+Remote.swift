package import RecordModel

extension Transaction {
    /// Applies what the server reports: base and, merged by field with what is pending here, the
    /// record. Makes history by the transaction's author, who has to be `sync`.
    ///
    /// Errors: notFound for the zone; invalidArgument for another author.
    package func applyRemote(_ change: RemoteChange) throws(RecordError) -> RemoteResult {
        guard author == .sync else {
            throw RecordError(.invalidArgument, "Remote changes are made by sync.")
        }
        let existing = try connection.stored(named: change.name, change.zone)
        switch change.operation {
        case .delete: return try applyRemoteDelete(existing, change)
        case .upsert(let fields, let parent):
            if let existing {
                return try applyRemoteUpdate(existing, change, fields, parent)
            }
            return try applyRemoteCreate(change, fields, parent)
        }
    }

    private func applyRemoteCreate(
        _ change: RemoteChange, _ fields: [RecordField], _ parent: RecordName?
    ) throws(RecordError) -> RemoteResult {
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
        let draft = try connection.stored(type.id, stem)
        let result = try create(new, over: draft, id: nil)
        try putBase(result.id, change.changeTag, text)
        return RemoteResult(outcome: .created, id: result.id, conflicts: [])
    }

    private func applyRemoteUpdate(
        _ existing: StoredRecord, _ change: RemoteChange, _ fields: [RecordField],
        _ parent: RecordName?
    ) throws(RecordError) -> RemoteResult {
        let place = try place(existing.entry.type)
        guard let text = try connection.savedText(of: existing.id) else {
            throw RecordError(.corrupt, "Record \(existing.entry.stem) has no text.")
        }
        let local = try parse(text, place)
        let isPending = try unclaimed(change.name, change.zone) != nil
        let base = try connection.baseText(of: existing.id)
        var baseFields: [RecordField]? = isPending ? nil : local.fields
        if isPending, let base { baseFields = try parse(base, place).fields }
        let (merged, conflicts) = FieldMerge.merge(
            base: baseFields, local: local.fields, remote: fields)
        let newText = local.replacing(
            Self.changes(from: local.fields, to: merged),
            parent: local.parent == parent ? nil : .some(parent))
        var new = NewState(text: newText, place: place, stem: existing.entry.stem)
        new.modified = change.modified
        new.changedBy = change.modifiedBy
        let result = try keepingDraft(of: existing) { () throws(RecordError) in
            try update(existing, to: new)
        }
        try putBase(existing.id, change.changeTag, try printed(fields, parent, place))
        return RemoteResult(
            outcome: result.outcome == .unchanged ? .unchanged : .updated, id: existing.id,
            conflicts: conflicts)
    }

    private static func changes(
        from old: [RecordField], to new: [RecordField]
    ) -> [(FieldName, FieldValue?)] {
        let values = Dictionary(new.map { ($0.name, $0.value) }) { $1 }
        return FieldMerge.changedFields(from: old, to: new).map { ($0, values[$0]) }
    }

    /// A deletion loses against an edit that is still to be sent: the record stays and is made
    /// anew on the server.
    private func applyRemoteDelete(
        _ existing: StoredRecord?, _ change: RemoteChange
    ) throws(RecordError) -> RemoteResult {
        guard let existing else {
            return RemoteResult(outcome: .absent, id: nil, conflicts: [])
        }
        guard let pending = try unclaimed(change.name, change.zone),
            existing.state != .waitingDelete
        else {
            try finalizeDelete(existing.id)
            return RemoteResult(outcome: .deleted, id: existing.id, conflicts: [])
        }
        try connection.run(
            "UPDATE outbox SET operation = ? WHERE id = ?",
            [.integer(OutboxRow.Operation.create.rawValue), .integer(pending.id)])
        try connection.run(
            "DELETE FROM base WHERE record_id = ?", [.integer(existing.id.rawValue)])
        return RemoteResult(outcome: .kept, id: existing.id, conflicts: [])
    }

    private func printed(
        _ fields: [RecordField], _ parent: RecordName?, _ place: TypePlace
    ) throws(RecordError) -> [UInt8] {
        RecordDocument.print(fields, parent: parent, schema: try schema(of: place.name))
    }

    /// The stem of a name that comes from the server. `X:TYPE` shows as X, unless X itself is
    /// there; when X itself comes later, the other one makes room.
    private func freeStem(for name: RecordName, _ place: TypePlace) throws(RecordError) -> Stem {
        let suffix = [UInt8(ascii: ":")] + place.name.bytes
        if name.bytes.count > suffix.count, name.bytes.suffix(suffix.count).elementsEqual(suffix) {
            let short = Stem(
                encoding: RecordName(bytes: Array(name.bytes.dropLast(suffix.count))))
            if try connection.stored(place.type, short) == nil { return short }
        }
        let stem = Stem(encoding: name)
        guard let other = try connection.stored(place.type, stem), let otherName = other.name,
            otherName != name
        else { return stem }
        try connection.run(
            "UPDATE record SET stem = ? WHERE id = ?",
            [.name(Stem(encoding: otherName)), .integer(other.id.rawValue)])
        note(
            .deleted, zone: other.zone, type: place.type, record: other.id, stem: stem)
        note(
            .created, zone: other.zone, type: place.type, record: other.id,
            stem: Stem(encoding: otherName))
        return stem
    }
}

extension SQLConnection {
    /// The last state that the server has acknowledged.
    func baseText(of id: RecordID) throws(RecordError) -> [UInt8]? {
        try first("SELECT text FROM base WHERE record_id = ?", [.integer(id.rawValue)]) {
            $0.bytes(0)
        }
    }
}
