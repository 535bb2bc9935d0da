package import RecordModel
import RecordSQL

/// Records that get another name, type or zone. For the user this is one action. On the wire the
/// record is made in the new place and then deleted in the old one, and the deletion names the new
/// place.
extension RecordMoving {
    /// Moves a record to another type or zone of its database, over an existing record. Its large
    /// fields move with it. While these may be moved separately, the old name waits for its
    /// deletion.
    ///
    /// Errors: crossDevice for records that are copied and deleted instead: a draft, a child of a
    /// record that stays, another database. notPermitted for an object that is related to others, in
    /// another zone. accessDenied on either side; invalidName, alreadyExists.
    package func moveRecord(
        _ id: RecordID, to type: TypeID, stem: Stem
    ) throws(RecordError) -> RecordEntry {
        try transaction.assets.finishLeaving(of: id)
        try transaction.assets.finishFollowing(to: id)
        let record = try transaction.records.requireRecord(id)
        let old = try transaction.writablePlace(of: record)
        let place = try transaction.writablePlace(type)
        let existing = try transaction.records.target(stem, type, of: id)
        let new = try moved(record, from: old, to: place, stem, over: existing)
        let copy =
            if let existing, existing.state != .draftOnly {
                try transaction.records.update(existing, to: new)
            } else {
                try transaction.records.create(new, over: existing, id: nil)
            }
        try transaction.assets.copyPin(of: id, to: copy.id)
        guard let name = record.name,
            let newName = try transaction.records.requireRecord(copy.id).name
        else {
            throw RecordError(.corrupt, "A record has lost its name.")
        }
        try carryStamps(of: record, named: name, to: copy, newName, place)
        if try transaction.connection.hasMoves() {
            try passMoves(from: name, record.zone, to: newName, place.zone.id)
        }
        try transaction.records.beginDelete(id)
        transaction.records.noteMoved(id, to: copy.id)
        try noteRename(of: record, to: copy.id)
        if !record.entry.hasAssets { try transaction.records.finalizeDelete(id) }
        return try transaction.records.requireEntry(copy.id)
    }

    private func moved(
        _ record: StoredRow, from old: TypePlace, to place: TypePlace, _ stem: Stem,
        over existing: StoredRow?
    ) throws(RecordError) -> RecordWriting.NewState {
        guard old.zone.database == place.zone.database, old.zone.owner == place.zone.owner else {
            throw RecordError(.crossDevice, "records are copied between databases")
        }
        guard record.state == .saved, !record.entry.hasDraft else {
            throw RecordError(.crossDevice, "a draft is copied")
        }
        let text = try self.text(of: record, place, in: old.zone, under: nil)
        let document = try transaction.records.parse(text, place)
        guard old.zone.id == place.zone.id || document.parent == nil else {
            throw RecordError(
                .crossDevice, "its parent record would stay. recordfs mv moves both")
        }
        if old.zone.id != place.zone.id { try checkAlone(record, to: place) }
        let assets = try transaction.connection.records.assets(of: record.id).filter {
            $0.kind == .file
        }
        var new = RecordWriting.NewState(
            text: document.renamingAssets(to: stem), place: place, stem: stem)
        try transaction.checkWritable(existing, saying: new.text, as: stem, in: place)
        new.modified = record.entry.modified
        new.effect = .renamedOver
        new.knownAssets = assets.compactMap(KeptAsset.init(_:))
        if existing == nil || existing?.state == .draftOnly {
            new.created = record.entry.created
            new.createdBy = record.createdBy
        }
        return new
    }

    /// Refuses to take an object away from those that it is related to.
    private func checkAlone(_ record: StoredRow, to place: TypePlace) throws(RecordError) {
        guard transaction.model != nil else { return }
        try transaction.links.checkPrivacy(of: place)
        guard let name = record.name,
            try ObjectGraph.isConnected(record, name, transaction.connection)
        else { return }
        throw RecordError(
            .notPermitted,
            "objects that it is related to would stay in the old zone. recordfs mv moves them with "
                + "it")
    }

    /// Keeps the times of edits that were made here and not sent: the move is not an edit.
    private func carryStamps(
        of record: StoredRow, named name: RecordName, to copy: SaveResult,
        _ newName: RecordName, _ place: TypePlace
    ) throws(RecordError) {
        guard copy.outcome == .created, let version = copy.version,
            let base = try transaction.outbox.acknowledgedDocument(of: record.id, place.name),
            let text = try transaction.connection.records.savedText(of: copy.id)
        else { return }
        let edits = try transaction.merging.unsentEdits(
            of: try transaction.outbox.document(text, of: copy.id, place).fields, since: base, name,
            record.zone)
        guard let last = edits.values.map(\.stamp.time).max() else { return }
        try transaction.merging.setStamp(last - 1, of: version)
        let token = try transaction.records.addHistory(
            .updated, copy.id, newName, try transaction.records.requireRecord(copy.id).generation,
            place,
            fields: edits.keys.sorted(), text: text, hasAssets: copy.entry.hasAssets)
        try transaction.merging.setStamp(last, of: token)
    }

    /// Notes where a renamed record is, until its deletion is final.
    func noteRename(of record: StoredRow, to copy: RecordID) throws(RecordError) {
        guard record.state == .saved, let target = try transaction.connection.records.stored(copy),
            let name = target.name
        else { return }
        try transaction.connection.run(
            "INSERT OR REPLACE INTO renamed (record_id, zone_id, name) VALUES (?, ?, ?)",
            [.integer(record.id.rawValue), .integer(target.zone.rawValue), .name(name)])
    }

    /// Notes the move of a renamed record whose deletion is about to be sent.
    func noteMove(ofRenamed record: StoredRow, _ name: RecordName) throws(RecordError) {
        guard let copy = try transaction.connection.renamed(record.id), let newName = copy.name
        else { return }
        try noteMove(from: name, record.zone, to: newName, copy.zone, tree: record.id)
        transaction.records.noteMoved(record.id, to: copy.id)
    }
}

extension SQLConnection {
    /// Returns the record to which a record that waits for its deletion was renamed, while that
    /// record exists.
    package func renamed(_ record: RecordID) throws(RecordError) -> StoredRow? {
        let target = try first(
            "SELECT zone_id, name FROM renamed WHERE record_id = ?", [.integer(record.rawValue)]
        ) { (zone: ZoneID($0.int64(0)), name: RecordName(bytes: $0.bytes(1))) }
        guard let target else { return nil }
        return try records.stored(named: target.name, target.zone)
    }

    /// Returns the copy of the record that an outgoing deletion has moved, while that copy exists.
    package func copy(ofMoved row: OutboxRow) throws(RecordError) -> StoredRow? {
        let target = try first(
            "SELECT zone_id, name FROM move WHERE outbox_id = ?", [.integer(row.id)]
        ) { (zone: ZoneID($0.int64(0)), name: RecordName(bytes: $0.bytes(1))) }
        guard let target else { return nil }
        return try records.stored(named: target.name, target.zone)
    }

    /// Returns the present place of the record that a deletion has moved, in the same database.
    package func address(ofMoved row: OutboxRow) throws(RecordError) -> RecordAddress? {
        try first(
            """
            SELECT z.name, t.name, r.name FROM move m
            JOIN record r ON r.zone_id = m.zone_id AND r.name = m.name
            JOIN record_type t ON t.id = r.type_id
            JOIN zone z ON z.id = r.zone_id JOIN zone o ON o.id = ?2
            WHERE m.outbox_id = ?1 AND z.database = o.database AND z.owner = o.owner
            """, [.integer(row.id), .integer(row.zone.rawValue)]
        ) { columns in
            RecordAddress(
                zone: ZoneName(bytes: columns.bytes(0)),
                type: RecordTypeName(bytes: columns.bytes(1)),
                name: RecordName(bytes: columns.bytes(2)))
        }
    }
}
