import RecordModel
import RecordSQL
import RecordStore

extension RecordMoving {
    /// Takes moves back, because the copies in a zone, or the copy with one name in it, will not
    /// reach the server. Each moved record returns to its old place, where the server still has it,
    /// with the content of the copy.
    ///
    /// - Returns: the waiting edits of the records that are back.
    @discardableResult
    func takeBackMoves(
        to zone: ZoneID, _ name: RecordName? = nil
    ) throws(RecordError) -> [OutboxRow] {
        let rows = try transaction.connection.all(
            """
            SELECT \(Columns.joined(Columns.outbox, as: "o")) FROM move m JOIN outbox o ON o.id = m.outbox_id
            WHERE m.zone_id = ?1 AND (?2 IS NULL OR m.name = ?2) AND o.operation = 3
            ORDER BY o.id DESC
            """, [.integer(zone.rawValue), name.map { .name($0) } ?? .null]
        ) { $0.outbox() }
        var edits: [OutboxRow] = []
        for row in rows where try transaction.connection.waitsForCopy(row) {
            if let edit = try takeBackMove(row) { edits.append(edit) }
        }
        return edits
    }

    /// Takes one move back.
    ///
    /// - Returns: the waiting edit of the record that is back; nil when it is not back, or is the
    ///   same as on the server.
    private func takeBackMove(_ row: OutboxRow) throws(RecordError) -> OutboxRow? {
        let trash = try transaction.connection.first(
            "SELECT id FROM trash WHERE zone_id = ? AND name = ? ORDER BY id DESC LIMIT 1",
            [.integer(row.zone.rawValue), .name(row.name)]
        ) { $0.int64(0) }
        guard let trash else { return nil }
        let entry: RecordEntry
        do throws(RecordError) {
            entry = try transaction.records.restore(trash)
        } catch  where error.code == .alreadyExists {
            // Another record has the name by now. The moved record stays in the trash.
            return nil
        } catch  where error.code == .accessDenied {
            // Nobody here may write it any more, so it stays as it is on the server.
            try transaction.merging.giveUp(row)
            return nil
        }
        let copy = try transaction.connection.copy(ofMoved: row)
        try transaction.merging.inheritBase(of: row.id, entry.id)
        try transaction.connection.run("DELETE FROM outbox WHERE id = ?", [.integer(row.id)])
        if let copy { try takeBackEdits(of: copy, to: entry.id) }
        let record = try transaction.records.requireRecord(entry.id)
        try transaction.outbox.enqueue(
            .update, record.id, row.name, record.generation, try transaction.place(entry.type),
            alsoOfSync: true)
        return try transaction.connection.sync.unclaimed(row.name, row.zone)
    }

    /// Merges edits that were made since the move into the record that is back: edits of others at
    /// the old place, and edits of this user in the copy. A copy that the server has had stays,
    /// with the changes that others have made to it.
    private func takeBackEdits(of copy: StoredRow, to id: RecordID) throws(RecordError) {
        guard copy.state != .draftOnly, let name = copy.name,
            try transaction.connection.sync.baseTag(of: copy.id) == nil
        else { return }
        let record = try transaction.records.requireRecord(id)
        let place = try transaction.place(record.entry.type)
        guard let new = try state(of: copy, in: place, insteadOf: record) else { return }
        let saved = try transaction.records.keepingDraft(of: record) { () throws(RecordError) in
            try transaction.records.update(record, to: new)
        }
        let edits = try transaction.merging.unsentEdits(
            of: try transaction.outbox.document(new.text, of: id, place).fields,
            since: try transaction.outbox.acknowledgedDocument(of: id, place.name), name, copy.zone)
        guard let version = saved.version, let last = edits.values.map(\.stamp.time).max()
        else { return }
        try transaction.merging.setStamp(last, of: version, by: .mount)
    }

    /// Returns the content of a copy as a state of the record that it was made from.
    ///
    /// - Returns: nil when the content is no record of the type.
    private func state(
        of copy: StoredRow, in place: TypePlace, insteadOf record: StoredRow
    ) throws(RecordError) -> RecordWriting.NewState? {
        let text = try self.text(
            of: copy, place, in: try transaction.requireZone(copy.zone), under: nil)
        do throws(RecordError) {
            var document = try transaction.records.parse(text, place)
            if copy.zone != record.zone,
                let old = try transaction.connection.records.savedText(of: record.id)
            {
                let parent = try transaction.records.parse(old, place).parent
                document = try transaction.records.parse(
                    document.replacing([], parent: .some(parent)), place)
            }
            var new = RecordWriting.NewState(
                text: document.renamingAssets(to: record.entry.stem), place: place,
                stem: record.entry.stem)
            new.modified = copy.entry.modified
            new.knownAssets = try transaction.connection.records.assets(of: copy.id).filter {
                $0.kind == .file
            }
            .compactMap(KeptAsset.init(_:))
            return new
        } catch  where error.isAboutContent {
            return nil
        }
    }
}
