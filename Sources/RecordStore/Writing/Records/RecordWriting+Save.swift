package import RecordModel
import RecordSQL

extension RecordWriting {
    /// Saves the text of a record: creates it, updates it, or, when the values are as before, only
    /// keeps the new text. Adds fields that the schema does not have. Clears a draft and ends a
    /// waiting deletion.
    ///
    /// - Parameters:
    ///   - id: a reserved number for a record that does not exist yet.
    ///   - modified: the file's time; the transaction's when nil.
    ///   - effect: the effect on a program that has the record's file open.
    ///   - files: the large fields whose files move with the text, where the text takes its name by
    ///     a rename.
    ///   - keptFiles: large fields that the text does not mention, because it is a file that
    ///     somebody has written.
    ///
    /// - Throws: invalidJSON, invalidRecord, schemaMismatch, tooLarge about the text; accessDenied
    ///   in a read-only zone; notFound for the type; invalidName; alreadyExists for a taken name.
    package func save(
        text: [UInt8], type: TypeID, stem: Stem, id: RecordID? = nil, modified: Timestamp? = nil,
        effect: FileEffect = .replaced, files: MovedFiles = .none, keptFiles: KeptFiles = .none
    ) throws(RecordError) -> SaveResult {
        Failpoint.pass(.saveBegin)
        let place = try transaction.writablePlace(type)
        // When two records exchange their names through a file beside them, the text changes both.
        let existing =
            try files.following == nil
            ? target(stem, type) : transaction.connection.records.stored(type, stem)
        try transaction.checkWritable(existing, saying: text, as: stem, in: place)
        var new = NewState(text: text, place: place, stem: stem)
        new.modified = modified
        new.effect = effect
        try transaction.assets.attach(files, to: &new)
        try completeFiles(keptFiles, of: existing, in: &new)
        let isNew = existing.map { $0.state == .draftOnly } ?? true
        if let existing, !isNew,
            let whole = try transaction.links.withDueLists(new.text, of: existing, in: place)
        {
            new.text = whole
            new.effect = .rewritten
        }
        let before =
            try existing.map { (record) throws(RecordError) in
                try transaction.links.keys(of: record.id)
            } ?? []
        if isNew { try transaction.links.checkPrivacy(of: place) }
        let result =
            if let existing, !isNew {
                try update(existing, to: new)
            } else {
                try create(new, over: existing, id: id)
            }
        try transaction.asConsequence { () throws(RecordError) in
            try transaction.links.follow(
                new.text, of: result.id, in: place, isNew: isNew, before: before)
        }
        return result
    }

    /// The state that is about to be stored, and its appearance in history.
    package struct NewState {
        package var text: [UInt8]
        package let place: TypePlace
        package let stem: Stem
        package var modified: Timestamp?
        /// The kind of the change. If nil, the record is created or updated.
        var kind: ChangeKind?
        /// Asset files known from elsewhere: a version, the trash, a renamed record.
        package var knownAssets: [KeptAsset] = []
        /// Assets that wait for their bytes, wherever these are.
        var withheld: Set<AssetPosition> = []
        /// The asset whose file was written in place, and so stays the same file.
        var written: AssetPosition?
        /// The creation time, for a record that comes back or comes from the server.
        package var created: Timestamp?
        package var createdBy: String?
        package var changedBy: String?
        /// The time at which it got these values, where the server has reported it; the
        /// transaction's time when nil.
        package var changed: Timestamp?
        package var name: RecordName?
        /// The generation. If nil, it is looked up.
        package var generation: Int64?
        var effect = FileEffect.replaced
        /// Indicates whether a record with these values has left another zone: what it had or lacked
        /// there is not checked again.
        var isMoved = false

        package init(text: [UInt8], place: TypePlace, stem: Stem) {
            (self.text, self.place, self.stem) = (text, place, stem)
        }
    }

    package func parse(_ text: [UInt8], _ place: TypePlace) throws(RecordError) -> RecordDocument {
        try parse(text, of: place.name)
    }

    /// Parses a text that is stored here or came from the server. No limit of a server applies to
    /// it.
    package func parse(_ text: [UInt8], of type: RecordTypeName) throws(RecordError)
        -> RecordDocument
    {
        transaction.store.upkeep.noteText(bytes: text.count)
        return try RecordDocument(
            parsing: text, schema: try transaction.schema(of: type),
            limits: transaction.store.options.limits.asReceived)
    }

    /// Parses a text. Returns nil for one that is no record: a draft, or an empty file.
    func readable(_ text: [UInt8], _ place: TypePlace) -> RecordDocument? {
        do throws(RecordError) {
            return try parse(text, place)
        } catch {
            return nil
        }
    }

    // MARK: Create

    package func create(
        _ new: NewState, over draft: StoredRow?, id: RecordID?
    ) throws(RecordError) -> SaveResult {
        var new = new
        var document = try parseNew(new.text, new.place)
        var addsAssets = false
        if let draft, draft.entry.hasAssets {
            new.text = try naming(assetsOf: draft, in: document)
            addsAssets = new.text != document.text
            if addsAssets { new.effect = .rewritten }
            document = try parseNew(new.text, new.place)
        }
        if let draft { try replaceFile(of: draft, new.effect, newText: new.text) }
        try transaction.adopt(document, new.place.name)
        let name =
            if let name = new.name { name } else { try freeName(new.stem, new.place) }
        try checkServerRules(document, name, new.place, replacing: nil)
        if !new.isMoved { try checkModel(document, replacing: nil) }
        let generation =
            if let generation = new.generation { generation } else {
                try lastGeneration(name, new.place.zone.id) + 1
            }
        let record: RecordID
        if let draft {
            record = draft.id
            try clearDraft(draft)
            try clearRefusal(record)
        } else if let id {
            record = id
        } else {
            record = try transaction.newRecordID()
        }
        // Written at once, because a row that grows later splits its page.
        let expected = try nextToken()
        try insert(record, name, generation, new, version: expected, replacing: draft != nil)
        try nameCame(name, shownAs: new.stem, new.place)
        try transaction.links.noteSaved(record, name, document, in: new.place, isNew: true)
        let assets = try transaction.assets.attachAssets(
            of: document, replacing: nil, to: record, new,
            hadAssets: draft?.entry.hasAssets ?? false)
        if draft == nil { try transaction.touch(new.place.type) }
        Failpoint.pass(.saveRecordWritten)
        let kind = new.kind ?? .created
        let token = try addHistory(
            kind, record, name, generation, new.place, fields: document.changedFields(from: nil),
            text: new.text, hasAssets: assets.any)
        if token != expected {
            try transaction.connection.run(
                "UPDATE record SET version = ? WHERE id = ?",
                [.integer(token), .integer(record.rawValue)])
        }
        Failpoint.pass(.saveHistoryWritten)
        // Assets that were here first are news for the server, whoever made the record.
        try transaction.outbox.enqueue(
            transaction.author == .sync ? .update : .create, record, name, generation, new.place,
            waitsForAsset: assets.anyMissing, alsoOfSync: addsAssets)
        Failpoint.pass(.saveOutboxWritten)
        transaction.pointsAfterCommit.append(.saveCommitted)
        transaction.note(
            kind, zone: new.place.zone.id, type: new.place.type, record: record, stem: new.stem,
            token: token)
        let entry = RecordEntry(
            id: record, incarnation: draft.map(incarnation) ?? 0, type: new.place.type,
            stem: new.stem, state: .saved, hasDraft: false, hasAssets: assets.any,
            isAwaited: false, size: Int64(new.text.count),
            modified: new.modified ?? transaction.now,
            created: new.created ?? transaction.now, statusChanged: transaction.changed)
        return SaveResult(id: record, outcome: .created, entry: entry, version: token)
    }

    /// Names in the text the assets that arrived before their record and that the text does not
    /// name, because a file that was written must not disappear.
    private func naming(
        assetsOf draft: StoredRow, in document: RecordDocument
    ) throws(RecordError) -> [UInt8] {
        var lists: [FieldName: [FieldValue]] = [:]
        var changes: [(FieldName, FieldValue?)] = []
        for asset in try transaction.connection.records.assets(of: draft.id) {
            guard asset.hash != nil, document[asset.field] == nil else { continue }
            let value = FieldValue.asset(
                AssetValue(
                    fileName: Text(utf8: asset.fileName), size: asset.size, sha256: asset.hash))
            guard let index = asset.index else {
                changes.append((asset.field, value))
                continue
            }
            // In the order of their places; a list has no gaps.
            if index == lists[asset.field, default: []].count {
                lists[asset.field, default: []].append(value)
            }
        }
        for (field, values) in lists.sorted(by: { $0.key < $1.key }) {
            changes.append((field, .list(values)))
        }
        return changes.isEmpty ? document.text : document.replacing(changes)
    }

    private func insert(
        _ record: RecordID, _ name: RecordName, _ generation: Int64, _ new: NewState,
        version: Int64, replacing: Bool
    ) throws(RecordError) {
        let values: [SQLValue] = [
            .integer(record.rawValue), .integer(new.place.zone.id.rawValue),
            .integer(new.place.type.rawValue), .name(new.stem), .integer(Int64(new.text.count)),
            .time(new.modified ?? transaction.now), .time(new.created ?? transaction.now),
            .integer(generation),
            .name(name), .text(new.createdBy ?? ""), .time(new.changed ?? transaction.now),
            .text(new.changedBy ?? ""), .integer(version), .time(transaction.changed),
        ]
        try transaction.connection.run(replacing ? Self.replaceRow : Self.insertRow, values)
    }

    private static let insertRow = """
        INSERT INTO record (id, zone_id, type_id, stem, state, flags, size, modified,
            created, generation, name, created_by, changed, changed_by, version, status_changed)
        VALUES (?1, ?2, ?3, ?4, 0, 0, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,
            \(ChangeTriggers.ofNewRecord("?14")))
        """

    private static let replaceRow = """
        UPDATE record SET zone_id = ?2, type_id = ?3, stem = ?4, state = 0,
            flags = flags & ~5, size = ?5, modified = ?6, created = ?7, generation = ?8,
            name = ?9, created_by = ?10, changed = ?11, changed_by = ?12,
            version = ?13, waiting_since = NULL, \(Columns.changed("?14"))
        WHERE id = ?1
        """

    /// Returns the token of the next version, unless another change gets a token before it.
    private func nextToken() throws(RecordError) -> Int64 {
        let newest = try transaction.connection.first(
            "SELECT token FROM history ORDER BY token DESC LIMIT 1"
        ) {
            $0.int64(0)
        }
        return (newest ?? 0) + 1
    }

    private func lastGeneration(_ name: RecordName, _ zone: ZoneID) throws(RecordError) -> Int64 {
        try transaction.connection.first(
            """
            SELECT generation FROM history WHERE zone_id = ? AND name = ?
            ORDER BY token DESC LIMIT 1
            """, [.integer(zone.rawValue), .name(name)]
        ) { $0.int64(0) } ?? 0
    }

    // MARK: Update

    package func update(_ existing: StoredRow, to new: NewState) throws(RecordError)
        -> SaveResult
    {
        guard let name = existing.name else { throw RecordError.noName(existing) }
        try replaceFile(of: existing, new.effect, newText: new.text)
        if existing.entry.hasDraft {
            try clearDraft(existing)
            try clearRefusal(existing.id)
        }
        if existing.state == .waitingDelete {
            Failpoint.pass(.cancelDeleteBegin)
            transaction.pointsAfterCommit.append(.cancelDeleteCommitted)
            try transaction.touch(new.place.type)
        }
        guard let (changed, assets) = try attachChanges(of: existing, to: new) else {
            return try keepValues(existing, new, textChanged: false)
        }
        if changed.isEmpty {
            try transaction.outbox.enqueue(
                .update, existing.id, name, existing.generation, new.place,
                waitsForAsset: assets.anyMissing)
            return try keepValues(existing, new, textChanged: true, hasAssets: assets.any)
        }
        let kind = new.kind ?? .updated
        let token = try addHistory(
            kind, existing.id, name, existing.generation, new.place, fields: changed,
            text: new.text, hasAssets: assets.any)
        Failpoint.pass(.saveHistoryWritten)
        try putRecord(existing.id, new, version: token)
        try clearRefusal(existing.id)
        Failpoint.pass(.saveRecordWritten)
        try transaction.outbox.enqueue(
            .update, existing.id, name, existing.generation, new.place,
            waitsForAsset: assets.anyMissing)
        Failpoint.pass(.saveOutboxWritten)
        transaction.pointsAfterCommit.append(.saveCommitted)
        transaction.note(
            shownKind(existing, kind), zone: new.place.zone.id, type: new.place.type,
            record: existing.id, stem: new.stem, token: token)
        return result(existing, new, .updated, hasAssets: assets.any, version: token)
    }

    /// Returns the fields that differ from before, and puts their asset files in place. Returns nil
    /// when the text is the same. Both texts are parsed in this function, and none of that remains
    /// after it. Otherwise a large text would be in memory four times while it is written.
    private func attachChanges(
        of existing: StoredRow, to new: NewState
    ) throws(RecordError) -> (changed: [FieldName], assets: (any: Bool, anyMissing: Bool))? {
        let (old, isSame) = try savedValues(of: existing, comparedWith: new)
        if isSame, new.knownAssets.isEmpty { return nil }
        let document = try parseNew(new.text, new.place)
        if let name = existing.name {
            try checkServerRules(
                document, name, new.place, replacing: old ?? document)
        }
        try checkModel(document, replacing: old)
        var changed = document.changedFields(from: old)
        if let name = existing.name {
            try transaction.links.noteSaved(existing.id, name, document, in: new.place)
        }
        try transaction.adopt(document, new.place.name, replacing: existing.id)
        let before = try transaction.assets.assetHashes(existing)
        let assets = try transaction.assets.attachAssets(
            of: document, replacing: old, to: existing.id, new,
            hadAssets: existing.entry.hasAssets)
        for field in try transaction.assets.changedHashes(existing.id, since: before, assets.any)
        where !changed.contains(field) {
            changed.append(field)
        }
        return (changed, assets)
    }

    /// Returns the present values of the record, and whether its text is the same as that of the
    /// new state. The text itself does not remain in memory.
    ///
    /// A damaged text is no reason to refuse a correct new one: then everything is new.
    private func savedValues(
        of existing: StoredRow, comparedWith new: NewState
    ) throws(RecordError) -> (RecordDocument?, isSame: Bool) {
        guard let text = try transaction.connection.records.wholeSavedText(of: existing.id) else {
            return (nil, false)
        }
        if text == new.text, new.knownAssets.isEmpty { return (nil, true) }
        do throws(RecordError) {
            return (try parse(text, new.place).withoutText, text == new.text)
        } catch {
            // An error in the new text is reported first.
            _ = try parseNew(new.text, new.place)
            throw error
        }
    }

    /// Stores a state whose values are as before. At most the text and the times change.
    private func keepValues(
        _ existing: StoredRow, _ new: NewState, textChanged: Bool, hasAssets: Bool? = nil
    ) throws(RecordError) -> SaveResult {
        if textChanged { try putText(existing.id, new.text) }
        try putRecord(existing.id, new, version: nil)
        Failpoint.pass(.saveRecordWritten)
        transaction.pointsAfterCommit.append(.saveCommitted)
        transaction.note(
            shownKind(existing, .text), zone: new.place.zone.id, type: new.place.type,
            record: existing.id, stem: new.stem)
        return result(existing, new, .unchanged, hasAssets: hasAssets ?? existing.entry.hasAssets)
    }

    /// Stores another text of a record whose values stay: another record has changed what it shows.
    func rewrite(_ existing: StoredRow, as text: [UInt8], in place: TypePlace) throws(RecordError) {
        // A draft hides the text.
        guard !existing.entry.hasDraft else { return try putText(existing.id, text) }
        let new = NewState(text: text, place: place, stem: existing.entry.stem)
        try replaceFile(of: existing, .replaced, newText: text)
        _ = try keepValues(existing, new, textChanged: true)
    }

    /// Returns the kind of the change for observers. A record that waited for its deletion is
    /// restored, except when the mount is the author, because the mount knows.
    private func shownKind(_ existing: StoredRow, _ kind: ChangeKind) -> ChangeKind {
        existing.state == .waitingDelete && transaction.author != .mount ? .restored : kind
    }

    private func result(
        _ existing: StoredRow, _ new: NewState, _ outcome: SaveResult.Outcome, hasAssets: Bool,
        version: Int64? = nil
    ) -> SaveResult {
        let entry = RecordEntry(
            id: existing.id, incarnation: incarnation(of: existing), type: new.place.type,
            stem: existing.entry.stem, state: .saved,
            hasDraft: false, hasAssets: hasAssets, isAwaited: false,
            size: Int64(new.text.count), modified: new.modified ?? transaction.now,
            created: existing.entry.created,
            statusChanged: max(transaction.changed, existing.entry.statusChanged + .nanoseconds(1)))
        return SaveResult(id: existing.id, outcome: outcome, entry: entry, version: version)
    }

    /// Updates the row of the record.
    ///
    /// - Parameter version: nil where the values are as before.
    private func putRecord(
        _ record: RecordID, _ new: NewState, version: Int64?
    ) throws(RecordError) {
        let values: [SQLValue] = [
            .integer(record.rawValue), .integer(Int64(new.text.count)),
            .time(new.modified ?? transaction.now), .time(transaction.changed),
        ]
        guard let version else {
            return try transaction.connection.run(Self.updateFile, values)
        }
        try transaction.connection.run(
            Self.updateRow,
            values + [
                .time(new.changed ?? transaction.now), .text(new.changedBy ?? ""),
                .integer(version),
            ])
    }

    private static let updateFile = """
        UPDATE record SET state = 0, flags = flags & ~5, waiting_since = NULL, size = ?2,
            modified = ?3, \(Columns.changed("?4")) WHERE id = ?1
        """

    private static let updateRow = """
        UPDATE record SET state = 0, flags = flags & ~5, waiting_since = NULL, size = ?2,
            modified = ?3, \(Columns.changed("?4")), changed = ?5, changed_by = ?6, version = ?7
        WHERE id = ?1
        """

    /// Stores another text with the values of the record's version.
    func putText(_ record: RecordID, _ text: [UInt8]) throws(RecordError) {
        try transaction.connection.run(
            """
            INSERT INTO record_text (record_id, text, checksum) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET text = excluded.text, checksum = excluded.checksum
            """, [.integer(record.rawValue), .blob(text), .checksum(text)])
    }
}

extension RecordError {
    fileprivate static func noName(_ record: StoredRow) -> RecordError {
        RecordError(
            .corrupt,
            "Record \(record.entry.stem) has lost its name; recordfs fsck --deep shows more.")
    }
}
