import RecordModel
import RecordSQL

/// A value of an unsent record of a zone of others.
struct UnsentValue {
    let record: RecordID
    let name: RecordName
    let field: RecordField
}

/// What others have written and this user has put elsewhere: into a record that he has renamed, moved or
/// copied, or into a draft. When their share ends, it goes with the rest; what he has written himself, and
/// nobody has got, is his.
extension Transaction {
    /// Notes which values of unsent records are those of a record that is about to be erased; nil for all
    /// of the zone. Nothing is done where all is sent.
    func noteWordsOfOthers(in zone: ZoneID, of name: RecordName? = nil) throws(RecordError) {
        guard !zonesOfNotedWords.contains(zone) else { return }
        if name == nil { zonesOfNotedWords.insert(zone) }
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

    /// What is in the trash and no server has ever told of. Read once: what comes into it meanwhile is this
    /// user's own.
    private func unsentInTrash(
        of zone: ZoneID
    ) throws(RecordError) -> [(name: RecordName, words: OwnWords)] {
        if let known = unsentInTrash[zone] { return known }
        let found = try connection.all(
            """
            SELECT name, text FROM trash t WHERE zone_id = ?1 AND is_own = 0
                AND NOT EXISTS (SELECT 1 FROM history WHERE zone_id = ?1 AND name = t.name
                    AND author = '\(Author.sync.rawValue)')
                AND NOT EXISTS (SELECT 1 FROM record WHERE zone_id = ?1 AND name = t.name)
            """, [.integer(zone.rawValue)]
        ) { (name: RecordName(bytes: $0.bytes(0)), words: OwnWords($0.bytes(1))) }
        unsentInTrash[zone] = found
        return found
    }

    /// Nil for one that cannot be read.
    private func document(of text: ForeignText) throws(RecordError) -> RecordDocument? {
        do throws(RecordError) {
            guard let token = text.token else { return try parse(text.text, of: text.type) }
            return try document(text.text, ofVersion: token, text.type)
        } catch  where error.isAboutContent {
            return nil
        }
    }

    /// Notes a value of a record that others have written, also into one which this user has made another of.
    ///
    /// - Parameter isTaken: whether it has come from there with the record.
    func noteForeign(
        _ field: RecordField, in record: RecordID, isTaken: Bool
    ) throws(RecordError) {
        try connection.run(
            """
            INSERT INTO words_of_others (record_id, field, checksum, is_taken) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET is_taken = max(is_taken, ?4)
            """,
            [
                .integer(record.rawValue), .name(field.name), .integer(field.checksum),
                .bool(isTaken),
            ])
    }

    /// Whether a record that was never sent is another one under a new name, which is shared no longer:
    /// most of its values were there.
    func isMadeOfGone(_ record: StoredRecord) throws(RecordError) -> Bool {
        let taken = try connection.all(
            "SELECT field, checksum FROM words_of_others WHERE record_id = ? AND is_taken = 1",
            [.integer(record.id.rawValue)]
        ) { (FieldName(bytes: $0.bytes(0)), $0.int64(1)) }
        guard !taken.isEmpty, let text = try connection.savedText(of: record.id) else {
            return false
        }
        let fields = try document(text, of: record.id, try place(record.entry.type)).fields
        let count = fields.count { field in
            taken.contains { $0.0 == field.name && $0.1 == field.checksum }
        }
        return count * 2 > fields.count
    }

    /// Erases what is in the trash, was never sent, and has words of a record that is about to be erased:
    /// it was that under another name.
    func eraseCopies(of name: RecordName, in zone: ZoneID) throws(RecordError) {
        for var copy in try unsentInTrash(of: zone) where copy.name != name {
            try forEachForeignText(in: zone, of: name) { (text) throws(RecordError) in
                copy.words.remove(text.text, isSame: text.isTaken)
            }
            if copy.words.hasForeign { try eraseTraces(of: copy.name, in: zone) }
        }
    }

    /// The values of a record that others have written, of which this user has made another record.
    func wordsOfOthers(in record: RecordID) throws(RecordError) -> [FieldName: Set<Int64>] {
        let rows = try connection.all(
            "SELECT field, checksum FROM words_of_others WHERE record_id = ?",
            [.integer(record.rawValue)]
        ) { (FieldName(bytes: $0.bytes(0)), Set([$0.int64(1)])) }
        return Dictionary(rows, uniquingKeysWith: { $0.union($1) })
    }

    /// Forgets those of records that are here no longer.
    func forgetWordsOfOthers() throws(RecordError) {
        try connection.run(
            "DELETE FROM words_of_others WHERE record_id NOT IN (SELECT id FROM record)")
    }

    /// By their fields. Read once: what is taken away meanwhile needs nothing of it any more.
    private func unsentValues(
        in zone: ZoneID
    ) throws(RecordError) -> [FieldName: [UnsentValue]] {
        if let known = unsentValues[zone] { return known }
        let records = try connection.all(
            """
            SELECT \(StoredRecord.columns) FROM record WHERE zone_id = ?1 AND name IN
                (SELECT name FROM outbox WHERE zone_id = ?1 AND operation != 3)
            """, [.integer(zone.rawValue)]
        ) { StoredRecord($0) }
        var values: [FieldName: [UnsentValue]] = [:]
        for record in records {
            guard let name = record.name, let text = try connection.savedText(of: record.id) else {
                continue
            }
            do throws(RecordError) {
                let place = try place(record.entry.type)
                for field in try document(text, of: record.id, place).fields {
                    values[field.name, default: []].append(
                        UnsentValue(record: record.id, name: name, field: field))
                }
            } catch  where error.isAboutContent {
                continue
            }
        }
        unsentValues[zone] = values
        return values
    }

    /// A text that came from the server.
    struct ForeignText {
        let name: RecordName
        let type: RecordTypeName
        /// Of the version that it is.
        let token: Int64?
        let text: [UInt8]
        /// Whether this user has deleted the record, as who gives it another name does: each value is then
        /// taken from there.
        let isTaken: Bool
    }

    /// All that others have written and that is here: versions that came from the server, and what it has
    /// acknowledged.
    func forEachForeignText(
        in zone: ZoneID, of name: RecordName?,
        _ body: (ForeignText) throws(RecordError) -> Void
    ) throws(RecordError) {
        let key: [SQLValue] = [.integer(zone.rawValue), name.map { .name($0) } ?? .null]
        let taken = Set(
            try connection.all(
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
            let page = try connection.all(
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
            for text in page { try body(text) }
            guard let end = page.last?.token else { break }
            last = end
        }
        let others = try connection.all(
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
    /// Of its value as a document prints it.
    var checksum: Int64 { TextChecksum.of(RecordDocument.print([self], parent: nil)) }
}
