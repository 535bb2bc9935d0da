package import RecordModel
import RecordSQL

/// The names under which records are shown. `record.stem` is only a copy of what their names
/// determine (`RecordName.shown`). Code that adds a name to a type, or removes one, updates the two
/// records that this affects: the record itself, and the record with the same name plus the type as
/// its ending.
extension RecordWriting {
    /// Returns the stem of a record with that name. The record need not exist yet.
    func stem(of name: RecordName, in place: TypePlace) throws(RecordError) -> Stem {
        Stem(
            encoding: try name.shown(in: place.name) { (short) throws(RecordError) in
                try transaction.connection.records.has(short, place)
            })
    }

    /// Returns the stem of a record that is about to get a name, and the row without a name that
    /// has this stem: a draft, or files that wait for their record. A record that had the stem
    /// moves to another one.
    package func freeStem(
        for name: RecordName, _ place: TypePlace
    ) throws(RecordError) -> (stem: Stem, draft: StoredRow?) {
        let stem = try stem(of: name, in: place)
        let there = try transaction.connection.records.stored(place.type, stem)
        guard let there, let other = there.name, other != name else { return (stem, there) }
        try setStem(of: there, to: Stem(encoding: other), place)
        return (stem, nil)
    }

    /// Updates the stems after a type got a new name: `NAME:TYPE` is now shown with its ending.
    func nameCame(_ name: RecordName, shownAs stem: Stem, _ place: TypePlace) throws(RecordError) {
        // If it is shown as it is, the other record has already moved to another stem.
        guard name.without(place.name) != nil, stem != Stem(encoding: name) else { return }
        try refreshStem(of: name.with(place.name), place)
    }

    /// Updates the stems after a name was removed from a type: `NAME:TYPE` is now shown as NAME.
    func nameWent(_ name: RecordName, _ place: TypePlace) throws(RecordError) {
        try refreshStem(of: name.with(place.name), place)
    }

    /// Updates the stem of a record after a name that affects it has changed.
    package func refreshStem(of name: RecordName, _ place: TypePlace) throws(RecordError) {
        guard let record = try transaction.connection.records.stored(named: name, place.zone.id),
            record.entry.type == place.type
        else { return }
        let stem = try stem(of: name, in: place)
        if stem != record.entry.stem { try setStem(of: record, to: stem, place) }
    }

    /// Shows the record under another name. If that name had a draft or waiting files without a
    /// record, these belong to the record from now on, as if they had just arrived there.
    private func setStem(
        of record: StoredRow, to stem: Stem, _ place: TypePlace
    ) throws(RecordError) {
        let draft = try transaction.connection.records.stored(place.type, stem)
        let kept = try draft.map { (draft) throws(RecordError) in try takeAway(draft) }
        if record.entry.hasAssets {
            for asset in try transaction.connection.records.assets(of: record.id) {
                transaction.assets.noteFormer(asset, isGone: false)
            }
        }
        try transaction.connection.run(
            "UPDATE record SET stem = ? WHERE id = ?",
            [.name(stem), .integer(record.id.rawValue)])
        try transaction.connection.run(
            "UPDATE conflict SET stem = ? WHERE record_id = ?",
            [.name(stem), .integer(record.id.rawValue)])
        transaction.stems.append(
            StemChange(
                type: place.type, record: record.id, former: record.entry.stem, stem: stem))
        try renameAssets(of: record, to: stem, place)
        try transaction.touch(place.type)
        transaction.note(
            .text, zone: record.zone, type: place.type, record: record.id, stem: stem,
            former: record.entry.stem)
        if let kept { try bring(kept, to: record, stem, place) }
    }

    /// The content of a row without a name.
    private struct Kept {
        let row: StoredRow
        let draft: Draft?
        let assets: [AssetEntry]
    }

    private func takeAway(_ row: StoredRow) throws(RecordError) -> Kept {
        guard row.name == nil else {
            throw RecordError(.corrupt, "Two records of a type show as \(row.entry.stem).")
        }
        let kept = Kept(
            row: row,
            draft: row.entry.isAwaited ? nil : try transaction.connection.records.draft(of: row.id),
            assets: try transaction.connection.records.assets(of: row.id).filter { $0.hash != nil })
        try replaceFile(of: row, .rewritten)
        transaction.referredAssets += kept.assets.compactMap(\.hash)
        try removeRows(of: row)
        return kept
    }

    private func bring(
        _ kept: Kept, to record: StoredRow, _ stem: Stem, _ place: TypePlace
    ) throws(RecordError) {
        if let draft = kept.draft, !draft.text.isEmpty {
            if record.entry.hasDraft || record.state == .waitingDelete {
                let name = stem.decoded ?? RecordName(bytes: stem.bytes)
                _ = try addTrash(
                    TrashRow(kept.row, name, place, transaction.author, isOwn: true), draft.text)
            } else {
                _ = try saveDraft(
                    text: draft.text, type: place.type, stem: stem, error: draft.error)
            }
        }
        guard let name = record.name, record.state == .saved else { return }
        var isChanged = false
        for asset in kept.assets {
            guard let hash = asset.hash,
                try transaction.connection.records.asset(record.id, asset.field, asset.index)
                    == nil,
                asset.index == nil
            else { continue }
            try transaction.assets.setAsset(
                record.id, asset.field, nil, hash, size: asset.size,
                fileExtension: asset.fileExtension)
            isChanged = true
        }
        guard isChanged else { return }
        try transaction.outbox.enqueue(
            .update, record.id, name, record.generation, place, alsoOfSync: true)
    }

    /// Gives the large fields the new name, in the text too. This is no news for other machines,
    /// which do the same.
    private func renameAssets(
        of record: StoredRow, to stem: Stem, _ place: TypePlace
    ) throws(RecordError) {
        guard record.entry.hasAssets else { return }
        guard let text = try transaction.connection.records.wholeSavedText(of: record.id) else {
            return
        }
        let document = try parse(text, place)
        let renamed = document.renamingAssets(to: stem)
        guard renamed != text else { return }
        try replaceFile(of: record, .rewritten, newText: record.entry.hasDraft ? nil : renamed)
        try putText(record.id, renamed)
        guard !record.entry.hasDraft else { return }
        try transaction.connection.run(
            "UPDATE record SET size = ? WHERE id = ?",
            [.integer(Int64(renamed.count)), .integer(record.id.rawValue)])
    }

    // MARK: New names

    /// Returns the record name for a new file: the name that is then shown as the file. A waiting
    /// deletion of another type frees its name, unless the server still has that record: a record
    /// on the server keeps its type.
    func freeName(_ stem: Stem, _ place: TypePlace) throws(RecordError) -> RecordName {
        guard let shown = stem.decoded else {
            throw RecordError(
                .invalidName, "\(stem).json is not the encoded form of a record name.")
        }
        for name in try transaction.connection.records.deletedFirst(
            shown.candidates(in: place.name), place)
        where try transaction.connection.records.isNameFor(shown, name, place) {
            if let other = try transaction.connection.records.stored(named: name, place.zone.id) {
                guard other.state == .waitingDelete,
                    try !transaction.connection.records.mayBeOnServer(name, place)
                else { continue }
                try finalizeDelete(other.id)
            }
            if try !transaction.connection.records.isOutgoing(name, otherThan: place) {
                return name
            }
        }
        throw try transaction.connection.records.noName(for: shown, place)
    }
}

extension RecordRows {
    /// Returns whether a type has a record with that name, including one that waits for its
    /// deletion.
    fileprivate func has(_ name: RecordName, _ place: TypePlace) throws(RecordError) -> Bool {
        try connection.exists(
            "SELECT 1 FROM record WHERE zone_id = ? AND name = ? AND type_id = ?",
            [.integer(place.zone.id.rawValue), .name(name), .integer(place.type.rawValue)])
    }

    /// Returns the names again, first the name of the record that was deleted here last, as long as
    /// its deletion was not sent. A user who deletes a file and makes it again means one record,
    /// and edits of others are merged into it. A record that has moved elsewhere does not count,
    /// because edits follow it.
    fileprivate func deletedFirst(
        _ names: [RecordName], _ place: TypePlace
    ) throws(RecordError) -> [RecordName] {
        guard place.zone.database.isSynced, names.count == 2 else { return names }
        let last = try connection.first(
            """
            SELECT name FROM outbox o WHERE zone_id = ?1 AND name IN (?2, ?3) AND operation = 3
                AND batch = 0 AND type = ?4
                AND NOT EXISTS (SELECT 1 FROM move WHERE outbox_id = o.id)
            ORDER BY last_at DESC, id DESC LIMIT 1
            """,
            [
                .integer(place.zone.id.rawValue), .name(names[0]), .name(names[1]),
                .name(place.name),
            ]
        ) { RecordName(bytes: $0.bytes(0)) }
        return last == names[1] ? [names[1], names[0]] : names
    }

    /// Returns whether a new record with that name would be shown as `shown`, and a server accepts
    /// the name.
    fileprivate func isNameFor(
        _ shown: RecordName, _ name: RecordName, _ place: TypePlace
    ) throws(RecordError) -> Bool {
        guard name == shown || name.bytes.count <= RecordName.maximumBytes else { return false }
        if name == shown, name.without(place.name) == nil { return true }
        let short = try name.shown(in: place.name) { (short) throws(RecordError) in
            try has(short, place)
        }
        return short == shown
    }

    /// Returns whether the server may have the record with this name, so that its deletion has to be
    /// sent.
    fileprivate func mayBeOnServer(
        _ name: RecordName, _ place: TypePlace
    ) throws(RecordError) -> Bool {
        guard place.zone.database.isSynced else { return false }
        return try !connection.exists(
            """
            SELECT 1 FROM outbox WHERE zone_id = ? AND name = ? AND operation = 1 AND batch = 0
                AND (attempts = 0 OR error IS NOT NULL)
            """, [.integer(place.zone.id.rawValue), .name(name)])
    }

    /// Returns whether a record with this name and another type has changes that the server does
    /// not have yet.
    func isOutgoing(
        _ name: RecordName, otherThan place: TypePlace
    ) throws(RecordError) -> Bool {
        guard place.zone.database.isSynced else { return false }
        return try connection.exists(
            "SELECT 1 FROM outbox WHERE zone_id = ? AND name = ? AND type != ?",
            [.integer(place.zone.id.rawValue), .name(name), .name(place.name)])
    }

    /// Throws an error unless a new file with that stem can become a record.
    func checkNameable(_ stem: Stem, _ place: TypePlace) throws(RecordError) {
        guard let shown = stem.decoded else { return }
        if shown.without(place.name) == nil, try isUnheardOf(shown, place) { return }
        for name in shown.candidates(in: place.name)
        where try isNameFor(shown, name, place) {
            let other = try stored(named: name, place.zone.id)
            if other == nil || other?.state == .waitingDelete,
                try !isOutgoing(name, otherThan: place)
            {
                return
            }
        }
        throw try noName(for: shown, place)
    }

    /// Returns whether nothing in the zone has the name. This is the usual case, in one statement.
    private func isUnheardOf(
        _ name: RecordName, _ place: TypePlace
    ) throws(RecordError) -> Bool {
        try !connection.exists(
            """
            SELECT 1 FROM record WHERE zone_id = ?1 AND name = ?2
            UNION ALL SELECT 1 FROM outbox WHERE zone_id = ?1 AND name = ?2 AND type != ?3
            """, [.integer(place.zone.id.rawValue), .name(name), .name(place.name)])
    }

    fileprivate func noName(
        for shown: RecordName, _ place: TypePlace
    ) throws(RecordError) -> RecordError {
        if let record = try stored(named: shown, place.zone.id), record.entry.type == place.type {
            return RecordError(
                .invalidName,
                "the record \(shown) is here already: its file is \(record.entry.stem).json.")
        }
        return RecordError(
            .alreadyExists,
            "other types of the zone have records with the names \(shown) and "
                + "\(shown.with(place.name)). Take another name.")
    }
}

extension RecordHistory {
    /// Throws `invalidName` or `alreadyExists`, with the reason, where a new file with that stem
    /// cannot become a record.
    package func checkNameable(
        _ stem: Stem, in type: TypeID, named name: RecordTypeName, of zone: ZoneInfo
    ) throws(RecordError) {
        let place = TypePlace(type: type, name: name, zone: zone)
        try store.read { connection throws(RecordError) in
            try connection.records.checkNameable(stem, place)
        }
    }
}
