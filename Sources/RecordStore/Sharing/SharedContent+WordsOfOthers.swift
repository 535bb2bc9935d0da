package import RecordModel
import RecordSQL

/// Values of others that this user has put in another place: into a record that this user has
/// renamed, moved or copied, or into a draft. When the others' share ends, these values are removed
/// with the rest. Values that this user has written, and that nobody has received, belong to this
/// user.
extension SharedContent {
    /// Notes which values of unsent records come from a record that is about to be erased; with
    /// nil, from any record of the zone. Does nothing where everything is sent.
    package func noteWordsOfOthers(in zone: ZoneID, of name: RecordName? = nil) throws(RecordError)
    {
        guard !transaction.zonesOfNotedWords.contains(zone) else { return }
        if name == nil { transaction.zonesOfNotedWords.insert(zone) }
        let unsent = try unsentValues(in: zone)
        guard !unsent.isEmpty else { return }
        try forEachForeignText(in: zone, of: name) { (text) throws(RecordError) in
            guard let document = try document(of: text) else { return }
            for field in document.fields {
                for own in unsent[field.name] ?? [] where own.name != text.name {
                    guard text.isTaken || own.field.value.tells,
                        own.field.value.isCopy(of: field.value)
                    else { continue }
                    try noteForeign(own.field, in: own.record, isTaken: text.isTaken)
                }
            }
        }
    }

    /// Returns the entries of the trash that no server has ever reported. They are read once,
    /// because entries that are added later are this user's own.
    private func unsentInTrash(
        of zone: ZoneID
    ) throws(RecordError) -> [(name: RecordName, words: OwnWords)] {
        if let known = transaction.unsentInTrash[zone] { return known }
        let found = try transaction.connection.all(
            """
            SELECT name, text FROM trash t WHERE zone_id = ?1 AND is_own = 0
                AND NOT EXISTS (SELECT 1 FROM history WHERE zone_id = ?1 AND name = t.name
                    AND author = '\(Author.sync.rawValue)')
                AND NOT EXISTS (SELECT 1 FROM record WHERE zone_id = ?1 AND name = t.name)
            """, [.integer(zone.rawValue)]
        ) { (name: RecordName(bytes: $0.bytes(0)), words: OwnWords($0.bytes(1))) }
        transaction.unsentInTrash[zone] = found
        return found
    }

    /// Parses a text of others. Returns nil for a text that cannot be read.
    private func document(of text: ForeignText) throws(RecordError) -> RecordDocument? {
        do throws(RecordError) {
            guard let token = text.token else {
                return try transaction.records.parse(text.text, of: text.type)
            }
            return try transaction.outbox.document(text.text, ofVersion: token, text.type)
        } catch  where error.isAboutContent {
            return nil
        }
    }

    /// Notes a value of a record that others have written, even if they wrote it into another
    /// record from which this user has made this one.
    ///
    /// - Parameter isTaken: whether the value came from there together with the record.
    package func noteForeign(
        _ field: RecordField, in record: RecordID, isTaken: Bool
    ) throws(RecordError) {
        try transaction.connection.run(
            """
            INSERT INTO words_of_others (record_id, field, checksum, is_taken) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET is_taken = max(is_taken, ?4)
            """,
            [
                .integer(record.rawValue), .name(field.name), .integer(field.checksum),
                .bool(isTaken),
            ])
    }

    /// Returns whether a record that was never sent is a record that is no longer shared, under a
    /// new name: most of its values were there.
    package func isMadeOfGone(_ record: StoredRow) throws(RecordError) -> Bool {
        let taken = try transaction.connection.all(
            "SELECT field, checksum FROM words_of_others WHERE record_id = ? AND is_taken = 1",
            [.integer(record.id.rawValue)]
        ) { (FieldName(bytes: $0.bytes(0)), $0.int64(1)) }
        guard !taken.isEmpty, let text = try transaction.connection.records.savedText(of: record.id)
        else {
            return false
        }
        let fields = try transaction.outbox.document(
            text, of: record.id, try transaction.place(record.entry.type)
        ).fields
        let count = fields.count { field in
            taken.contains { $0.0 == field.name && $0.1 == field.checksum }
        }
        return count * 2 > fields.count
    }

    /// Erases entries of the trash that were never sent and that have values of a record that is
    /// about to be erased: they were that record under another name.
    func eraseCopies(of name: RecordName, in zone: ZoneID) throws(RecordError) {
        for var copy in try unsentInTrash(of: zone) where copy.name != name {
            try forEachForeignText(in: zone, of: name) { (text) throws(RecordError) in
                copy.words.remove(text.text, isSame: text.isTaken)
            }
            if copy.words.hasForeign { try eraseTraces(of: copy.name, in: zone) }
        }
    }

    /// Returns the values in a record that others have written, where this user has made the record
    /// from theirs.
    func wordsOfOthers(in record: RecordID) throws(RecordError) -> [FieldName: Set<Int64>] {
        let rows = try transaction.connection.all(
            "SELECT field, checksum FROM words_of_others WHERE record_id = ?",
            [.integer(record.rawValue)]
        ) { (FieldName(bytes: $0.bytes(0)), Set([$0.int64(1)])) }
        return Dictionary(rows, uniquingKeysWith: { $0.union($1) })
    }

    /// Deletes these values for records that are no longer here.
    func forgetWordsOfOthers() throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM words_of_others WHERE record_id NOT IN (SELECT id FROM record)")
    }

    /// Returns the unsent values, by field. They are read once, because records that are removed
    /// meanwhile no longer need them.
    private func unsentValues(
        in zone: ZoneID
    ) throws(RecordError) -> [FieldName: [UnsentValue]] {
        if let known = transaction.unsentValues[zone] { return known }
        let records = try transaction.connection.all(
            """
            SELECT \(StoredRow.columns) FROM record WHERE zone_id = ?1 AND name IN
                (SELECT name FROM outbox WHERE zone_id = ?1 AND operation != 3)
            """, [.integer(zone.rawValue)]
        ) { StoredRow($0) }
        var values: [FieldName: [UnsentValue]] = [:]
        for record in records {
            guard let name = record.name,
                let text = try transaction.connection.records.savedText(of: record.id)
            else {
                continue
            }
            do throws(RecordError) {
                let place = try transaction.place(record.entry.type)
                for field in try transaction.outbox.document(text, of: record.id, place).fields {
                    values[field.name, default: []].append(
                        UnsentValue(record: record.id, name: name, field: field))
                }
            } catch  where error.isAboutContent {
                continue
            }
        }
        transaction.unsentValues[zone] = values
        return values
    }

    /// A text that came from the server.
    struct ForeignText {
        let name: RecordName
        let type: RecordTypeName
        /// The token of the version with this text.
        let token: Int64?
        let text: [UInt8]
        /// Indicates whether this user has deleted the record, which also happens when it gets
        /// another name. Each value then counts as taken from there.
        let isTaken: Bool
    }

    /// Calls `body` for each text on this machine that others have written: versions that came from
    /// the server, and states that it has acknowledged.
    func forEachForeignText(
        in zone: ZoneID, of name: RecordName?,
        _ body: (ForeignText) throws(RecordError) -> Void
    ) throws(RecordError) {
        let key: [SQLValue] = [.integer(zone.rawValue), name.map { .name($0) } ?? .null]
        let taken = Set(
            try transaction.connection.all(
                """
                SELECT name FROM outbox WHERE zone_id = ?1 AND operation = 3
                    AND (?2 IS NULL OR name = ?2)
                UNION SELECT name FROM trash WHERE zone_id = ?1 AND is_own = 0
                    AND (?2 IS NULL OR name = ?2)
                UNION SELECT name FROM record WHERE zone_id = ?1 AND waiting_since IS NOT NULL
                    AND name IS NOT NULL AND (?2 IS NULL OR name = ?2)
                """, key
            ) { RecordName(bytes: $0.bytes(0)) })
        var last = Int64.min
        while true {
            let page = try transaction.connection.all(
                """
                SELECT token, name, type, text FROM history
                WHERE zone_id = ?1 AND (?2 IS NULL OR name = ?2) AND author = '\(Author.sync.rawValue)'
                    AND token > ?3 AND length(text) > 0 ORDER BY token LIMIT 100
                """, key + [.integer(last)]
            ) { row in
                let name = RecordName(bytes: row.bytes(1))
                return ForeignText(
                    name: name, type: RecordTypeName(bytes: row.bytes(2)), token: row.int64(0),
                    text: row.bytes(3), isTaken: taken.contains(name))
            }
            try requireProgress(after: last, to: page.last?.token, in: "history")
            for text in page { try body(text) }
            guard let end = page.last?.token else { break }
            last = end
        }
        let others = try transaction.connection.all(
            """
            SELECT r.name, t.name, b.text FROM base b JOIN record r ON r.id = b.record_id
            JOIN record_type t ON t.id = r.type_id
            WHERE r.zone_id = ?1 AND (?2 IS NULL OR r.name = ?2) AND b.text IS NOT NULL
            UNION ALL SELECT name, type, base_text FROM outbox
            WHERE zone_id = ?1 AND (?2 IS NULL OR name = ?2) AND base_text IS NOT NULL
            """, key
        ) { row in
            let name = RecordName(bytes: row.bytes(0))
            return ForeignText(
                name: name, type: RecordTypeName(bytes: row.bytes(1)), token: nil,
                text: row.bytes(2), isTaken: taken.contains(name))
        }
        for text in others { try body(text) }
    }
}

extension RecordField {
    /// The checksum of its value as a document prints it.
    var checksum: Int64 { TextChecksum.of(RecordDocument.print([self], parent: nil)) }
}
