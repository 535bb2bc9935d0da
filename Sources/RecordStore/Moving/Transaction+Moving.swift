package import RecordModel
import RecordSQL

extension RecordStore {
    /// What `Transaction.move` would do now. Changes nothing. Errors: as there.
    package func plan(of move: TreeMove) throws(RecordError) -> TreeMovePlan {
        try read { connection throws(RecordError) in
            try TreeMovePlanning.plan(connection, move)
        }
    }

    /// On which records those of a zone hang. Reads all of them.
    package func parents(
        in zone: ZoneInfo
    ) throws(RecordError) -> [RecordName: RecordName] {
        try read { connection throws(RecordError) in try ZoneLinks(connection, zone).parents }
    }

    /// Whether something that has gone to another zone waits on the server for its copy.
    package func hasMoves() throws(RecordError) -> Bool {
        try read { connection throws(RecordError) in try connection.hasMoves() }
    }
}

extension Transaction {
    /// Takes a record with all that hangs on it to another zone: it is made there and deleted here. The
    /// server is told of a deletion when it has the copy, so that nothing that happens between leaves
    /// it with neither. History and conflicts that are settled stay with the old names.
    ///
    /// Errors: invalidArgument, which says what hinders it; alreadyExists for a name that is taken
    /// there; notFound; accessDenied. Then nothing is moved.
    package func move(_ move: TreeMove) throws(RecordError) -> TreeMovePlan {
        let plan = try TreeMovePlanning.plan(connection, move)
        let zone = try makeZone(move.database, move.owner, move.zone)
        var copies: [RecordID] = []
        for step in plan.steps {
            let parent = step.record == move.root ? move.parent : nil
            copies.append(try copy(step, to: zone, under: parent, from: plan.source))
        }
        // What hangs on others goes before these.
        for (step, copy) in zip(plan.steps, copies).reversed() {
            try finishMove(of: step.record, to: copy)
        }
        return plan
    }

    private func copy(
        _ step: TreeMovePlan.Step, to zone: ZoneInfo, under parent: RecordName?,
        from source: ZoneInfo
    ) throws(RecordError) -> RecordID {
        let record = try requireRecord(step.record)
        let type = try makeType(zone.id, step.type)
        let place = try writablePlace(type.id)
        try finalizeWaiting(try connection.stored(named: step.name, zone.id))
        try finalizeWaiting(try connection.stored(type.id, step.stem))
        let text = try self.text(of: record, place, in: source, under: parent)
        var new = NewState(text: text, place: place, stem: step.stem)
        new.modified = record.entry.modified
        new.created = record.entry.created
        new.createdBy = record.createdBy
        new.name = step.name
        new.knownAssets = try connection.assets(of: record.id).compactMap { asset in
            guard asset.kind == .file, let hash = asset.hash else { return nil }
            return KeptAsset(
                field: asset.field, index: Int64(asset.index ?? -1), hash: hash,
                size: asset.size, fileExtension: asset.fileExtension)
        }
        let copy = try create(new, over: nil, id: nil).id
        try copyPin(of: record.id, to: copy)
        return copy
    }

    /// What waits for its deletion gives its name free.
    private func finalizeWaiting(_ record: StoredRecord?) throws(RecordError) {
        if let record, record.state == .waitingDelete { try finalizeDelete(record.id) }
    }

    /// The record's text, in which what it names by the old zone is in the new one.
    private func text(
        of record: StoredRecord, _ place: TypePlace, in source: ZoneInfo,
        under parent: RecordName?
    ) throws(RecordError) -> [UInt8] {
        guard let text = try connection.savedText(of: record.id) else {
            throw .damagedText("record \(record.entry.stem)")
        }
        let document = try parse(text, place)
        let changes = document.fields.compactMap { field -> (FieldName, FieldValue?)? in
            let value = field.value.moved(from: source.name, to: place.zone.name)
            return value.map { (field.name, $0) }
        }
        guard !changes.isEmpty || parent != nil else { return text }
        return document.replacing(changes, parent: parent.map { .some($0) })
    }

    /// Lets a record hang on another of its zone, and so go where that is shared. Errors:
    /// invalidArgument where that one hangs on it; those of a save.
    package func hang(_ id: RecordID, under parent: RecordName) throws(RecordError) {
        let record = try requireRecord(id)
        let place = try writablePlace(record.entry.type)
        guard let name = record.name, let text = try connection.savedText(of: id) else {
            throw RecordError(.notFound, "it is not saved yet. Correct the draft first.")
        }
        let links = try ZoneLinks(connection, place.zone)
        var above: RecordName? = parent
        var seen: Set<RecordName> = []
        while let next = above, seen.insert(next).inserted {
            guard next != name else {
                throw RecordError(.invalidArgument, "it would hang on itself.")
            }
            above = links.parents[next]
        }
        let document = try parse(text, place)
        guard document.parent != parent else { return }
        _ = try save(
            text: document.replacing([], parent: .some(parent)), type: place.type,
            stem: record.entry.stem)
    }

    /// Deletes a record whose copy is elsewhere. The server is told when it has that: what happens
    /// between leaves it with both, never with neither.
    package func finishMove(of id: RecordID, to copy: RecordID) throws(RecordError) {
        let old = try requireRecord(id)
        let new = try requireRecord(copy)
        try finalizeDelete(id)
        guard let name = old.name, let newName = new.name,
            let row = try connection.unclaimed(name, old.zone), row.operation == .delete
        else { return }
        try connection.run(
            "INSERT OR REPLACE INTO move (outbox_id, zone_id, name) VALUES (?, ?, ?)",
            [.integer(row.id), .integer(new.zone.rawValue), .name(newName)])
    }
}

extension SQLConnection {
    func hasMoves() throws(RecordError) -> Bool { try exists("SELECT 1 FROM move") }

    /// Whether a deletion is of what has gone elsewhere, and the server does not have that yet.
    func waitsForCopy(_ row: OutboxRow) throws(RecordError) -> Bool {
        try exists(
            """
            SELECT 1 FROM move m JOIN outbox o ON o.zone_id = m.zone_id AND o.name = m.name
            WHERE m.outbox_id = ? AND o.operation != 3
            """, [.integer(row.id)])
    }
}

extension FieldValue {
    /// Nil where nothing is another.
    fileprivate func moved(from old: ZoneName, to new: ZoneName) -> FieldValue? {
        switch self {
        case .reference(let target) where target.zone == old:
            return .reference(Reference(name: target.name, zone: new, action: target.action))
        case .list(let values):
            let moved = values.map { $0.moved(from: old, to: new) ?? $0 }
            return moved == values ? nil : .list(moved)
        default: return nil
        }
    }
}
