import RecordModel
import RecordSQL
import RecordStore

extension RemoteApplication {
    mutating func apply(_ change: RemoteChange) throws(RecordError) -> RemoteResult {
        transaction.origin = change.origin
        defer { transaction.origin = nil }
        transaction.toldTime = change.stamps.values.max()?.time ?? 0
        if !change.stamps.isEmpty { try transaction.merging.hear(change.stamps.values) }
        let known = try known(change.name)
        switch change.operation {
        case .delete: return try delete(known, change)
        case .upsert(let sent, let parent):
            try expectJSON(of: sent, change.type)
            if let existing = known.record,
                try transaction.place(existing.entry.type).name == change.type
            {
                return try update(existing, known, change, sent, parent)
            }
            if let existing = known.record { try makeRoom(existing, known, change) }
            return try create(
                known.record == nil ? known : self.known(change.name), change, sent, parent)
        }
    }

    /// Makes the new fields of a record that the server marks as nested JSON fields of JSON. In the
    /// text of the record a plain value, such as `1`, has no mark, and would make the field INT64.
    ///
    /// The other new fields are added too, so that the schema has the order of the record.
    private func expectJSON(
        of fields: [RecordField], _ type: RecordTypeName
    ) throws(RecordError) {
        guard fields.contains(where: { $0.value.type == .json }) else { return }
        try transaction.expect(
            fields.compactMap { field in field.value.type.map { (field.name, $0) } }, of: type)
    }

    private func makeRoom(
        _ existing: StoredRow, _ known: Known, _ change: RemoteChange
    ) throws(RecordError) {
        var isEdited = known.isPending ? try pendingEdit(change.name) : false
        if !known.isPending, restoredPass != nil {
            // A record that a restored server has lost was not deleted there by anyone.
            try transaction.outbox.enqueue(
                .update, existing.id, change.name, existing.generation,
                try transaction.place(existing.entry.type), alsoOfSync: true)
            isEdited = true
        }
        let base = isEdited ? try connection.sync.base(of: existing.id) : nil
        if isEdited { try makeAnew(existing, change.name) }
        let draft = try connection.records.draft(of: existing.id)
        guard try transaction.feed.makeRoom(existing, of: change.name, isEdited: isEdited) else {
            if let draft, try connection.records.stored(existing.id) == nil {
                try keep(draft, of: existing)
            }
            return
        }
        try noteConflict(
            change, of: try transaction.records.requireRecord(existing.id),
            in: try transaction.place(existing.entry.type), base: base?.text,
            mine: try connection.records.savedText(of: existing.id), theirs: nil)
    }

    private mutating func create(
        _ known: Known, _ change: RemoteChange, _ fields: [RecordField], _ parent: RecordName?
    ) throws(RecordError) -> RemoteResult {
        var (fields, text) = (fields, try printed(fields, parent, change.type))
        var deleted: AcknowledgedState?
        if known.isPending, try isDeleteOfOtherType(change) {
            // The record that was to be deleted no longer exists there. This one only has its name.
            try forgetPending(change.name)
        } else if known.isPending {
            let remote = try transaction.records.parse(text, of: change.type)
            let shown = try whole(
                fileText(of: change, printed: text, as: Stem(encoding: change.name)), remote,
                change.type)
            if try isOfDelete(change, remote, shown: shown) {
                return RemoteResult(outcome: .unchanged, id: nil, conflicts: [])
            }
            if let result = try followOwnMove(change, remote, shown: shown) { return result }
            // Delete against edit: the edit wins.
            deleted = try baseOfDelete(change.name)
            try forgetPending(change.name)
        } else if try wasDeletedLater(change, text, known) {
            try deleteAgain(change, text, known)
            return RemoteResult(outcome: .unchanged, id: nil, conflicts: [])
        }
        let place = try place(change.type)
        let (stem, draft) = try transaction.records.freeStem(for: change.name, place)
        if let renamed = fields.renamingAssets(to: stem) {
            (fields, text) = (renamed, try printed(renamed, parent, change.type))
        }
        let fileText = try fileText(of: change, printed: text, as: stem)
        var new = RecordWriting.NewState(text: fileText ?? text, place: place, stem: stem)
        new.knownAssets = KeptAsset.all(in: fields)
        new.name = change.name
        new.generation = known.generation + 1
        new.created = change.created
        new.createdBy = change.createdBy
        new.modified = change.modified
        new.changed = change.modified
        new.changedBy = change.modifiedBy
        let held = try draft.map { (draft) throws(RecordError) in
            try connection.records.assets(of: draft.id)
        }
        let result = try transaction.records.keepingDraft(of: draft) { () throws(RecordError) in
            try transaction.records.create(new, over: draft, id: nil)
        }
        // The draft may have had files that the server does not have.
        let base = draft == nil ? try content(text, result.version, of: change.name) : .text(text)
        try transaction.merging.putBase(
            result.id, change.changeTag, base, change.textOnServer)
        try keepStamps(of: change, known)
        if let held { try transaction.assets.keepHeld(held, of: result.id, named: change.name) }
        if let deleted {
            try noteConflict(
                change, of: try transaction.records.requireRecord(result.id), in: place,
                base: deleted.text, mine: nil, theirs: text)
        }
        return RemoteResult(outcome: .created, id: result.id, conflicts: [])
    }

    private func update(
        _ existing: StoredRow, _ known: Known, _ change: RemoteChange, _ fields: [RecordField],
        _ parent: RecordName?
    ) throws(RecordError) -> RemoteResult {
        let acknowledged = try connection.sync.baseTag(of: existing.id)
        if existing.state == .waitingDelete, acknowledged?.tag == change.changeTag {
            try transaction.merging.noteTold(existing.id)
            return RemoteResult(outcome: .unchanged, id: existing.id, conflicts: [])
        }
        let place = try transaction.place(existing.entry.type)
        guard let text = try connection.records.savedText(of: existing.id) else {
            throw RecordError(.corrupt, "Record \(existing.entry.stem) has no text.")
        }
        let local = try transaction.outbox.document(text, of: existing.id, place)
        let fields = fields.renamingAssets(to: existing.entry.stem) ?? fields
        let remote = try transaction.records.parse(printed(fields, parent, place.name), place)
        if let result = try followOwnRename(
            existing, remote, change, place, isPending: known.isPending)
        {
            return result
        }
        let news = try news(
            of: existing, known, change, text, local, remote, acknowledged, place)
        var edits = try localEdits(news, existing, change, acknowledged?.tag, place)
        let merged = try merge(news, existing, &edits, parent, place)
        let update = RecordUpdate(
            existing: existing, change: change, place: place, news: news, merged: merged,
            edits: edits)
        return try carryOut(RemoteDecision.decide(news, merged), of: update)
    }

    /// Reads the facts that a decision needs.
    private func news(
        of existing: StoredRow, _ known: Known, _ change: RemoteChange, _ text: [UInt8],
        _ local: RecordDocument, _ remote: RecordDocument,
        _ acknowledged: (tag: String, fileText: TextOnServer)?, _ place: TypePlace
    ) throws(RecordError) -> RemoteNews {
        let sent = known.isPending ? try sentVersion(of: change, with: remote.text) : nil
        let isEditPending = known.isPending ? try pendingEdit(change.name) : false
        let isEarlier = isEarlier(change, than: acknowledged?.tag)
        // In an earlier state nothing is news.
        var base: RecordDocument? = remote
        if !isEarlier {
            if !isEditPending {
                base = local
            } else if sent == nil {
                base = try self.base(
                    of: existing.id, named: change.name, arrivedIn: remote, place)
            }
            base = try baseAfterRestore(base, remote, existing, change, place)
        }
        var isEditOfLayout = false
        if isEditPending, let base, local.hasSameValues(as: base) {
            isEditOfLayout = try !wasSent(text, of: change.name)
        }
        let isWaitingDelete = existing.state == .waitingDelete
        let hasLostKeys =
            if isWaitingDelete {
                try transaction.links.hasOnlyLostKeys(
                    remote, since: local, of: change.name, place.name, in: zone)
            } else {
                false
            }
        return RemoteNews(
            text: text, local: local, remote: remote,
            fileText: try fileText(
                of: change, printed: remote.text, as: existing.entry.stem, of: existing.id),
            sentText: change.fileText, isWaitingDelete: isWaitingDelete,
            isPending: known.isPending, isEditPending: isEditPending,
            isAcknowledged: acknowledged?.tag == change.changeTag, isEarlier: isEarlier,
            sent: sent, base: base, knownText: acknowledged?.fileText, isOfOthers: isOfOthers,
            isEditOfLayout: isEditOfLayout,
            hasOnlyLostKeys: hasLostKeys)
    }

    private func localEdits(
        _ news: RemoteNews, _ existing: StoredRow, _ change: RemoteChange,
        _ acknowledged: String?, _ place: TypePlace
    ) throws(RecordError) -> LocalEdits {
        let ancestor =
            news.isEditPending && acknowledged == nil
            ? try transaction.merging.ancestor(of: change.name, in: place) : nil
        return LocalEdits(
            transaction, zone, change, news.local, since: news.base, orElse: ancestor)
    }

    private func merge(
        _ news: RemoteNews, _ existing: StoredRow, _ edits: inout LocalEdits,
        _ parent: RecordName?, _ place: TypePlace
    ) throws(RecordError) -> MergedRecord {
        var (text, conflicts) = try transaction.merging.merge(
            news.local, with: news.remote.fields, parent: parent, since: news.base,
            isLater: { (field) throws(RecordError) in try edits.isLaterThere(field) },
            resolve: { (conflict) throws(RecordError) in try edits.resolve(conflict) })
        // A value that was older than the server's is no edit that has lost.
        conflicts.removeAll { edits.lost.contains($0) && edits.isAsAcknowledged($0) }
        let document =
            text == news.text
            ? news.local : try transaction.outbox.document(text, of: existing.id, place)
        return MergedRecord(
            text: text, document: document, conflicts: conflicts, lost: edits.lost)
    }

    /// Applies a deletion. It loses against an edit that is still to be sent: the record stays, and
    /// is created again on the server.
    private func delete(
        _ known: Known, _ change: RemoteChange
    ) throws(RecordError) -> RemoteResult {
        if change.isOfEarlierRecord, try !isAsOf(known, beforeDeletion: change) {
            return RemoteResult(outcome: .unchanged, id: known.record?.id, conflicts: [])
        }
        try noteWhereabouts(change)
        if isOfOthers, try !isEditInSharedZone(known, change) { return try takeAway(known, change) }
        guard let existing = known.record else {
            if known.isPending { try forgetPending(change.name) }
            return RemoteResult(outcome: .absent, id: nil, conflicts: [])
        }
        if known.isPending, existing.state != .waitingDelete, try pendingEdit(change.name),
            try !hasOnlyLostKeys(existing)
        {
            if try copyOfDeparted(change.name) != nil {
                try makeNext(existing, change)
                return RemoteResult(outcome: .kept, id: existing.id, conflicts: [])
            }
            if try wasNeverSent(existing, as: change.name) {
                // The record that was deleted there only had its name.
                return RemoteResult(outcome: .unchanged, id: existing.id, conflicts: [])
            }
            if let address = change.movedTo, try follow(existing, change, to: address) {
                return RemoteResult(outcome: .deleted, id: existing.id, conflicts: [])
            }
            try makeAnew(existing, change.name)
            // When the record was already to be created again, this conflict is known.
            if let base = try connection.sync.base(of: existing.id) {
                try noteConflict(
                    change, of: existing, in: try transaction.place(existing.entry.type),
                    base: base.text, mine: try connection.records.savedText(of: existing.id),
                    theirs: nil)
            }
            try connection.run(
                "DELETE FROM base WHERE record_id = ?", [.integer(existing.id.rawValue)])
            return RemoteResult(outcome: .kept, id: existing.id, conflicts: [])
        }
        if existing.state != .waitingDelete, let address = change.movedTo,
            try isMovedBack(change.name, to: address), try follow(existing, change, to: address)
        {
            return RemoteResult(outcome: .deleted, id: existing.id, conflicts: [])
        }
        if known.isPending { try forgetPending(change.name) }
        if existing.state != .waitingDelete {
            try noteLostEdit(change, of: existing)
            if let address = change.movedTo { try joinNext(existing, change, at: address) }
        }
        let draft = try connection.records.draft(of: existing.id)
        try transaction.records.finalizeDelete(existing.id)
        if let address = change.movedTo, let target = try stored(at: address) {
            transaction.records.noteMoved(existing.id, to: target.id)
        }
        if let draft { try keep(draft, of: existing) }
        return RemoteResult(outcome: .deleted, id: existing.id, conflicts: [])
    }

    /// Keeps the refused text of a deleted record, because only this machine has it. When another
    /// record has taken the name, the text moves to the trash, so that it does not appear as a text
    /// of that record.
    private func keep(_ draft: Draft, of record: StoredRow) throws(RecordError) {
        let place = try transaction.place(draft.type)
        guard let name = record.name, try connection.records.stored(draft.type, draft.stem) != nil
        else {
            _ = try transaction.records.saveDraft(
                text: draft.text, type: draft.type, stem: draft.stem, error: draft.error)
            return
        }
        guard !draft.text.isEmpty else { return }
        _ = try transaction.records.addTrash(
            TrashRow(record, name, place, .mount, isOwn: true), draft.text)
    }

    /// Creates a record again on the server, which had it and lost it.
    mutating func makeAgain(_ name: RecordName) throws(RecordError) -> RemoteResult {
        guard let record = try connection.records.stored(named: name, zone),
            record.state != .waitingDelete
        else { return try apply(RemoteChange(deleted: name)) }
        try connection.run(
            "DELETE FROM base WHERE record_id = ?", [.integer(record.id.rawValue)])
        if try pendingEdit(name) {
            try setPending(name, .update, to: .create)
        } else {
            try transaction.outbox.enqueue(
                .create, record.id, name, record.generation,
                try transaction.place(record.entry.type), alsoOfSync: true)
        }
        // Another machine may create it again too. The stamps then decide which fields are later.
        try connection.run(
            """
            UPDATE outbox SET sent = COALESCE(sent, ?3)
            WHERE zone_id = ?1 AND name = ?2 AND operation = 1
            """,
            [
                .integer(zone.rawValue), .name(name),
                .optional(try connection.sync.newestVersion(name, zone)),
            ])
        return RemoteResult(outcome: .kept, id: record.id, conflicts: [])
    }
}
