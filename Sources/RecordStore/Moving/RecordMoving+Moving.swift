package import RecordModel
import RecordSQL

extension RecordHistory {
    /// Returns the plan that `Transaction.move` would carry out now. Changes nothing. Errors: as
    /// there.
    package func plan(of move: TreeMove) throws(RecordError) -> TreeMovePlan {
        try store.readSnapshot { connection throws(RecordError) in
            try TreeMovePlanning.plan(connection, move, store.model.attached)
        }
    }

    /// Returns the plan of a move to a separate zone. No zone has that name, or it has no record
    /// types and no shares. Errors: as `plan(of:)`, and alreadyExists.
    package func plan(ofOwnZone move: TreeMove) throws(RecordError) -> TreeMovePlan {
        if let zone = try store.zone(move.database, move.owner, move.zone) {
            let (types, shares) = (
                try store.types(in: zone.id), try store.sharing.shares(in: zone.id)
            )
            guard types.isEmpty, shares.isEmpty else {
                throw RecordError(
                    .alreadyExists,
                    "there is a zone \(move.zone) already. --zone-name gives the new one another "
                        + "name, and --into \(move.database.name)/\(move.zone) moves the record to "
                        + "that one, when it is shared.")
            }
        }
        return try plan(of: move)
    }

    /// Returns a record, its parent, the parent's parent, and so on. Linear in the number of
    /// records of the zone.
    package func line(
        from name: RecordName, in zone: ZoneInfo
    ) throws(RecordError) -> [RecordName] {
        try store.readSnapshot { connection throws(RecordError) in
            try ZoneLinks(connection, zone).line(from: name)
        }
    }

    /// Returns whether a record that has moved to another zone waits until the server has its copy.
    package func hasMoves() throws(RecordError) -> Bool {
        try store.read { connection throws(RecordError) in try connection.hasMoves() }
    }
}

extension RecordMoving {
    /// Returns whether a record has no parent and no children, and is related to no object. Linear
    /// in the number of records of the zone.
    package func isAlone(_ id: RecordID) throws(RecordError) -> Bool {
        guard let record = try transaction.connection.records.stored(id), let name = record.name,
            let zone = try transaction.connection.records.zone(record.zone)
        else { return true }
        let links = try ZoneLinks(transaction.connection, zone)
        guard links.parents[name] == nil, links.children[name] == nil else { return false }
        guard transaction.model != nil else { return true }
        return try !ObjectGraph.isConnected(record, name, transaction.connection)
    }

    /// Moves records with all that hangs on them to another zone: they are made there and deleted
    /// here.
    /// The deletion is not sent before the server has the copy, so that the server is never left
    /// with neither of them. History and settled conflicts stay with the old names.
    ///
    /// Errors: invalidArgument, which names the obstacle; alreadyExists for a name that is taken
    /// there; notFound; accessDenied. In these cases nothing is moved.
    package func move(_ move: TreeMove) throws(RecordError) -> TreeMovePlan {
        try transaction.assets.finishFollowing()
        var plan = try TreeMovePlanning.plan(transaction.connection, move, transaction.model)
        let zone = try transaction.makeZone(move.database, move.owner, move.zone)
        try transaction.sharing.noteFinished(zone.id)
        var copies: [RecordID] = []
        for step in plan.steps {
            let parent = move.roots.contains(step.record) ? move.parent : nil
            copies.append(try copy(step, to: zone, under: parent, from: plan))
        }
        try tear(plan)
        // Children are deleted before their parents.
        for (step, copy) in zip(plan.steps, copies).reversed() {
            try finishMove(of: step.record, to: copy, with: move.roots.first)
        }
        plan.copies = copies
        return plan
    }

    private func copy(
        _ step: TreeMovePlan.Step, to zone: ZoneInfo, under parent: RecordName?,
        from plan: TreeMovePlan
    ) throws(RecordError) -> RecordID {
        let record = try transaction.records.requireRecord(step.record)
        let type = try transaction.makeType(zone.id, step.type)
        let place = try transaction.writablePlace(type.id)
        try finalizeWaiting(try transaction.connection.records.stored(named: step.name, zone.id))
        let (stem, draft) = try transaction.records.freeStem(for: step.name, place)
        if let draft {
            throw RecordError(
                .alreadyExists, "\(place.name)/\(draft.entry.stem) has a draft there.")
        }
        let lost = plan.lostKeys[step.name] ?? []
        let text = try transaction.records.parse(
            try self.text(of: record, place, in: plan.source, under: parent, without: lost), place
        ).renamingAssets(to: stem)
        try transaction.checkWritable(nil, saying: text, as: stem, in: place)
        var new = RecordWriting.NewState(text: text, place: place, stem: stem)
        new.isMoved = true
        new.modified = record.entry.modified
        new.created = record.entry.created
        new.createdBy = record.createdBy
        new.name = step.name
        new.knownAssets = try transaction.connection.records.assets(of: record.id).filter {
            $0.kind == .file
        }
        .compactMap(KeptAsset.init(_:))
        let copy = try transaction.records.create(new, over: nil, id: nil).id
        try transaction.assets.copyPin(of: record.id, to: copy)
        try transaction.links.carry(step.name, from: record.zone, to: place)
        return copy
    }

    /// Ends the links between objects that move and objects that stay.
    private func tear(_ plan: TreeMovePlan) throws(RecordError) {
        for link in Set(plan.torn.compactMap(\.side.edge.link)).sorted() {
            if let record = try transaction.connection.records.stored(named: link, plan.source.id) {
                try transaction.records.finalizeDelete(record.id)
            }
        }
    }

    /// Completes the deletion of a record that waits for it, so that its name is free.
    private func finalizeWaiting(_ record: StoredRow?) throws(RecordError) {
        if let record, record.state == .waitingDelete {
            try transaction.records.finalizeDelete(record.id)
        }
    }

    /// Returns the record's text, with references to the old zone changed to the new one.
    ///
    /// - Parameter lost: fields that it loses.
    package func text(
        of record: StoredRow, _ place: TypePlace, in source: ZoneInfo,
        under parent: RecordName?, without lost: Set<FieldName> = []
    ) throws(RecordError) -> [UInt8] {
        guard let text = try transaction.connection.records.savedText(of: record.id) else {
            throw .damagedText("record \(record.entry.stem)")
        }
        let document = try transaction.records.parse(text, place)
        let changes = document.fields.compactMap { field -> (FieldName, FieldValue?)? in
            if lost.contains(field.name) { return (field.name, nil) }
            let value = field.value.moved(from: source.name, to: place.zone.name)
            return value.map { (field.name, $0) }
        }
        guard !changes.isEmpty || parent != nil else { return text }
        return document.replacing(changes, parent: parent.map { .some($0) })
    }

    /// Makes a record the child of another record in its zone, so that it is shared together with
    /// that record. Errors: invalidArgument where the other record is its descendant; those of a
    /// save.
    package func hang(_ id: RecordID, under parent: RecordName) throws(RecordError) {
        let record = try transaction.records.requireRecord(id)
        let place = try transaction.writablePlace(of: record)
        guard let name = record.name,
            let text = try transaction.connection.records.savedText(of: id)
        else {
            throw RecordError(.notFound, "it is not saved yet. Correct the draft first.")
        }
        guard try !ZoneLinks(transaction.connection, place.zone).line(from: parent).contains(name)
        else {
            throw RecordError(.invalidArgument, "it would be its own parent.")
        }
        let document = try transaction.records.parse(text, place)
        guard document.parent != parent else { return }
        _ = try transaction.records.save(
            text: document.replacing([], parent: .some(parent)), type: place.type,
            stem: record.entry.stem)
    }

    /// Deletes a record whose copy is in another place. The deletion is sent when the server has
    /// the copy and all others of the tree. Until then the server has both, never neither.
    ///
    /// - Parameter tree: the record that moves together with it; the record itself when nil.
    package func finishMove(
        of id: RecordID, to copy: RecordID, with tree: RecordID? = nil
    ) throws(RecordError) {
        let old = try transaction.records.requireRecord(id)
        // The user who moves a record away needs the permission to do so.
        _ = try transaction.writablePlace(of: old)
        let new = try transaction.records.requireRecord(copy)
        guard let name = old.name, let newName = new.name else {
            return try transaction.records.finalizeDelete(id)
        }
        // If the record was moved here before and not sent, its first original waits for the new
        // copy.
        try passMoves(from: name, old.zone, to: newName, new.zone)
        try transaction.records.finalizeDelete(id)
        transaction.records.noteMoved(id, to: copy)
        try noteMove(from: name, old.zone, to: newName, new.zone, tree: tree ?? id)
    }

    /// Makes the deletion of a moved record wait for its copy, and notes where the copy is. If
    /// several records have left the same name, the deletion belongs to the first, which the server
    /// has.
    func noteMove(
        from name: RecordName, _ zone: ZoneID, to newName: RecordName, _ newZone: ZoneID,
        tree: RecordID
    ) throws(RecordError) {
        try transaction.links.noteMoved(from: name, zone, to: newName, newZone)
        guard let row = try transaction.connection.sync.unclaimed(name, zone),
            row.operation == .delete,
            try transaction.requireZone(newZone).database.isSynced
        else { return }
        try transaction.connection.run(
            "INSERT OR IGNORE INTO move (outbox_id, zone_id, name, tree) VALUES (?, ?, ?, ?)",
            [
                .integer(row.id), .integer(newZone.rawValue), .name(newName),
                .integer(tree.rawValue),
            ])
    }

    /// Makes deletions that wait for a copy wait for the record that replaces the copy. In `local`
    /// that record is on no server.
    package func passMoves(
        from name: RecordName, _ zone: ZoneID, to newName: RecordName, _ newZone: ZoneID
    ) throws(RecordError) {
        guard try transaction.requireZone(newZone).database.isSynced else {
            return try forgetMoves(to: name, zone)
        }
        for table in ["move", "renamed"] {
            try transaction.connection.run(
                "UPDATE \(table) SET zone_id = ?, name = ? WHERE zone_id = ? AND name = ?",
                [
                    .integer(newZone.rawValue), .name(newName), .integer(zone.rawValue),
                    .name(name),
                ])
        }
        // A record that is back in its old place has not moved.
        try transaction.connection.run(
            """
            DELETE FROM move WHERE zone_id = ?1 AND name = ?2 AND outbox_id IN (
                SELECT id FROM outbox WHERE zone_id = ?1 AND name = ?2)
            """, [.integer(newZone.rawValue), .name(newName)])
    }

    /// Forgets moves after this user has deleted the copy: the moved record is deleted on the
    /// server too.
    func forgetMoves(to name: RecordName, _ zone: ZoneID) throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM move WHERE zone_id = ? AND name = ?",
            [.integer(zone.rawValue), .name(name)])
    }
}

extension SQLConnection {
    package func hasMoves() throws(RecordError) -> Bool {
        try exists("SELECT 1 FROM move UNION ALL SELECT 1 FROM renamed")
    }

    /// Returns whether an outgoing deletion belongs to a moved record whose copy, or another record
    /// of its tree, is not on the server yet.
    package func waitsForCopy(_ row: OutboxRow) throws(RecordError) -> Bool {
        guard let tree = try tree(of: row) else { return false }
        return try isUnderWay(tree: tree)
    }

    /// Returns whether the server has refused the copy of the record that an outgoing change has
    /// moved.
    package func isRefused(copyOf row: OutboxRow) throws(RecordError) -> Bool {
        try exists(
            """
            SELECT 1 FROM move m JOIN outbox o ON o.zone_id = m.zone_id AND o.name = m.name
            WHERE m.outbox_id = ? AND o.error IS NOT NULL
            """, [.integer(row.id)])
    }

    /// Returns whether the changes that an outgoing change waits for also wait for that change,
    /// because records have exchanged places. None of them can be sent first, and all of these
    /// records are on the server.
    package func isCircular(_ row: OutboxRow) throws(RecordError) -> Bool {
        let copies = """
            move m JOIN move other ON other.tree = m.tree
                JOIN outbox o ON o.zone_id = other.zone_id AND o.name = other.name
                    AND o.operation = 2
            """
        return try exists(
            """
            WITH RECURSIVE awaited (id) AS (
                SELECT o.id FROM \(copies) WHERE m.outbox_id = ?1
                UNION SELECT o.id FROM awaited a CROSS JOIN \(copies) WHERE m.outbox_id = a.id)
            SELECT 1 FROM awaited WHERE id = ?1
            """, [.integer(row.id)])
    }

    /// Returns whether copies of a tree wait to be sent, or were never acknowledged.
    package func isUnderWay(tree: Int64) throws(RecordError) -> Bool {
        try exists(
            """
            SELECT 1 FROM move m WHERE m.tree = ?1 AND (
                EXISTS (SELECT 1 FROM outbox o
                    WHERE o.zone_id = m.zone_id AND o.name = m.name AND o.operation != 3)
                OR NOT EXISTS (SELECT 1 FROM record r JOIN base b ON b.record_id = r.id
                    WHERE r.zone_id = m.zone_id AND r.name = m.name)
                    AND NOT EXISTS (SELECT 1 FROM outbox o
                        WHERE o.zone_id = m.zone_id AND o.name = m.name AND o.base_tag IS NOT NULL))
            """, [.integer(tree)])
    }

    package func tree(of row: OutboxRow) throws(RecordError) -> Int64? {
        try first("SELECT tree FROM move WHERE outbox_id = ?", [.integer(row.id)]) {
            $0.int64(0)
        }
    }
}

extension FieldValue {
    /// Returns the value with its references moved to another zone. Returns nil where nothing
    /// changes.
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
