import RecordModel
import RecordSQL

/// Edits of records that were renamed, or moved to another type or zone, by somebody who did not know
/// of the edit, or was not known to have moved them: they follow, and are in one record, where that is
/// now.
extension RemoteApplication {
    /// The tag of a record that nobody here has seen where it is now: no server gives it.
    private static let unseenTag = "0"

    /// What an edit made of a record, and whose it is.
    private struct Edit {
        let document: RecordDocument
        let base: RecordDocument?
        /// Whether it is of this machine.
        let isMine: Bool
        let stamps: [FieldName: FieldStamp]
    }

    // MARK: Moved here, edited elsewhere

    /// Somebody has edited what this machine has moved, before the server was told.
    ///
    /// - Parameter shown: the text of its file, which may come back here by somebody else's move.
    /// - Returns: nil for what was deleted here.
    func followOwnMove(
        _ change: RemoteChange, _ remote: RecordDocument, shown: [UInt8]
    ) throws(RecordError) -> RemoteResult? {
        guard let row = try outgoing(change.name), row.operation == .delete,
            let copy = try connection.copy(ofMoved: row), copy.state != .draftOnly
        else { return nil }
        let base = try connection.base(ofDelete: row.id).flatMap { (base) throws(RecordError) in
            try transaction.document(of: base, change.type)
        }
        let edit = Edit(
            document: remote, base: base, isMine: false, stamps: change.stamps)
        let told = try keepTold(
            shown, remote, since: base, change, of: row.record, row.generation)
        try bring(edit, change, into: copy)
        try transaction.putBase(ofDelete: row.id, change.changeTag, told)
        try replaceStamps(of: change)
        return RemoteResult(outcome: .updated, id: copy.id, conflicts: [])
    }

    /// Does the same while the old name waits for its deletion, or has another record here by now, of which
    /// the server was not told either.
    func followOwnRename(
        _ existing: StoredRecord, _ remote: RecordDocument, _ change: RemoteChange,
        _ place: TypePlace, isPending: Bool
    ) throws(RecordError) -> RemoteResult? {
        let renamed =
            existing.state == .waitingDelete ? try connection.renamed(existing.id) : nil
        let isRenamed = renamed.map { $0.state != .draftOnly } ?? false
        let copy =
            if isRenamed { renamed } else if isPending {
                try copyOfNext(existing, remote, change)
            } else { nil as StoredRecord? }
        guard let copy else { return nil }
        let edit = Edit(
            document: remote, base: try acknowledged(existing.id, place), isMine: false,
            stamps: change.stamps)
        let shown = try whole(
            fileText(
                of: change, printed: remote.text, as: existing.entry.stem, of: existing.id),
            remote, change.type)
        // Of the next record it is no version: nobody has given that these values.
        let told =
            isRenamed
            ? try keepTold(
                shown, remote, since: edit.base, change, of: existing.id, existing.generation)
            : .text(shown)
        try bring(edit, change, into: copy)
        try transaction.putBase(existing.id, change.changeTag, told, change.textOnServer)
        // What was edited here before it was renamed is an edit of what it was renamed to.
        if isRenamed, isPending { try forgetPending(change.name) }
        return RemoteResult(outcome: .updated, id: copy.id, conflicts: [])
    }

    /// Gives the copy of the record that had the name before, when the server tells news of that, and not of
    /// what was sent of the next one.
    private func copyOfNext(
        _ existing: StoredRecord, _ remote: RecordDocument, _ change: RemoteChange
    ) throws(RecordError) -> StoredRecord? {
        guard let copy = try copyOfDeparted(change.name),
            try connection.baseTag(of: existing.id)?.tag != change.changeTag,
            try sentVersion(of: change, with: remote.text) == nil
        else { return nil }
        return copy
    }

    /// Gives the record that had the name before the one which is to be sent; nil for an edit of one
    /// that the server has under that name.
    func copyOfDeparted(_ name: RecordName) throws(RecordError) -> StoredRecord? {
        guard let row = try outgoing(name), row.operation == .update,
            let copy = try connection.copy(ofMoved: row), copy.state != .draftOnly
        else { return nil }
        return copy
    }

    /// Has a record made on the server that never was the one which is gone there and had its name.
    func makeNext(_ existing: StoredRecord, _ change: RemoteChange) throws(RecordError) {
        try connection.run(
            """
            DELETE FROM move WHERE outbox_id IN (
                SELECT id FROM outbox WHERE zone_id = ? AND name = ?)
            """, [.integer(zone.rawValue), .name(change.name)])
        try connection.run(
            "DELETE FROM base WHERE record_id = ?", [.integer(existing.id.rawValue)])
        try setPending(change.name, .update, to: .create)
    }

    /// Keeps what the server has where the record was. With large fields it is a version of that: by it their bytes
    /// are found, and the deletion waits, as long as no other record of the server has them.
    func keepTold(
        _ text: [UInt8], _ document: RecordDocument, since base: RecordDocument?,
        _ change: RemoteChange, of record: RecordID, _ generation: Int64
    ) throws(RecordError) -> BaseContent {
        let assets = KeptAsset.all(in: document.fields)
        guard !assets.isEmpty else { return .text(text) }
        // Its type, and its zone, may be gone here, and do not come back for that.
        let zone = try connection.first(
            "SELECT \(Columns.zone) FROM zone WHERE id = ?", [.integer(self.zone.rawValue)]
        ) { $0.zone() }
        guard let zone else { return .text(text) }
        let place = TypePlace(type: TypeID(0), name: change.type, zone: zone)
        let fields = FieldMerge.changedFields(
            from: base?.fields ?? [], to: document.fields)
        let token = try transaction.addHistory(
            .updated, record, change.name, generation, place,
            fields: fields, text: text, hasAssets: false)
        for asset in assets { try transaction.keep(asset, holder: .history, token) }
        return .version(token)
    }

    // MARK: Edited here, moved elsewhere

    /// What was edited here and not sent goes where the record is. Whether that is known here already
    /// depends on which feed came first.
    ///
    /// - Returns: false where another record has that name.
    func follow(
        _ existing: StoredRecord, _ change: RemoteChange, to address: RecordAddress
    ) throws(RecordError) -> Bool {
        let info = try transaction.requireZone(self.zone)
        let zone =
            address.zone == info.name
            ? info : try transaction.makeZone(info.database, info.owner, address.zone)
        let place = try transaction.place(try transaction.makeType(zone.id, address.type).id)
        let there = try recordFollowed(to: address.name, place)
        guard there == nil || there?.entry.type == place.type,
            let text = try connection.savedText(of: existing.id)
        else { return false }
        let old = try transaction.place(existing.entry.type)
        let local = try transaction.document(text, of: existing.id, old)
        // What a restored server had acknowledged before it may not have any more: then all is an edit.
        // Nor has what took its place here anything of what it was.
        let isNext = if let there { try endSuccession(of: there, to: existing) } else { false }
        let base = try restoredPass == nil && !isNext ? acknowledged(existing.id, old) : nil
        let fields = FieldMerge.changedFields(from: base?.fields ?? [], to: local.fields)
        let edit = Edit(
            document: local, base: base, isMine: true,
            stamps: try transaction.lastEdits(of: fields, change.name, existing.zone)
                .mapValues(\.stamp))
        let target =
            if let there { there } else {
                try makePlaceholder(of: existing, local, since: base, address, place)
            }
        try bring(edit, change, into: target)
        if let draft = try connection.draft(of: existing.id), !target.entry.hasDraft {
            _ = try transaction.saveDraft(
                text: draft.text, type: place.type,
                stem: try transaction.requireEntry(target.id).stem, error: draft.error)
        }
        try transaction.copyPin(of: existing.id, to: target.id)
        if try connection.hasMoves(), let name = target.name {
            try transaction.passMoves(from: change.name, self.zone, to: name, target.zone)
        }
        try forgetPending(change.name)
        try transaction.finalizeDelete(existing.id)
        transaction.noteMoved(existing.id, to: target.id)
        return true
    }

    /// Gives the record that has the name of one which is there by now. One of another type that was never
    /// sent only has the name here, and makes room.
    private func recordFollowed(
        to name: RecordName, _ place: TypePlace
    ) throws(RecordError) -> StoredRecord? {
        guard let record = try connection.stored(named: name, place.zone.id) else { return nil }
        guard record.entry.type != place.type, try connection.baseTag(of: record.id) == nil else {
            return record
        }
        _ = try transaction.makeRoom(record, of: name, isEdited: true)
        // Nothing is left to be sent of one that waited for its deletion.
        try connection.run(
            "DELETE FROM outbox WHERE zone_id = ? AND name = ? AND record_id = ? AND batch = 0",
            [.integer(place.zone.id.rawValue), .name(name), .integer(record.id.rawValue)])
        return nil
    }

    /// Makes one of two records: this machine has moved the first, and given its name to the other, and
    /// somebody else has moved the first back there.
    func joinNext(
        _ existing: StoredRecord, _ change: RemoteChange, at address: RecordAddress
    ) throws(RecordError) {
        guard let next = try stored(at: address), try endSuccession(of: next, to: existing),
            let text = try connection.savedText(of: existing.id)
        else { return }
        let place = try transaction.place(existing.entry.type)
        let document: RecordDocument
        do throws(RecordError) {
            document = try transaction.document(text, of: existing.id, place)
        } catch  where error.isAboutContent {
            // It stays in history, as it is.
            return
        }
        let edits = try transaction.lastEdits(
            of: document.fields.map(\.name), change.name, existing.zone)
        let edit = Edit(
            document: document, base: nil, isMine: false, stamps: edits.mapValues(\.stamp))
        try bring(edit, change, into: next)
    }

    /// From now on news of the name are of the record that has it.
    ///
    /// - Returns: whether it had the name of the departed one, of which news were until now.
    private func endSuccession(
        of next: StoredRecord, to departed: StoredRecord
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

    /// The record that is at an address of the zone's owner by now.
    func stored(at address: RecordAddress) throws(RecordError) -> StoredRecord? {
        let info = try transaction.requireZone(self.zone)
        guard let zone = try connection.zone(info.database, info.owner, address.zone) else {
            return nil
        }
        return try connection.stored(named: address.name, zone.id)
    }

    /// Says whether what was moved here from somewhere, which the server was not told, also where the old
    /// name still waits for its deletion, is there by the move of somebody else: it may not be deleted there.
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

    /// The record as it was before the edit, where it is now: what the server has there is told later,
    /// and merged with the edit since this. It is written as the file is here.
    ///
    /// What was moved from there to here, and is back by somebody else's move, is deleted no more: then
    /// the server may have told already, and it is as the deletion knows it.
    private func makePlaceholder(
        of existing: StoredRecord, _ local: RecordDocument, since base: RecordDocument?,
        _ address: RecordAddress, _ place: TypePlace
    ) throws(RecordError) -> StoredRecord {
        let told = try takeBackDelete(of: address.name, place)
        let (stem, draft) = try transaction.freeStem(for: address.name, place)
        let fields = base?.fields ?? []
        let edited = FieldMerge.changedFields(from: local.fields, to: fields)
        let text =
            told?.document.text
            ?? local.replacing(
                edited.map { ($0, base?[$0]) },
                parent: local.parent == base?.parent ? nil : .some(base?.parent))
        var new = Transaction.NewState(
            text: try transaction.parse(text, place).renamingAssets(to: stem), place: place,
            stem: stem)
        new.name = address.name
        new.created = existing.entry.created
        new.createdBy = existing.createdBy
        new.modified = existing.entry.modified
        new.knownAssets = KeptAsset.all(in: told?.document.fields ?? fields)
        let made = try transaction.keepingDraft(of: draft) { () throws(RecordError) in
            try transaction.create(new, over: draft, id: nil)
        }
        try transaction.putBase(
            made.id, told?.changeTag ?? Self.unseenTag,
            made.version.map { .version($0) } ?? .text(new.text), .sent)
        return try transaction.requireRecord(made.id)
    }

    /// A deletion that was not sent yet is none any more.
    /// - Returns: the record as the server had it last; nil where that is not known.
    private func takeBackDelete(
        of name: RecordName, _ place: TypePlace
    ) throws(RecordError) -> (document: RecordDocument, changeTag: String)? {
        guard let row = try connection.unclaimed(name, place.zone.id), row.operation == .delete
        else { return nil }
        let base = try connection.base(ofDelete: row.id)
        try connection.run("DELETE FROM outbox WHERE id = ?", [.integer(row.id)])
        guard let base, row.type == place.name,
            let document = try transaction.document(of: base, place.name)
        else { return nil }
        return (document, base.changeTag)
    }

    // MARK: Both

    /// Merges an edit of a record into what the record is now. Of a field that was changed on both ways
    /// the later value stands, and the other is in a conflict.
    private func bring(
        _ edit: Edit, _ change: RemoteChange, into target: StoredRecord
    ) throws(RecordError) {
        let place = try transaction.place(target.entry.type)
        guard let name = target.name, let text = try connection.savedText(of: target.id) else {
            return
        }
        let known = try toldWhileWaiting(target, place)
        let local =
            if let known { known } else {
                try transaction.document(text, of: target.id, place)
            }
        let edited = edit.document.fields.renamingAssets(to: target.entry.stem)
        let changed = FieldMerge.changedFields(
            from: edit.base?.fields ?? [], to: edit.document.fields)
        let edits = try transaction.lastEdits(of: changed, name, target.zone)
        var won: [FieldName] = []
        // When others gave a field its value there is not known here any more: the server says so when
        // the edit comes to it.
        var open: Set<FieldName> = []
        let (merged, conflicts) = try transaction.merge(
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
                try transaction.noteForeign(field, in: target.id, isTaken: true)
            }
        }
        guard merged != text || target.state == .waitingDelete else { return }
        var new = Transaction.NewState(
            text: merged, place: place, stem: target.entry.stem)
        new.modified = change.modified
        if known != nil {
            new.knownAssets = KeptAsset.all(in: try transaction.parse(merged, place).fields)
        }
        let saved = try transaction.keepingDraft(of: target) { () throws(RecordError) in
            try transaction.update(target, to: new)
        }
        if let version = saved.version, let time = edit.stamps.values.map(\.time).max() {
            // It is an edit, made when it was made: what others have done there since is later.
            try transaction.setStamp(time, of: version, by: .mount)
        }
        if !open.isEmpty { try putBase(of: target, place, with: open, of: edit) }
        try transaction.enqueue(
            .update, target.id, name, target.generation, place, alsoOfSync: true)
    }

    /// The target as the server has it, where it was renamed and waits for its deletion: what the server told since
    /// went to what it was renamed to.
    private func toldWhileWaiting(
        _ target: StoredRecord, _ place: TypePlace
    ) throws(RecordError) -> RecordDocument? {
        guard target.state == .waitingDelete, try connection.renamed(target.id) != nil,
            let told = try acknowledged(target.id, place)
        else { return nil }
        return try transaction.parse(told.renamingAssets(to: target.entry.stem), place)
    }

    /// Notes what the server had of a target before the edit of these fields. The rest is as it is known
    /// here: the target may be what was there before the move, of which the server has more to tell.
    private func putBase(
        of target: StoredRecord, _ place: TypePlace, with fields: Set<FieldName>, of edit: Edit
    ) throws(RecordError) {
        var base = edit.base?.text ?? RecordDocument.print([], parent: nil)
        if let known = try acknowledged(target.id, place) {
            base = known.replacing(
                fields.sorted().map { ($0, edit.base?[$0]) })
        }
        try transaction.putBase(target.id, Self.unseenTag, .text(base), .sent)
    }
}
