import Logging
package import RecordModel
import RecordSQL

extension RecordWriting {
    /// Keeps a text that was refused, for a record or for a name without one (draftOnly). A waiting
    /// deletion of the name ends, because its file exists again.
    ///
    /// - Parameters:
    ///   - effect: the effect on a program that has the record's file open.
    ///   - isAwaited: nobody has made the file yet; only its assets are here.
    ///
    /// Errors: notFound for the type; accessDenied; invalidName.
    package func saveDraft(
        text: [UInt8], type: TypeID, stem: Stem, id: RecordID? = nil, error: RecordError,
        effect: FileEffect = .replaced, isAwaited: Bool = false
    ) throws(RecordError) -> RecordEntry {
        // A zone that has become read-only keeps a text that was being written there.
        let isKept = error.code == .accessDenied
        let place = try isKept ? self.transaction.place(type) : transaction.writablePlace(type)
        let record: RecordID
        if let existing = try target(stem, type) {
            if !isKept { try transaction.checkWritable(existing, in: place) }
            record = existing.id
            try replaceFile(of: existing, effect, newText: text)
            if existing.state == .waitingDelete { try transaction.touch(type) }
            try transaction.connection.run(
                """
                UPDATE record SET state = CASE state WHEN 2 THEN 0 ELSE state END,
                    waiting_since = NULL, flags = (flags & ~4) | 1, size = ?2, modified = ?3
                WHERE id = ?1
                """,
                [.integer(record.rawValue), .integer(Int64(text.count)), .time(transaction.now)])
        } else {
            record = try insertDraftOnly(stem, place, id: id, size: text.count)
        }
        if isAwaited {
            try transaction.connection.run(
                "UPDATE record SET flags = flags | 4 WHERE id = ?", [.integer(record.rawValue)])
        }
        try putDraft(record, text, error)
        if !text.isEmpty {
            // No log names records that others share, because a log outlives the share.
            let isOfOthers = place.zone.database == .shared
            transaction.store.options.logger.notice(
                "A save was refused; its text is kept as a draft",
                metadata: isOfOthers
                    ? ["zone": "\(place.zone.name)", "error": "\(error.code.rawValue)"]
                    : ["record": "\(stem)", "error": "\(error)"])
        }
        transaction.note(.draft, zone: place.zone.id, type: type, record: record, stem: stem)
        return try requireEntry(record)
    }

    func insertDraftOnly(
        _ stem: Stem, _ place: TypePlace, id: RecordID?, size: Int
    ) throws(RecordError) -> RecordID {
        guard stem.decoded != nil else {
            throw RecordError(
                .invalidName, "\(stem).json is not the encoded form of a record name.")
        }
        let record: RecordID
        if let id { record = id } else { record = try transaction.newRecordID() }
        try transaction.connection.run(
            """
            INSERT INTO record (id, zone_id, type_id, stem, state, flags, size, modified, created,
                generation, created_by, changed, changed_by)
            VALUES (?1, ?2, ?3, ?4, 1, 1, ?5, ?6, ?6, 0, '', ?6, '')
            """,
            [
                .integer(record.rawValue), .integer(place.zone.id.rawValue),
                .integer(place.type.rawValue), .name(stem), .integer(Int64(size)),
                .time(transaction.now),
            ])
        try transaction.touch(place.type)
        return record
    }

    func putDraft(
        _ record: RecordID, _ text: [UInt8], _ error: RecordError, since: Timestamp? = nil
    ) throws(RecordError) {
        try transaction.connection.run(
            """
            INSERT OR REPLACE INTO draft
                (record_id, text, checksum, code, message, line, text_column, text_offset, since)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(record.rawValue), .blob(text), .checksum(text),
                .text(error.code.rawValue), .text(error.message),
                .optional(error.position.map { Int64($0.line) }),
                .optional(error.position.map { Int64($0.column) }),
                .optional(error.position.map { Int64($0.offset) }), .time(since ?? transaction.now),
            ])
        try putRefusal(record, error, since: since ?? transaction.now)
    }

    private func putRefusal(
        _ record: RecordID, _ error: RecordError, since: Timestamp
    ) throws(RecordError) {
        try transaction.connection.run(
            """
            INSERT OR REPLACE INTO refusal
                (record_id, code, message, line, text_column, text_offset, since)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(record.rawValue), .text(error.code.rawValue), .text(error.message),
                .optional(error.position.map { Int64($0.line) }),
                .optional(error.position.map { Int64($0.column) }),
                .optional(error.position.map { Int64($0.offset) }), .time(since),
            ])
    }

    /// Removes the refusal, after a good save or after somebody has read it.
    func clearRefusal(_ record: RecordID) throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM refusal WHERE record_id = ?", [.integer(record.rawValue)])
    }

    /// Removes the reason why the last save was refused, where an editor has already taken its text
    /// back.
    package func discardRefusal(_ id: RecordID) throws(RecordError) {
        let record = try requireRecord(id)
        try clearRefusal(id)
        transaction.note(
            .draft, zone: record.zone, type: record.entry.type, record: id,
            stem: record.entry.stem)
    }

    /// Deletes the draft. The flag is cleared by the update of the row that every caller makes.
    func clearDraft(_ record: StoredRow) throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM draft WHERE record_id = ?", [.integer(record.id.rawValue)])
    }

    /// Deletes the draft, so that the file shows the saved text.
    func showSavedText(_ record: StoredRow) throws(RecordError) {
        try clearDraft(record)
        try transaction.connection.run(
            """
            UPDATE record SET flags = flags & ~5, modified = changed,
                size = (SELECT length(text) FROM saved_text WHERE record_id = id)
            WHERE id = ?
            """, [.integer(record.id.rawValue)])
    }

    /// Discards the draft and returns the record without it. Returns nil when nothing is left (it
    /// was draftOnly). Assets that arrived before their record keep waiting for it. Errors:
    /// notFound, also for a record that only its assets wait for.
    package func discardDraft(_ id: RecordID) throws(RecordError) -> RecordEntry? {
        let record = try requireRecord(id)
        if record.state == .draftOnly, try !transaction.connection.records.assets(of: id).isEmpty {
            guard !record.entry.isAwaited else {
                throw RecordError(.notFound, "\(RecordError.missingRecord(record.entry.stem))")
            }
            try replaceFile(of: record, .rewritten)
            return try beginAwaiting(record)
        }
        try replaceFile(of: record, .rewritten)
        guard record.state != .draftOnly else {
            try removeRows(of: record)
            try transaction.touch(record.entry.type)
            transaction.note(
                .deleted, zone: record.zone, type: record.entry.type, record: id,
                stem: record.entry.stem)
            return nil
        }
        try showSavedText(record)
        try clearRefusal(id)
        transaction.note(
            .draft, zone: record.zone, type: record.entry.type, record: id,
            stem: record.entry.stem)
        return try requireEntry(id)
    }

    /// Removes the file of a record that was never saved. Its assets stay and wait for it.
    func beginAwaiting(_ record: StoredRow) throws(RecordError) -> RecordEntry {
        try saveDraft(
            text: [], type: record.entry.type, stem: record.entry.stem,
            error: .missingRecord(record.entry.stem), isAwaited: true)
    }

    /// Runs a change of the saved record beside its draft, so that the file still shows the draft.
    /// If only assets wait for the record, there is no draft to show, and the file shows the record
    /// after the change.
    package func keepingDraft<Result>(
        of record: StoredRow?, _ body: () throws(RecordError) -> Result
    ) throws(RecordError) -> Result {
        guard let record, record.entry.hasDraft, !record.entry.isAwaited,
            let draft = try transaction.connection.records.draft(of: record.id)
        else {
            return try body()
        }
        let result = try body()
        try putDraft(record.id, draft.text, draft.error, since: draft.since)
        try transaction.connection.run(
            "UPDATE record SET flags = flags | 1, size = ?, modified = ? WHERE id = ?",
            [
                .integer(Int64(draft.text.count)), .time(record.entry.modified),
                .integer(record.id.rawValue),
            ])
        return result
    }

    /// Stores a time set by utimens, on this machine only.
    package func setModified(_ id: RecordID, _ modified: Timestamp) throws(RecordError) {
        try transaction.connection.run(
            "UPDATE record SET modified = ? WHERE id = ?",
            [.time(modified), .integer(id.rawValue)])
    }

    /// Stores a directory's time until an entry is added or removed.
    package func setModified(_ type: TypeID, _ modified: Timestamp) throws(RecordError) {
        transaction.touched[type] = .set
        try transaction.connection.run(
            """
            UPDATE record_type SET modified = ?1, is_busy = 0, \(Columns.changed("?2"))
            WHERE id = ?3
            """,
            [
                .time(modified), .time(transaction.nextChange(of: type)),
                .integer(type.rawValue),
            ])
    }

    /// Stores the time of a zone's directory in the same way.
    package func setModified(_ zone: ZoneID, _ modified: Timestamp) throws(RecordError) {
        try transaction.connection.run(
            "UPDATE zone SET modified = ? WHERE id = ?",
            [.time(modified), .integer(zone.rawValue)])
    }
}

extension RecordError {
    /// The reason why assets belong to no record yet.
    ///
    /// - Parameter file: the name of one of them. If it ends like the file of a record, it may be
    ///   meant as a record.
    package static func missingRecord(_ stem: Stem, file: [UInt8] = []) -> RecordError {
        guard file.count > 5, file.suffix(5).elementsEqual(".json".utf8) else {
            return RecordError(
                .invalidRecord,
                "\(stem).json is still missing, and the files \(stem)@... wait for it: make it, "
                    + "or remove them")
        }
        let name = Stem(encoding: RecordName(bytes: Array(file.dropLast(5))))
        let field = file.drop { $0 != UInt8(ascii: "@") }.dropFirst()
            .prefix { $0 != UInt8(ascii: ".") }
        return RecordError(
            .invalidRecord,
            "\(String(decoding: file, as: UTF8.self)) is taken for the large field "
                + "\(String(decoding: field, as: UTF8.self)) of a record \(stem), and \(stem).json is "
                + "missing. If the file is a record, name it \(name).json; else make \(stem).json")
    }
}

extension RecordRows {
    package func draft(of id: RecordID) throws(RecordError) -> Draft? {
        try connection.first(
            """
            SELECT \(Columns.draft) FROM draft d CROSS JOIN record r ON r.id = d.record_id
            WHERE d.record_id = ?
            """, [.integer(id.rawValue)]
        ) { $0.draft() }
    }
}
