import RecordModel
import RecordSQL

/// What the server reports of one zone, merged by field with what is pending here.
///
/// A page of a first download is many new records of few types. Each costs six statements: what is
/// known of its name, whether its stem is free, and four rows.
struct RemoteApplication {
    let transaction: Transaction
    let zone: ZoneID
    /// Those that the page has named so far.
    private var types: [RecordTypeName: TypePlace] = [:]
    /// Nil at another server than ours, and until it has told.
    let restorePoint: ChangePosition?
    /// The number of the feed's pass, when the server is behind what is known here.
    let restoredPass: Int64?
    /// Whether others share it.
    let isOfOthers: Bool

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
            restorePoint == nil ? nil : try transaction.connection.restoredPass(of: zone)
    }

    var connection: SQLConnection { transaction.connection }

    mutating func apply(_ change: RemoteChange) throws(RecordError) -> RemoteResult {
        transaction.toldTime = change.stamps.values.max()?.time ?? 0
        if !change.stamps.isEmpty { try transaction.hear(change.stamps.values) }
        let known = try known(change.name)
        switch change.operation {
        case .delete: return try delete(known, change)
        case .upsert(let sent, let parent):
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

    private func makeRoom(
        _ existing: StoredRecord, _ known: Known, _ change: RemoteChange
    ) throws(RecordError) {
        var isEdited = known.isPending ? try pendingEdit(change.name) : false
        if !known.isPending, restoredPass != nil {
            // What a restored server has lost, nobody has deleted there.
            try transaction.enqueue(
                .update, existing.id, change.name, existing.generation,
                try transaction.place(existing.entry.type), alsoOfSync: true)
            isEdited = true
        }
        let base = isEdited ? try connection.base(of: existing.id) : nil
        if isEdited { try makeAnew(existing.id, change.name) }
        guard try transaction.makeRoom(existing, of: change.name, isEdited: isEdited) else {
            return
        }
        try noteConflict(
            change, of: try transaction.requireRecord(existing.id),
            in: try transaction.place(existing.entry.type), base: base?.text,
            mine: try connection.savedText(of: existing.id), theirs: nil)
    }

    // MARK: What is known

    /// What this store has of a name.
    struct Known {
        let record: StoredRecord?
        /// Whether the server was not told something, or has not answered.
        let isPending: Bool
        /// Of the last record of the name; 0 when there was none.
        let generation: Int64
    }

    /// Made once: it is asked for every record of a first download.
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
        try transaction.reviveZone(zone)
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
            // What was to be deleted is gone there, and this has only got its name.
            try forgetPending(change.name)
        } else if known.isPending {
            let remote = try transaction.parse(text, of: change.type)
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
        let (stem, draft) = try transaction.freeStem(for: change.name, place)
        if let renamed = fields.renamingAssets(to: stem) {
            (fields, text) = (renamed, RecordDocument.print(renamed, parent: parent))
        }
        let fileText = try fileText(of: change, printed: text, as: stem)
        var new = Transaction.NewState(text: fileText ?? text, place: place, stem: stem)
        new.knownAssets = KeptAsset.all(in: fields)
        new.name = change.name
        new.generation = known.generation + 1
        new.created = change.created
        new.createdBy = change.createdBy
        new.modified = change.modified
        new.changed = change.modified
        new.changedBy = change.modifiedBy
        let held = try draft.map { (draft) throws(RecordError) in
            try connection.assets(of: draft.id)
        }
        let result = try transaction.keepingDraft(of: draft) { () throws(RecordError) in
            try transaction.create(new, over: draft, id: nil)
        }
        // The draft may have had files that are not in what the server has.
        let base = draft == nil ? try content(text, result.version, of: change.name) : .text(text)
        try transaction.putBase(
            result.id, change.changeTag, base, change.textOnServer)
        try keepStamps(of: change, known)
        if let held { try transaction.keepHeld(held, of: result.id, named: change.name) }
        if let deleted {
            try noteConflict(
                change, of: try transaction.requireRecord(result.id), in: place,
                base: deleted.text, mine: nil, theirs: text)
        }
        return RemoteResult(outcome: .created, id: result.id, conflicts: [])
    }

    private func update(
        _ existing: StoredRecord, _ known: Known, _ change: RemoteChange, _ fields: [RecordField],
        _ parent: RecordName?
    ) throws(RecordError) -> RemoteResult {
        let knownBase = try connection.baseTag(of: existing.id)
        let acknowledged = knownBase?.tag
        if existing.state == .waitingDelete, acknowledged == change.changeTag {
            try transaction.noteTold(existing.id)
            return RemoteResult(outcome: .unchanged, id: existing.id, conflicts: [])
        }
        let place = try transaction.place(existing.entry.type)
        guard let text = try connection.savedText(of: existing.id) else {
            throw RecordError(.corrupt, "Record \(existing.entry.stem) has no text.")
        }
        let local = try transaction.document(text, of: existing.id, place)
        let fields = fields.renamingAssets(to: existing.entry.stem) ?? fields
        let remote = try transaction.parse(
            RecordDocument.print(fields, parent: parent), place)
        if let result = try followOwnRename(
            existing, remote, change, place, isPending: known.isPending)
        {
            return result
        }
        let sent = known.isPending ? try sentVersion(of: change, with: remote.text) : nil
        let isPending = known.isPending ? try pendingEdit(change.name) : false
        let isEarlier = isEarlier(change, than: acknowledged)
        // Of an earlier state nothing is news.
        var base: RecordDocument? = remote
        if !isEarlier {
            if isPending {
                // Of what was sent and is told now, nothing is news either.
                if sent == nil {
                    base = try self.base(
                        of: existing.id, named: change.name, arrivedIn: remote, place)
                }
            } else {
                base = local
            }
            base = try baseAfterRestore(base, remote, existing, change, place)
        }
        let ancestor =
            isPending && acknowledged == nil
            ? try transaction.ancestor(of: change.name, in: place) : nil
        var edits = LocalEdits(transaction, zone, change, local, since: base, orElse: ancestor)
        var (newText, conflicts) = try transaction.merge(
            local, with: remote.fields, parent: parent, since: base,
            isLater: { (field) throws(RecordError) in try edits.isLaterThere(field) },
            resolve: { (conflict) throws(RecordError) in try edits.resolve(conflict) })
        // What was older than the server's is no edit that has lost.
        conflicts.removeAll { edits.lost.contains($0) && edits.isAsAcknowledged($0) }
        var fileText = try fileText(
            of: change, printed: remote.text, as: existing.entry.stem, of: existing.id)
        // As it is written there: the record may come back to its place by somebody else's move.
        let told =
            if let sent { BaseContent.version(sent) } else {
                BaseContent.text(try whole(fileText, remote, change.type))
            }
        // What was to be deleted is all that there is: it goes on waiting for that.
        let isAsDeleted = existing.state == .waitingDelete && newText == text
        if existing.state == .waitingDelete, !isAsDeleted {
            try noteConflict(
                change, of: existing, in: place, base: text, mine: nil, theirs: remote.text)
        } else if !conflicts.isEmpty {
            try noteConflict(
                change, of: existing, in: place, fields: conflicts, theirsStood: edits.lost,
                base: base?.text, mine: text, theirs: remote.text)
        }
        let merged =
            newText == text ? local : try transaction.document(newText, of: existing.id, place)
        let hasTheirValues = merged.hasSameValues(as: remote)
        if existing.state != .waitingDelete {
            try noteLosses(change, of: existing, in: place, local, remote, merged, edits)
        }
        // After that: who has lost by now is told by those of before.
        try keepStamps(of: change, remote, merged, edits)
        if isAsDeleted {
            try transaction.putBase(existing.id, change.changeTag, told, change.textOnServer)
            if sent != nil, hasTheirValues { try forgetPending(change.name) }
            if known.isPending { try setPending(change.name, .create, to: .update) }
            return RemoteResult(outcome: .unchanged, id: existing.id, conflicts: conflicts)
        }
        // What this machine has saved stays as it was written: where others print it otherwise, its
        // text is what the server lacks.
        let isMine = !isPending && (acknowledged == change.changeTag || sent != nil)
        var textOnServer = change.textOnServer
        if isMine, hasTheirValues, change.fileText == .none {
            fileText = newText
            if newText != remote.text, newText.count <= RecordLimits.fileTextBytes {
                let isHidden = isTextHidden(acknowledged == change.changeTag, knownBase?.fileText)
                textOnServer =
                    isHidden || knownBase?.fileText == .withheld ? .withheld : .sent
            }
        }
        let lacksText = change.fileText == .none && textOnServer == .sent
        // Where all values of an edit are there, or have lost, the way in which they are written is no
        // reason to send the record again, which would win against a deletion; but where that was
        // all that was edited.
        var isEditOfText = false
        if isPending, let base, local.hasSameValues(as: base) {
            isEditOfText = try !wasSent(text, of: change.name)
        }
        if let fileText, hasTheirValues, !isEditOfText, !isEarlier { newText = fileText }
        // What is as it was stays untouched, with its time: most are saves of this machine, told back.
        var result: SaveResult?
        if newText != text || existing.state == .waitingDelete
            || hasTheirValues && !local.hasSameValues(as: remote)
        {
            var new = Transaction.NewState(text: newText, place: place, stem: existing.entry.stem)
            if hasTheirValues { new.knownAssets = KeptAsset.all(in: remote.fields) }
            if !isEarlier {
                new.modified = change.modified
                new.changed = change.modified
                new.changedBy = change.modifiedBy
            }
            result = try transaction.keepingDraft(of: existing) { () throws(RecordError) in
                try transaction.update(existing, to: new)
            }
        }
        let newBase =
            hasTheirValues ? try content(remote.text, result?.version, of: change.name) : told
        try transaction.putBase(
            existing.id, change.changeTag, newBase, textOnServer)
        if hasTheirValues, fileText == nil || fileText == newText, !lacksText {
            if known.isPending { try forgetPending(change.name) }
        } else if !isPending {
            try transaction.enqueue(
                .update, existing.id, change.name, existing.generation, place, alsoOfSync: true)
        }
        if known.isPending { try setPending(change.name, .create, to: .update) }
        return RemoteResult(
            outcome: result?.outcome == .updated ? .updated : .unchanged, id: existing.id,
            conflicts: conflicts)
    }

    /// A deletion loses against an edit that is still to be sent: the record stays and is made
    /// anew on the server.
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
                // What is gone there only had its name.
                return RemoteResult(outcome: .unchanged, id: existing.id, conflicts: [])
            }
            if let address = change.movedTo, try follow(existing, change, to: address) {
                return RemoteResult(outcome: .deleted, id: existing.id, conflicts: [])
            }
            try makeAnew(existing.id, change.name)
            // Of one that is to be made anew, this is known already.
            if let base = try connection.base(of: existing.id) {
                try noteConflict(
                    change, of: existing, in: try transaction.place(existing.entry.type),
                    base: base.text, mine: try connection.savedText(of: existing.id), theirs: nil)
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
        let draft = try connection.draft(of: existing.id)
        try transaction.finalizeDelete(existing.id)
        if let address = change.movedTo, let target = try stored(at: address) {
            transaction.noteMoved(existing.id, to: target.id)
        }
        if let draft { try keep(draft, of: existing) }
        return RemoteResult(outcome: .deleted, id: existing.id, conflicts: [])
    }

    /// Nobody but this machine has the refused text of a record that is gone. Where another record has
    /// taken its name, that text is not shown as if it were a text of that one.
    private func keep(_ draft: Draft, of record: StoredRecord) throws(RecordError) {
        let place = try transaction.place(draft.type)
        guard let name = record.name, try connection.stored(draft.type, draft.stem) != nil else {
            _ = try transaction.saveDraft(
                text: draft.text, type: draft.type, stem: draft.stem, error: draft.error)
            return
        }
        guard !draft.text.isEmpty else { return }
        _ = try transaction.addTrash(
            TrashRow(record, name, place, .mount, isOwn: true), draft.text)
    }

    /// The file of a record, in which all is that the server has of it: printed, where the text leaves out which
    /// bytes a large field has.
    func whole(
        _ fileText: [UInt8]?, _ document: RecordDocument, _ type: RecordTypeName
    ) throws(RecordError) -> [UInt8] {
        let printed = document.text
        guard let fileText, fileText != printed else { return printed }
        let assets = KeptAsset.all(in: document.fields).count
        guard assets > 0 else { return fileText }
        let written = try transaction.parse(fileText, of: type)
        return KeptAsset.all(in: written.fields).count == assets ? fileText : printed
    }

    /// The file of the record as every machine has it: as it was written, or printed where a text
    /// does not say what the values are. Its large fields have the names that they have now: whoever wrote
    /// it may have had the record under another one, beside one that is gone. Nil where the server keeps no
    /// texts.
    ///
    /// - Parameters:
    ///   - stem: what the record shows as.
    ///   - record: the one that it is here.
    func fileText(
        of change: RemoteChange, printed: [UInt8], as stem: Stem, of record: RecordID? = nil
    ) throws(RecordError) -> [UInt8]? {
        switch change.fileText {
        case .unknown: return nil
        case .none: return printed
        case .text(let text):
            // What stands there without its type means what the schema says.
            let told = try transaction.parse(printed, of: change.type)
            try transaction.adopt(told, change.type, replacing: record)
            do throws(RecordError) {
                let written = try transaction.parse(text, of: change.type)
                guard written.saysTheSame(as: told) else { return printed }
                // `6.0` for a whole number makes the field one of fractions, where it can be.
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

extension KeptAsset {
    /// What a record says of the bytes of its assets, as far as it has their hashes.
    static func all(in fields: [RecordField]) -> [KeptAsset] {
        func asset(_ field: FieldName, _ index: Int64, _ value: FieldValue) -> KeptAsset? {
            guard case .asset(let asset) = value, let hash = asset.sha256 else { return nil }
            return KeptAsset(
                field: field, index: index, hash: hash, size: asset.size ?? 0,
                fileExtension: asset.fileExtension)
        }
        return fields.flatMap { field in
            if case .list(let elements) = field.value {
                elements.enumerated().compactMap { asset(field.name, Int64($0), $1) }
            } else {
                [asset(field.name, -1, field.value)].compactMap(\.self)
            }
        }
    }
}
