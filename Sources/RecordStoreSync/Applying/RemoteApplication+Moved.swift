import RecordModel
import RecordSQL
import RecordStore

/// Edits of records that were renamed, or moved to another type or zone. The user who moved a
/// record did not know of the edit, or the user who edited it did not know of the move. The edits
/// follow the record, so that all of them are in one record, at its present place.
extension RemoteApplication {
    /// The tag of a record that this machine has not yet received at its present place. No server
    /// gives it.
    private static let unseenTag = "0"

    /// The result of an edit of a record, and its origin.
    private struct Edit {
        let document: RecordDocument
        let base: RecordDocument?
        /// Indicates whether this machine made the edit.
        let isMine: Bool
        let stamps: [FieldName: FieldStamp]
    }

    // MARK: Moved here, edited elsewhere

    /// Applies an edit of another user to a record that this machine has moved, when the server did
    /// not know of the move.
    ///
    /// - Parameter shown: the text of its file. The file may return to this place by another user's
    ///   move.
    /// - Returns: nil when the record was deleted here and not moved.
    func followOwnMove(
        _ change: RemoteChange, _ remote: RecordDocument, shown: [UInt8]
    ) throws(RecordError) -> RemoteResult? {
        guard let row = try outgoing(change.name), row.operation == .delete,
            let copy = try connection.copy(ofMoved: row), copy.state != .draftOnly
        else { return nil }
        let base = try connection.sync.base(ofDelete: row.id).flatMap {
            (base) throws(RecordError) in
            try transaction.outbox.document(of: base, change.type)
        }
        let edit = Edit(
            document: remote, base: base, isMine: false, stamps: change.stamps)
        let told = try keepTold(
            shown, remote, since: base, change, of: row.record, row.generation)
        try bring(edit, change, into: copy)
        try transaction.merging.putBase(ofDelete: row.id, change.changeTag, told)
        try replaceStamps(of: change)
        return RemoteResult(outcome: .updated, id: copy.id, conflicts: [])
    }

    /// Does the same while the old name waits for its deletion, or when another record has the name
    /// here by now, which the server does not know either.
    func followOwnRename(
        _ existing: StoredRow, _ remote: RecordDocument, _ change: RemoteChange,
        _ place: TypePlace, isPending: Bool
    ) throws(RecordError) -> RemoteResult? {
        let renamed =
            existing.state == .waitingDelete ? try connection.renamed(existing.id) : nil
        let isRenamed = renamed.map { $0.state != .draftOnly } ?? false
        let copy =
            if isRenamed { renamed } else if isPending {
                try copyOfNext(existing, remote, change)
            } else { nil as StoredRow? }
        guard let copy else { return nil }
        let edit = Edit(
            document: remote, base: try acknowledged(existing.id, place), isMine: false,
            stamps: change.stamps)
        let shown = try whole(
            fileText(
                of: change, printed: remote.text, as: existing.entry.stem, of: existing.id),
            remote, change.type)
        // It is no version of the next record, because that record never had these values.
        let told =
            isRenamed
            ? try keepTold(
                shown, remote, since: edit.base, change, of: existing.id, existing.generation)
            : .text(shown)
        try bring(edit, change, into: copy)
        try transaction.merging.putBase(existing.id, change.changeTag, told, change.textOnServer)
        // An edit from before the rename is an edit of the renamed record.
        if isRenamed, isPending { try forgetPending(change.name) }
        return RemoteResult(outcome: .updated, id: copy.id, conflicts: [])
    }

    /// Returns the copy of the record that had the name before, when the server's change is about
    /// that record, and not about a sent version of the next one.
    private func copyOfNext(
        _ existing: StoredRow, _ remote: RecordDocument, _ change: RemoteChange
    ) throws(RecordError) -> StoredRow? {
        guard let copy = try copyOfDeparted(change.name),
            try connection.sync.baseTag(of: existing.id)?.tag != change.changeTag,
            try sentVersion(of: change, with: remote.text) == nil
        else { return nil }
        return copy
    }

    /// Returns the record that had the name before the record that waits to be sent. Returns nil
    /// for an edit of a record that the server has under that name.
    func copyOfDeparted(_ name: RecordName) throws(RecordError) -> StoredRow? {
        guard let row = try outgoing(name), row.operation == .update,
            let copy = try connection.copy(ofMoved: row), copy.state != .draftOnly
        else { return nil }
        return copy
    }

    /// Makes the server create a record that never was the deleted record with the same name there.
    func makeNext(_ existing: StoredRow, _ change: RemoteChange) throws(RecordError) {
        try connection.run(
            """
            DELETE FROM move WHERE outbox_id IN (
                SELECT id FROM outbox WHERE zone_id = ? AND name = ?)
            """, [.integer(zone.rawValue), .name(change.name)])
        try connection.run(
            "DELETE FROM base WHERE record_id = ?", [.integer(existing.id.rawValue)])
        try setPending(change.name, .update, to: .create)
    }

    /// Keeps the server's state of the record at its old place. A state with large fields becomes a
    /// version of that record: their content is found through the version, and the deletion waits
    /// as long as no other record of the server has that content.
    func keepTold(
        _ text: [UInt8], _ document: RecordDocument, since base: RecordDocument?,
        _ change: RemoteChange, of record: RecordID, _ generation: Int64
    ) throws(RecordError) -> BaseContent {
        let assets = KeptAsset.all(in: document.fields)
        guard !assets.isEmpty else { return .text(text) }
        // Its type and its zone may no longer exist here. They are not created again for this
        // purpose.
        let zone = try connection.first(
            "SELECT \(Columns.zone) FROM zone WHERE id = ?", [.integer(self.zone.rawValue)]
        ) { $0.zone() }
        guard let zone else { return .text(text) }
        let place = TypePlace(type: TypeID(0), name: change.type, zone: zone)
        let fields = FieldMerge.changedFields(
            from: base?.fields ?? [], to: document.fields)
        let token = try transaction.records.addHistory(
            .updated, record, change.name, generation, place,
            fields: fields, text: text, hasAssets: false)
        for asset in assets { try transaction.records.keep(asset, holder: .history, token) }
        return .version(token)
    }

    // MARK: Edited here, moved elsewhere

    /// Moves the unsent edits of this machine into the record at its new place. Depending on which
    /// feed was downloaded first, this machine may know that place already.
    ///
    /// - Returns: false when another record has that name.
    func follow(
        _ existing: StoredRow, _ change: RemoteChange, to address: RecordAddress
    ) throws(RecordError) -> Bool {
        let info = try transaction.requireZone(self.zone)
        let zone =
            address.zone == info.name
            ? info : try transaction.makeZone(info.database, info.owner, address.zone)
        let place = try transaction.place(try transaction.makeType(zone.id, address.type).id)
        let there = try recordFollowed(to: address.name, place)
        guard there == nil || there?.entry.type == place.type,
            let text = try connection.records.savedText(of: existing.id)
        else { return false }
        let old = try transaction.place(existing.entry.type)
        let local = try transaction.outbox.document(text, of: existing.id, old)
        // A restored server may no longer have the state that it acknowledged before. All is an
        // edit then.
        // The same applies when the record there has taken over its name: it has nothing of the old
        // record.
        let isNext = if let there { try endSuccession(of: there, to: existing) } else { false }
        let base = try restoredPass == nil && !isNext ? acknowledged(existing.id, old) : nil
        let fields = FieldMerge.changedFields(from: base?.fields ?? [], to: local.fields)
        let edit = Edit(
            document: local, base: base, isMine: true,
            stamps: try transaction.merging.lastEdits(of: fields, change.name, existing.zone)
                .mapValues(\.stamp))
        let target =
            if let there { there } else {
                try makePlaceholder(of: existing, local, since: base, address, place)
            }
        try bring(edit, change, into: target)
        if let draft = try connection.records.draft(of: existing.id) {
            try bring(draft, of: existing, old, to: target, place)
        }
        try transaction.assets.copyPin(of: existing.id, to: target.id)
        if try connection.hasMoves(), let name = target.name {
            try transaction.moves.passMoves(from: change.name, self.zone, to: name, target.zone)
        }
        try forgetPending(change.name)
        try transaction.records.finalizeDelete(existing.id)
        transaction.records.noteMoved(existing.id, to: target.id)
        return true
    }

    /// Keeps the refused text of a record that is somewhere else now: in the file there, or in the
    /// trash where that file shows another refused text.
    private func bring(
        _ draft: Draft, of existing: StoredRow, _ old: TypePlace, to target: StoredRow,
        _ place: TypePlace
    ) throws(RecordError) {
        guard target.entry.hasDraft else {
            _ = try transaction.records.saveDraft(
                text: draft.text, type: place.type,
                stem: try transaction.records.requireEntry(target.id).stem, error: draft.error)
            return
        }
        guard !draft.text.isEmpty, let name = existing.name else { return }
        _ = try transaction.records.addTrash(
            TrashRow(existing, name, old, .mount, isOwn: true), draft.text)
    }

    /// Returns the record that has the name at the new place. A record of another type that was
    /// never sent has the name only on this machine, and makes room.
    private func recordFollowed(
        to name: RecordName, _ place: TypePlace
    ) throws(RecordError) -> StoredRow? {
        guard let record = try connection.records.stored(named: name, place.zone.id) else {
            return nil
        }
        guard record.entry.type != place.type, try connection.sync.baseTag(of: record.id) == nil
        else {
            return record
        }
        _ = try transaction.feed.makeRoom(record, of: name, isEdited: true)
        // A record that waited for its deletion has nothing left to send.
        try connection.run(
            "DELETE FROM outbox WHERE zone_id = ? AND name = ? AND record_id = ? AND batch = 0",
            [.integer(place.zone.id.rawValue), .name(name), .integer(record.id.rawValue)])
        return nil
    }

    /// Merges two records into one. This machine has moved the first and given its name to the
    /// second, and another user has moved the first back to that name.
    func joinNext(
        _ existing: StoredRow, _ change: RemoteChange, at address: RecordAddress
    ) throws(RecordError) {
        guard let next = try stored(at: address), try endSuccession(of: next, to: existing),
            let text = try connection.records.savedText(of: existing.id)
        else { return }
        let place = try transaction.place(existing.entry.type)
        let document: RecordDocument
        do throws(RecordError) {
            document = try transaction.outbox.document(text, of: existing.id, place)
        } catch  where error.isAboutContent {
            // The text stays in the history unchanged.
            return
        }
        let edits = try transaction.merging.lastEdits(
            of: document.fields.map(\.name), change.name, existing.zone)
        let edit = Edit(
            document: document, base: nil, isMine: false, stamps: edits.mapValues(\.stamp))
        try bring(edit, change, into: next)
    }

    /// Assigns further changes of the name to the record that has it now.
    ///
    /// - Returns: whether that record took the name of the departed one, to which changes of the
    ///   name belonged until now.
    private func endSuccession(
        of next: StoredRow, to departed: StoredRow
    ) throws(RecordError) -> Bool {
        guard let name = next.name, let departedName = departed.name else { return false }
        let rows = try connection.all(
            """
            DELETE FROM move WHERE zone_id = ?1 AND name = ?2 AND outbox_id IN (
                SELECT id FROM outbox WHERE zone_id = ?3 AND name = ?4 AND operation = 2)
            RETURNING outbox_id
            """,
            [
                .integer(departed.zone.rawValue), .name(departedName),
                .integer(next.zone.rawValue), .name(name),
            ]
        ) { $0.int64(0) }
        return !rows.isEmpty
    }

    /// Returns the record that is at an address of the zone's owner now.
    func stored(at address: RecordAddress) throws(RecordError) -> StoredRow? {
        let info = try transaction.requireZone(self.zone)
        guard let zone = try connection.records.zone(info.database, info.owner, address.zone) else {
            return nil
        }
        return try connection.records.stored(named: address.name, zone.id)
    }

    /// Notes where an object is that has left its name, for the keys that lead to it.
    func noteWhereabouts(_ change: RemoteChange) throws(RecordError) {
        guard transaction.model != nil else { return }
        guard let address = change.movedTo else {
            return try transaction.links.noteDeleted(change.name, in: zone)
        }
        // This zone may be removed here, and the other one not be there yet.
        let target = try connection.first(
            """
            SELECT n.id FROM zone o JOIN zone n ON n.database = o.database AND n.owner = o.owner
            WHERE o.id = ? AND n.name = ?
            """, [.integer(zone.rawValue), .name(address.zone)]
        ) { ZoneID($0.int64(0)) }
        try transaction.links.noteMoved(
            from: change.name, zone, to: address.name, target ?? ZoneID(0))
    }

    /// Returns whether a record that this machine moved away from an address is there again by
    /// another user's move. The server does not know of this machine's move, or the old name still
    /// waits for its deletion. The record must not be deleted there.
    func isMovedBack(
        _ name: RecordName, to address: RecordAddress
    ) throws(RecordError) -> Bool {
        try connection.exists(
            """
            SELECT 1 FROM move m JOIN outbox o ON o.id = m.outbox_id JOIN zone z ON z.id = o.zone_id
            WHERE m.zone_id = ?1 AND m.name = ?2 AND o.operation = 3 AND o.batch = 0
                AND o.name = ?3 AND z.name = ?4
            UNION ALL
            SELECT 1 FROM renamed n JOIN record r ON r.id = n.record_id JOIN zone z ON z.id = r.zone_id
            WHERE n.zone_id = ?1 AND n.name = ?2 AND r.state = 2 AND r.name = ?3 AND z.name = ?4
            """,
            [
                .integer(zone.rawValue), .name(name), .name(address.name), .name(address.zone),
            ])
    }

    /// Creates the record at its new place in the state from before the edit. The server's state of
    /// it arrives later, and is then merged with the edit from this base. The text has the layout
    /// of the file on this machine.
    ///
    /// When this machine had moved the record away from there, and another user has moved it back,
    /// its deletion there is taken back. The server may have reported the record already. The new
    /// record then has the state that the deletion knew.
    private func makePlaceholder(
        of existing: StoredRow, _ local: RecordDocument, since base: RecordDocument?,
        _ address: RecordAddress, _ place: TypePlace
    ) throws(RecordError) -> StoredRow {
        let told = try takeBackDelete(of: address.name, place)
        let (stem, draft) = try transaction.records.freeStem(for: address.name, place)
        let fields = base?.fields ?? []
        let edited = FieldMerge.changedFields(from: local.fields, to: fields)
        let text =
            told?.document.text
            ?? local.replacing(
                edited.map { ($0, base?[$0]) },
                parent: local.parent == base?.parent ? nil : .some(base?.parent))
        var new = RecordWriting.NewState(
            text: try transaction.records.parse(text, place).renamingAssets(to: stem), place: place,
            stem: stem)
        new.name = address.name
        new.created = existing.entry.created
        new.createdBy = existing.createdBy
        new.modified = existing.entry.modified
        new.knownAssets = KeptAsset.all(in: told?.document.fields ?? fields)
        let made = try transaction.records.keepingDraft(of: draft) { () throws(RecordError) in
            try transaction.records.create(new, over: draft, id: nil)
        }
        try transaction.merging.putBase(
            made.id, told?.changeTag ?? Self.unseenTag,
            made.version.map { .version($0) } ?? .text(new.text), .sent)
        return try transaction.records.requireRecord(made.id)
    }

    /// Takes back a deletion that was not sent yet.
    ///
    /// - Returns: the record as the server had it last. It is nil when that is not known.
    private func takeBackDelete(
        of name: RecordName, _ place: TypePlace
    ) throws(RecordError) -> (document: RecordDocument, changeTag: String)? {
        guard let row = try connection.sync.unclaimed(name, place.zone.id), row.operation == .delete
        else { return nil }
        let base = try connection.sync.base(ofDelete: row.id)
        try connection.run("DELETE FROM outbox WHERE id = ?", [.integer(row.id)])
        guard let base, row.type == place.name,
            let document = try transaction.outbox.document(of: base, place.name)
        else { return nil }
        return (document, base.changeTag)
    }

    // MARK: Both

    /// Merges an edit of a record into the present state of the record. When a field was changed on
    /// both sides, the later value wins, and a conflict lists the other one.
    private func bring(
        _ edit: Edit, _ change: RemoteChange, into target: StoredRow
    ) throws(RecordError) {
        let place = try transaction.place(target.entry.type)
        guard let name = target.name, let text = try connection.records.savedText(of: target.id)
        else { return }
        let known = try toldWhileWaiting(target, place)
        let local =
            if let known { known } else {
                try transaction.outbox.document(text, of: target.id, place)
            }
        let edited = edit.document.fields.renamingAssets(to: target.entry.stem)
        let changed = FieldMerge.changedFields(
            from: edit.base?.fields ?? [], to: edit.document.fields)
        let edits = try transaction.merging.lastEdits(of: changed, name, target.zone)
        var won: [FieldName] = []
        // The time at which others changed these fields there is no longer known here. The server
        // reports it when it receives the edit.
        var open: Set<FieldName> = []
        let (merged, conflicts) = try transaction.merging.merge(
            local, with: edited ?? edit.document.fields, parent: edit.document.parent,
            since: edit.base, isLater: { _ in false },
            resolve: { conflict in
                if let lines = conflict.mergedLines { return .both(lines) }
                guard conflict.name != .parent, conflict.remote != nil else { return .local }
                if edit.isMine, edits[conflict.name]?.author == .sync {
                    open.insert(conflict.name)
                    return .remote
                }
                if conflict.local != nil, let stamp = edit.stamps[conflict.name],
                    let other = edits[conflict.name], stamp < other.stamp
                {
                    return .local
                }
                won.append(conflict.name)
                return .remote
            })
        let decided = conflicts.filter { !open.contains($0) }
        if !decided.isEmpty {
            let (mine, theirs) =
                edit.isMine ? (edit.document.text, local.text) : (local.text, edit.document.text)
            try noteConflict(
                change, of: target, in: place, fields: decided,
                theirsStood: edit.isMine ? decided.filter { !won.contains($0) } : won,
                base: edit.base?.text, mine: mine, theirs: theirs)
        }
        if isOfOthers, !edit.isMine {
            for field in edited ?? edit.document.fields where changed.contains(field.name) {
                try transaction.sharing.noteForeign(field, in: target.id, isTaken: true)
            }
        }
        guard merged != text || target.state == .waitingDelete else { return }
        var new = RecordWriting.NewState(
            text: merged, place: place, stem: target.entry.stem)
        new.modified = change.modified
        if known != nil {
            new.knownAssets = KeptAsset.all(in: try transaction.records.parse(merged, place).fields)
        }
        let saved = try transaction.records.keepingDraft(of: target) { () throws(RecordError) in
            try transaction.records.update(target, to: new)
        }
        if let version = saved.version, let time = edit.stamps.values.map(\.time).max() {
            // The edit keeps its own time: changes that others have made there since are later.
            try transaction.merging.setStamp(time, of: version, by: .mount)
        }
        if !open.isEmpty { try putBase(of: target, place, with: open, of: edit) }
        try transaction.links.doubtKeys(of: target, named: name, place)
        try transaction.outbox.enqueue(
            .update, target.id, name, target.generation, place, alsoOfSync: true)
    }

    /// Returns the server's state of the target, when it was renamed and waits for its deletion.
    /// Later changes of the server were merged into the renamed record.
    private func toldWhileWaiting(
        _ target: StoredRow, _ place: TypePlace
    ) throws(RecordError) -> RecordDocument? {
        guard target.state == .waitingDelete, try connection.renamed(target.id) != nil,
            let told = try acknowledged(target.id, place)
        else { return nil }
        return try transaction.records.parse(told.renamingAssets(to: target.entry.stem), place)
    }

    /// Stores the server's state of a target from before the edit of these fields. The other fields
    /// keep the state that is known here. The target may be the record that was there before the
    /// move, and the server may have more changes of it.
    private func putBase(
        of target: StoredRow, _ place: TypePlace, with fields: Set<FieldName>, of edit: Edit
    ) throws(RecordError) {
        var base = try printed([], nil, place.name)
        if let text = edit.base?.text { base = text }
        if let known = try acknowledged(target.id, place) {
            base = known.replacing(
                fields.sorted().map { ($0, edit.base?[$0]) })
        }
        try transaction.merging.putBase(target.id, Self.unseenTag, .text(base), .sent)
    }
}
