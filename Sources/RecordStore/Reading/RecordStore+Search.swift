import Logging
package import RecordModel
import RecordSQL

extension RecordStore {
    /// The saved records of a type that match, in the order that the expression asks for, else by
    /// number.
    package func query(
        _ type: TypeID, _ expression: QueryExpression
    ) throws(RecordError) -> [RecordEntry] {
        guard let info = try self.type(type) else { return [] }
        let schema = try schema(of: info.name)
        var limits = options.limits
        limits.recordBytes = .max
        var found: [(entry: RecordEntry, key: QueryExpression.SortKey)] = []
        try withNamedRecords(in: type) { (entry, name, text) throws(RecordError) in
            let document = try RecordDocument(parsing: text, schema: schema, limits: limits)
            guard
                expression.matches(
                    document, name: name, created: entry.created, modified: entry.modified)
            else { return }
            let key = expression.sortKey(
                document, name: name, created: entry.created, modified: entry.modified)
            found.append((entry, key))
        }
        guard !expression.order.isEmpty else { return found.map(\.entry) }
        return found.sorted { expression.isOrdered($0.key, before: $1.key) }.map(\.entry)
    }

    /// The saved records of a zone that contain all the words, in any field, best match first.
    ///
    /// The index is brought up to date first, which a store that is open for reading cannot do: it
    /// finds what the writer's last search has indexed.
    package func search(
        _ zone: ZoneID, words: String
    ) throws(RecordError) -> [RecordEntry] {
        if isWritable { try indexChanges() }
        let terms = words.split(whereSeparator: \.isWhitespace).map { word in
            "\"\(word.replacing("\"", with: "\"\""))\""
        }
        guard !terms.isEmpty else { return [] }
        return try read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT r.id, r.type_id, r.stem, r.state, r.flags, r.size, r.modified, r.created
                FROM record_search s JOIN record r ON r.id = s.rowid
                WHERE record_search MATCH ? AND r.zone_id = ? AND r.state = 0
                ORDER BY s.rank, r.id
                """, [.text(terms.joined(separator: " ")), .integer(zone.rawValue)]
            ) { $0.record() }
        }
    }

    /// Indexes what has changed since the last search, in the order of history.
    private func indexChanges() throws(RecordError) {
        while try write(
            author: .mount, { transaction throws(RecordError) in try transaction.indexBatch() })
        {}
    }
}

extension Transaction {
    /// How many changes one transaction indexes: the saves of the mount go between two of them.
    private static let batchSize: Int64 = 500

    /// Indexes the next changes; false when there are none.
    fileprivate func indexBatch() throws(RecordError) -> Bool {
        let done = try connection.first("SELECT value FROM meta WHERE key = 'searchToken'") {
            $0.int64(0)
        }
        let changes = try connection.all(
            "SELECT token, record_id FROM history WHERE token > ? ORDER BY token LIMIT ?",
            [.integer(done ?? 0), .integer(Self.batchSize)]
        ) { (token: $0.int64(0), record: RecordID($0.int64(1))) }
        guard let last = changes.last else { return false }
        for record in Set(changes.map(\.record)) { try index(record) }
        try connection.run(
            "UPDATE meta SET value = ? WHERE key = 'searchToken'", [.integer(last.token)])
        return true
    }

    private func index(_ id: RecordID) throws(RecordError) {
        try connection.run(
            "DELETE FROM record_search WHERE rowid = ?", [.integer(id.rawValue)])
        guard let record = try connection.stored(id), record.state != .draftOnly,
            let text = try connection.savedText(of: id)
        else { return }
        var limits = store.options.limits
        limits.recordBytes = .max
        let place = try place(record.entry.type)
        let schema = try schema(of: place.name)
        let words: [UInt8]
        do throws(RecordError) {
            words = try RecordDocument(
                parsing: text, schema: schema, limits: limits
            ).searchableText.utf8
        } catch {
            // One bad text, which a check of the store names, may not end every search.
            store.options.logger.error(
                "A text is not searched", metadata: ["record": "\(id)", "error": "\(error)"])
            return
        }
        try connection.run(
            "INSERT INTO record_search (rowid, text) VALUES (?, ?)",
            [.integer(id.rawValue), .utf8(words)])
    }
}
