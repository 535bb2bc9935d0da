package import RecordModel
import RecordSQL

extension RecordStore {
    /// What `Transaction.move` would do now. Changes nothing. Errors: as there.
    package func plan(of move: TreeMove) throws(RecordError) -> TreeMovePlan {
        try readSnapshot { connection throws(RecordError) in
            try TreeMovePlanning.plan(connection, move)
        }
    }

    /// The same of a move to a zone of its own: there is none of that name, or nothing in it and nothing
    /// shared. Errors also: alreadyExists.
    package func plan(ofOwnZone move: TreeMove) throws(RecordError) -> TreeMovePlan {
        if let zone = try zone(move.database, move.owner, move.zone) {
            let (types, shares) = (try types(in: zone.id), try shares(in: zone.id))
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

    /// A record, that on which it hangs, and so on. Linear in the records of the zone.
    package func line(
        from name: RecordName, in zone: ZoneInfo
    ) throws(RecordError) -> [RecordName] {
        try readSnapshot { connection throws(RecordError) in
            try ZoneLinks(connection, zone).line(from: name)
        }
    }

    /// Whether something that has gone to another zone waits on the server for its copy.
    package func hasMoves() throws(RecordError) -> Bool {
        try read { connection throws(RecordError) in try connection.hasMoves() }
    }
}

extension Transaction {
    /// Whether a record hangs on none, and none hangs on it. Linear in the records of the zone.
    package func isAlone(_ id: RecordID) throws(RecordError) -> Bool {
        guard let record = try connection.stored(id), let name = record.name,
            let zone = try connection.zone(record.zone)
        else { return true }
        let links = try ZoneLinks(connection, zone)
        return links.parents[name] == nil && links.children[name] == nil
    }

    /// Takes a record with all that hangs on it to another zone: it is made there and deleted here. The
    /// server is told of a deletion when it has the copy, so that nothing that happens between leaves
    /// it with neither. History and conflicts that are settled stay with the old names.
    ///
    /// Errors: invalidArgument, which says what hinders it; alreadyExists for a name that is taken
    /// there; notFound; accessDenied. Then nothing is moved.
    package func move(_ move: TreeMove) throws(RecordError) -> TreeMovePlan {
        try finishFollowing()
        var plan = try TreeMovePlanning.plan(connection, move)
        let zone = try makeZone(move.database, move.owner, move.zone)
        var copies: [RecordID] = []
        for step in plan.steps {
            let parent = step.record == move.root ? move.parent : nil
            copies.append(try copy(step, to: zone, under: parent, from: plan.source))
        }
        // What hangs on others goes before these.
        for (step, copy) in zip(plan.steps, copies).reversed() {
            try finishMove(of: step.record, to: copy, with: move.root)
        }
        plan.copies = copies
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
        let (stem, draft) = try freeStem(for: step.name, place)
        if let draft {
            throw RecordError(
                .alreadyExists, "\(place.name)/\(draft.entry.stem) has a draft there.")
        }
        let text = try parse(
            try self.text(of: record, place, in: source, under: parent), place
        ).renamingAssets(to: stem)
        try checkWritable(nil, saying: text, as: stem, in: place)
        var new = NewState(text: text, place: place, stem: stem)
        new.modified = record.entry.modified
        new.created = record.entry.created
        new.createdBy = record.createdBy
        new.name = step.name
        new.knownAssets = try connection.assets(of: record.id).filter { $0.kind == .file }
            .compactMap(KeptAsset.init(_:))
        let copy = try create(new, over: nil, id: nil).id
        try copyPin(of: record.id, to: copy)
        return copy
    }

    /// What waits for its deletion gives its name free.
    private func finalizeWaiting(_ record: StoredRecord?) throws(RecordError) {
        if let record, record.state == .waitingDelete { try finalizeDelete(record.id) }
    }

    /// The record's text, in which what it names by the old zone is in the new one.
    func text(
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
        let place = try writablePlace(of: record)
        guard let name = record.name, let text = try connection.savedText(of: id) else {
            throw RecordError(.notFound, "it is not saved yet. Correct the draft first.")
        }
        guard try !ZoneLinks(connection, place.zone).line(from: parent).contains(name) else {
            throw RecordError(.invalidArgument, "it would hang on itself.")
        }
        let document = try parse(text, place)
        guard document.parent != parent else { return }
        _ = try save(
            text: document.replacing([], parent: .some(parent)), type: place.type,
            stem: record.entry.stem)
    }

    /// Deletes a record whose copy is elsewhere. The server is told when it has that, and all others of
    /// the tree: what happens between leaves it with both, never with neither.
    ///
    /// - Parameter tree: the record with which it goes; itself when nil.
    package func finishMove(
        of id: RecordID, to copy: RecordID, with tree: RecordID? = nil
    ) throws(RecordError) {
        let old = try requireRecord(id)
        // Who takes it away has to be allowed to.
        _ = try writablePlace(of: old)
        let new = try requireRecord(copy)
        guard let name = old.name, let newName = new.name else { return try finalizeDelete(id) }
        // What has just come here, and was not sent, is not missed here.
        try passMoves(from: name, old.zone, to: newName, new.zone)
        try finalizeDelete(id)
        noteMoved(id, to: copy)
        try noteMove(from: name, old.zone, to: newName, new.zone, tree: tree ?? id)
    }

    /// The deletion of what has gone elsewhere waits for the copy, and says where that is. Of a name that
    /// several records have left it speaks of the first, which the server has.
    func noteMove(
        from name: RecordName, _ zone: ZoneID, to newName: RecordName, _ newZone: ZoneID,
        tree: RecordID
    ) throws(RecordError) {
        guard let row = try connection.unclaimed(name, zone), row.operation == .delete,
            try requireZone(newZone).database.isSynced
        else { return }
        try connection.run(
            "INSERT OR IGNORE INTO move (outbox_id, zone_id, name, tree) VALUES (?, ?, ?, ?)",
            [
                .integer(row.id), .integer(newZone.rawValue), .name(newName),
                .integer(tree.rawValue),
            ])
    }

    /// What waits for a copy waits for what takes its place. In `local` that is on no server.
    func passMoves(
        from name: RecordName, _ zone: ZoneID, to newName: RecordName, _ newZone: ZoneID
    ) throws(RecordError) {
        guard try requireZone(newZone).database.isSynced else {
            return try forgetMoves(to: name, zone)
        }
        for table in ["move", "renamed"] {
            try connection.run(
                "UPDATE \(table) SET zone_id = ?, name = ? WHERE zone_id = ? AND name = ?",
                [
                    .integer(newZone.rawValue), .name(newName), .integer(zone.rawValue),
                    .name(name),
                ])
        }
        // What is back where it was has not moved.
        try connection.run(
            """
            DELETE FROM move WHERE zone_id = ?1 AND name = ?2 AND outbox_id IN (
                SELECT id FROM outbox WHERE zone_id = ?1 AND name = ?2)
            """, [.integer(newZone.rawValue), .name(newName)])
    }

    /// This user has deleted the copy: what was moved goes on the server too.
    func forgetMoves(to name: RecordName, _ zone: ZoneID) throws(RecordError) {
        try connection.run(
            "DELETE FROM move WHERE zone_id = ? AND name = ?",
            [.integer(zone.rawValue), .name(name)])
    }

    /// The copies of a zone, or of one name in it, will not get to the server: what was moved there is
    /// back where it was, where the server still has it, as it is in the copy.
    ///
    /// - Returns: the edits that wait of what is back.
    @discardableResult
    func takeBackMoves(
        to zone: ZoneID, _ name: RecordName? = nil
    ) throws(RecordError) -> [OutboxRow] {
        let rows = try connection.all(
            """
            SELECT \(Columns.joined(Columns.outbox, as: "o")) FROM move m JOIN outbox o ON o.id = m.outbox_id
            WHERE m.zone_id = ?1 AND (?2 IS NULL OR m.name = ?2) AND o.operation = 3
            ORDER BY o.id DESC
            """, [.integer(zone.rawValue), name.map { .name($0) } ?? .null]
        ) { $0.outbox() }
        var edits: [OutboxRow] = []
        for row in rows where try connection.waitsForCopy(row) {
            if let edit = try takeBackMove(row) { edits.append(edit) }
        }
        return edits
    }

    /// - Returns: the edit that waits of what is back; nil when that is not, or is as the server has it.
    private func takeBackMove(_ row: OutboxRow) throws(RecordError) -> OutboxRow? {
        let trash = try connection.first(
            "SELECT id FROM trash WHERE zone_id = ? AND name = ? ORDER BY id DESC LIMIT 1",
            [.integer(row.zone.rawValue), .name(row.name)]
        ) { $0.int64(0) }
        guard let trash else { return nil }
        let entry: RecordEntry
        do throws(RecordError) {
            entry = try restore(trash)
        } catch  where error.code == .alreadyExists {
            // Something else has the name by now. What was moved stays in the trash.
            return nil
        } catch  where error.code == .accessDenied {
            // Nobody here may write it any more: it is as the server has it.
            try giveUp(row)
            return nil
        }
        let copy = try connection.copy(ofMoved: row)
        try inheritBase(of: row.id, entry.id)
        try connection.run("DELETE FROM outbox WHERE id = ?", [.integer(row.id)])
        if let copy { try takeBackEdits(of: copy, to: entry.id) }
        let record = try requireRecord(entry.id)
        try enqueue(
            .update, record.id, row.name, record.generation, try place(entry.type),
            alsoOfSync: true)
        return try connection.unclaimed(row.name, row.zone)
    }

    /// Brings what was edited since the move, by others where the record was and by this user in the copy,
    /// into what is back. A copy that the server has had stays with what others have made of it.
    private func takeBackEdits(of copy: StoredRecord, to id: RecordID) throws(RecordError) {
        guard copy.state != .draftOnly, let name = copy.name,
            try connection.baseTag(of: copy.id) == nil
        else { return }
        let record = try requireRecord(id)
        let place = try place(record.entry.type)
        guard let new = try state(of: copy, in: place, insteadOf: record) else { return }
        let saved = try keepingDraft(of: record) { () throws(RecordError) in
            try update(record, to: new)
        }
        let edits = try unsentEdits(
            of: try document(new.text, of: id, place).fields,
            since: try acknowledgedDocument(of: id, place.name), name, copy.zone)
        guard let version = saved.version, let last = edits.values.map(\.stamp.time).max()
        else { return }
        try setStamp(last, of: version, by: .mount)
    }

    /// Gives a copy as the record that it was made of.
    ///
    /// - Returns: nil for what is no record of the type.
    private func state(
        of copy: StoredRecord, in place: TypePlace, insteadOf record: StoredRecord
    ) throws(RecordError) -> NewState? {
        let text = try self.text(of: copy, place, in: try requireZone(copy.zone), under: nil)
        do throws(RecordError) {
            var document = try parse(text, place)
            if copy.zone != record.zone, let old = try connection.savedText(of: record.id) {
                let parent = try parse(old, place).parent
                document = try parse(document.replacing([], parent: .some(parent)), place)
            }
            var new = NewState(
                text: document.renamingAssets(to: record.entry.stem), place: place,
                stem: record.entry.stem)
            new.modified = copy.entry.modified
            new.knownAssets = try connection.assets(of: copy.id).filter { $0.kind == .file }
                .compactMap(KeptAsset.init(_:))
            return new
        } catch  where error.isAboutContent {
            return nil
        }
    }
}

extension SQLConnection {
    func hasMoves() throws(RecordError) -> Bool {
        try exists("SELECT 1 FROM move UNION ALL SELECT 1 FROM renamed")
    }

    /// Whether a deletion is of what has gone elsewhere, and the server does not have that yet, or not
    /// all that goes with it.
    func waitsForCopy(_ row: OutboxRow) throws(RecordError) -> Bool {
        guard let tree = try tree(of: row) else { return false }
        return try isUnderWay(tree: tree)
    }

    /// Says whether the server has refused the copy of what an outgoing change says has moved.
    func isRefused(copyOf row: OutboxRow) throws(RecordError) -> Bool {
        try exists(
            """
            SELECT 1 FROM move m JOIN outbox o ON o.zone_id = m.zone_id AND o.name = m.name
            WHERE m.outbox_id = ? AND o.error IS NOT NULL
            """, [.integer(row.id)])
    }

    /// Says whether what an outgoing change waits for waits for that change: records that have changed places.
    /// None of them can go first, and on the server all of them are.
    func isCircular(_ row: OutboxRow) throws(RecordError) -> Bool {
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

    /// Whether copies of a tree are to be sent, or were never acknowledged.
    func isUnderWay(tree: Int64) throws(RecordError) -> Bool {
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

    func tree(of row: OutboxRow) throws(RecordError) -> Int64? {
        try first("SELECT tree FROM move WHERE outbox_id = ?", [.integer(row.id)]) {
            $0.int64(0)
        }
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
