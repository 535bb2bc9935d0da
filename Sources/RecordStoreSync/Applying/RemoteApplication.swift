import RecordModel
import RecordSQL
package import RecordStore

/// Applies the server's changes of one zone. It merges them by field with the pending changes of
/// this machine.
///
/// A page of a first download has many new records of few types. Each record costs six statements:
/// one for the known state of its name, one for a free stem, and four rows.
struct RemoteApplication {
    let transaction: Transaction
    let zone: ZoneID
    /// The types that the page has named so far.
    private var types: [RecordTypeName: TypePlace] = [:]
    /// The restore point. It is nil for a server that is no recordfs-server, and until the server
    /// has sent it.
    let restorePoint: ChangePosition?
    /// The number of the feed's pass, when the server is behind the state that this machine knows.
    let restoredPass: Int64?
    /// Indicates whether the zone belongs to other users, who share it.
    let isOfOthers: Bool

    /// Creates an application.
    ///
    /// Errors: invalidArgument for another author than sync.
    init(_ transaction: Transaction, _ zone: ZoneID) throws(RecordError) {
        guard transaction.author == .sync else {
            throw RecordError(.invalidArgument, "Remote changes are made by sync.")
        }
        self.transaction = transaction
        self.zone = zone
        let known = try transaction.connection.first(
            "SELECT restore_point, database FROM zone WHERE id = ?", [.integer(zone.rawValue)]
        ) { (restorePoint: $0.int64IfPresent(0), database: Database(rawValue: $0.int64(1))) }
        restorePoint = known?.restorePoint.map(ChangePosition.init(_:))
        isOfOthers = known?.database == .shared
        restoredPass =
            restorePoint == nil ? nil : try transaction.connection.sync.restoredPass(of: zone)
    }

    var connection: SQLConnection { transaction.connection }

    mutating func apply(_ change: RemoteChange) throws(RecordError) -> RemoteResult {
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
        _ existing: StoredRecord, _ known: Known, _ change: RemoteChange
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
        if isEdited { try makeAnew(existing.id, change.name) }
        guard try transaction.feed.makeRoom(existing, of: change.name, isEdited: isEdited) else {
            return
        }
        try noteConflict(
            change, of: try transaction.records.requireRecord(existing.id),
            in: try transaction.place(existing.entry.type), base: base?.text,
            mine: try connection.records.savedText(of: existing.id), theirs: nil)
    }

    // MARK: The known state

    /// The state that this store has of a name.
    struct Known {
        let record: StoredRecord?
        /// Indicates whether a change was not sent to the server, or is not answered yet.
        let isPending: Bool
        /// The generation of the last record with the name; 0 when there was none.
        let generation: Int64
    }

    /// The query of the known state. It is built once, because it runs for every record of a first
    /// download.
    private static let queryOfKnown = """
        SELECT \(StoredRecord.joinedColumns),
            EXISTS (SELECT 1 FROM outbox WHERE zone_id = ?1 AND name = ?2),
            (SELECT generation FROM history WHERE zone_id = ?1 AND name = ?2
                ORDER BY token DESC LIMIT 1)
        FROM (SELECT 1) LEFT JOIN record r ON r.zone_id = ?1 AND r.name = ?2
        """

    private func known(_ name: RecordName) throws(RecordError) -> Known {
        let known = try connection.first(
            Self.queryOfKnown, [.integer(zone.rawValue), .name(name)]
        ) { row in
            Known(
                record: row.isNull(0) ? nil : StoredRecord(row),
                isPending: row.bool(StoredRecord.columnCount),
                generation: row.int64IfPresent(StoredRecord.columnCount + 1) ?? 0)
        }
        return known ?? Known(record: nil, isPending: false, generation: 0)
    }

    private mutating func place(_ type: RecordTypeName) throws(RecordError) -> TypePlace {
        if let place = types[type] { return place }
        try transaction.feed.reviveZone(zone)
        let place = try transaction.place(try transaction.makeType(zone, type).id)
        types[type] = place
        return place
    }

    // MARK: The three changes

    private mutating func create(
        _ known: Known, _ change: RemoteChange, _ fields: [RecordField], _ parent: RecordName?
    ) throws(RecordError) -> RemoteResult {
        var (fields, text) = (fields, RecordDocument.print(fields, parent: parent))
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
            (fields, text) = (renamed, RecordDocument.print(renamed, parent: parent))
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
        _ existing: StoredRecord, _ known: Known, _ change: RemoteChange, _ fields: [RecordField],
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
        let remote = try transaction.records.parse(
            RecordDocument.print(fields, parent: parent), place)
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
        of existing: StoredRecord, _ known: Known, _ change: RemoteChange, _ text: [UInt8],
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
        return RemoteNews(
            text: text, local: local, remote: remote,
            fileText: try fileText(
                of: change, printed: remote.text, as: existing.entry.stem, of: existing.id),
            sentText: change.fileText, isWaitingDelete: existing.state == .waitingDelete,
            isPending: known.isPending, isEditPending: isEditPending,
            isAcknowledged: acknowledged?.tag == change.changeTag, isEarlier: isEarlier,
            sent: sent, base: base, knownText: acknowledged?.fileText, isOfOthers: isOfOthers,
            isEditOfLayout: isEditOfLayout)
    }

    private func localEdits(
        _ news: RemoteNews, _ existing: StoredRecord, _ change: RemoteChange,
        _ acknowledged: String?, _ place: TypePlace
    ) throws(RecordError) -> LocalEdits {
        let ancestor =
            news.isEditPending && acknowledged == nil
            ? try transaction.merging.ancestor(of: change.name, in: place) : nil
        return LocalEdits(
            transaction, zone, change, news.local, since: news.base, orElse: ancestor)
    }

    private func merge(
        _ news: RemoteNews, _ existing: StoredRecord, _ edits: inout LocalEdits,
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
        if isOfOthers, try !isEditInSharedZone(known, change) { return try takeAway(known, change) }
        guard let existing = known.record else {
            if known.isPending { try forgetPending(change.name) }
            return RemoteResult(outcome: .absent, id: nil, conflicts: [])
        }
        if known.isPending, existing.state != .waitingDelete, try pendingEdit(change.name) {
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
            try makeAnew(existing.id, change.name)
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
    private func keep(_ draft: Draft, of record: StoredRecord) throws(RecordError) {
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

    /// Returns a file of the record that holds everything that the server has of it. The file is
    /// printed when the text lacks the hash of a large field.
    func whole(
        _ fileText: [UInt8]?, _ document: RecordDocument, _ type: RecordTypeName
    ) throws(RecordError) -> [UInt8] {
        let printed = document.text
        guard let fileText, fileText != printed else { return printed }
        let assets = KeptAsset.all(in: document.fields).count
        guard assets > 0 else { return fileText }
        let written = try transaction.records.parse(fileText, of: type)
        return KeptAsset.all(in: written.fields).count == assets ? fileText : printed
    }

    /// Returns the file of the record as every machine has it: the text as it was written, or a
    /// printed text when the written one does not have the values.
    ///
    /// Its large fields have their present names. The author of the text may have had the record
    /// under another name, beside a record that no longer exists. Returns nil when the server keeps
    /// no texts.
    ///
    /// - Parameters:
    ///   - stem: the stem under which the record shows.
    ///   - record: the record on this machine.
    func fileText(
        of change: RemoteChange, printed: [UInt8], as stem: Stem, of record: RecordID? = nil
    ) throws(RecordError) -> [UInt8]? {
        switch change.fileText {
        case .unknown: return nil
        case .none: return printed
        case .text(let text):
            // A value that is written without its type has the type of the schema.
            let told = try transaction.records.parse(printed, of: change.type)
            try transaction.adopt(told, change.type, replacing: record)
            do throws(RecordError) {
                let written = try transaction.records.parse(text, of: change.type)
                guard written.saysTheSame(as: told) else { return printed }
                // `6.0` for a whole number makes the field one of fractions, if its type may
                // change.
                try transaction.adopt(written, change.type, replacing: record)
                return written.renamingAssets(to: stem)
            } catch  where error.isAboutContent {
                return printed
            }
        }
    }
}

extension RemoteChange {
    var textOnServer: TextOnServer { fileText == .none ? .printed : .sent }
}
