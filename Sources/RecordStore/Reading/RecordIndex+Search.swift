import Logging
package import RecordModel
import RecordSQL
import Synchronization

extension RecordIndex {
    /// Returns the saved records of a type that match, in the order that the expression requests,
    /// otherwise in the order of their numbers.
    ///
    /// - Parameter onProgress: receives the number of examined records from time to time.
    package func query(
        _ type: TypeID, _ expression: QueryExpression, onProgress: (Int) -> Void = { _ in }
    ) throws(RecordError) -> [RecordEntry] {
        guard let matcher = try QueryMatcher(store, type, expression) else { return [] }
        var found: [(entry: RecordEntry, key: QueryExpression.SortKey)] = []
        if let candidates = try indexedCandidates(type, expression) {
            try withRecords(candidates, of: type) { (entry, name, text) throws(RecordError) in
                if let key = try matcher.key(of: entry, name, text) { found.append((entry, key)) }
            }
            return Self.ordered(found, expression)
        }
        var seen = 0
        try store.withNamedRecords(in: type) { (entry, name, text) throws(RecordError) in
            seen += 1
            if seen % 5000 == 0 { onProgress(seen) }
            if let key = try matcher.key(of: entry, name, text) { found.append((entry, key)) }
        }
        if seen >= WantedIndexes.worthwhile, store.isWritable { try wantIndexes(type, expression) }
        return Self.ordered(found, expression)
    }

    private static func ordered(
        _ found: [(entry: RecordEntry, key: QueryExpression.SortKey)],
        _ expression: QueryExpression
    ) -> [RecordEntry] {
        guard !expression.order.isEmpty else { return found.map(\.entry) }
        return found.sorted { expression.isOrdered($0.key, before: $1.key) }.map(\.entry)
    }

    /// Returns one saved record of a type by its stem, if it matches.
    package func match(
        _ type: TypeID, _ expression: QueryExpression, _ stem: Stem
    ) throws(RecordError) -> RecordEntry? {
        guard let matcher = try QueryMatcher(store, type, expression) else { return nil }
        let row = try store.read { connection throws(RecordError) in
            try connection.first(
                """
                SELECT \(Columns.record), name, text, checksum
                FROM record JOIN saved_text ON record_id = id
                WHERE type_id = ? AND stem = ? AND state = 0
                """, [.integer(type.rawValue), .name(stem)]
            ) { row throws(RecordError) in
                let entry = row.record()
                return (
                    entry, RecordName(bytes: row.bytes(Columns.recordCount)),
                    try row.text(Columns.recordCount + 1) { "record \(entry.stem)" }
                )
            }
        }
        guard let (entry, name, text) = row else { return nil }
        return try matcher.key(of: entry, name, text) == nil ? nil : entry
    }

    /// Returns the saved records of a zone that contain all the words, in any field: the best match
    /// first, or, if there are more than `rankedAtMost`, the shortest first.
    ///
    /// The index is updated first. A store that is open for reading cannot do that: it finds the
    /// records that the writer's last search has indexed.
    package func search(
        _ zone: ZoneID, words: String
    ) throws(RecordError) -> [RecordEntry] {
        guard let words = try SearchWords(words) else { return [] }
        let isBehind = try store.isWritable ? indexChanges() : false
        let indexed = try indexedHits(zone, words)
        guard isBehind else { return indexed }
        // Records that are not in the index yet are searched directly.
        let unindexed = try unindexedHits(zone, words)
        let new = Set(unindexed.looked)
        return indexed.filter { !new.contains($0.id) } + unindexed.hits
    }

    /// The largest number of texts that are ranked. Ranking reads the texts, and nobody looks at
    /// all hits when there are more.
    private static let rankedAtMost = 1000

    private func indexedHits(
        _ zone: ZoneID, _ words: SearchWords
    ) throws(RecordError) -> [RecordEntry] {
        let candidates = try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.joined(Columns.record, as: "r"))
                FROM record_search s CROSS JOIN history h ON h.token = s.rowid
                    CROSS JOIN record r ON r.id = h.record_id AND r.version = h.token
                WHERE record_search MATCH ? AND r.zone_id = ? AND r.state = 0
                ORDER BY r.size, r.id
                """, [.text(words.tokens), .integer(zone.rawValue)]
            ) { $0.record() }
        }
        if candidates.count <= Self.rankedAtMost { return try matching(candidates, words) }
        guard words.hasPhrases else { return candidates }
        var hits: [RecordEntry] = []
        for start in stride(from: 0, to: candidates.count, by: Self.rankedAtMost) {
            let some = candidates[start..<min(start + Self.rankedAtMost, candidates.count)]
            let found = Set(try matching(Array(some), words).map(\.id))
            hits += some.filter { found.contains($0.id) }
        }
        return hits
    }

    /// One of the records that a search may find.
    package enum SearchHit: Sendable {
        /// The record that was made first among those with this stem, in any type.
        case named(Stem)
        case numbered(RecordID)
    }

    /// Returns one record that `search` would find.
    package func searchHit(
        _ zone: ZoneID, words: String, _ hit: SearchHit
    ) throws(RecordError) -> RecordEntry? {
        guard let parts = try SearchWords(words) else { return nil }
        let isBehind = try store.isWritable ? indexChanges() : false
        let (condition, value): (String, SQLValue) =
            switch hit {
            case .named(let stem): ("r.stem = ?", .name(stem))
            case .numbered(let id): ("r.id = ?", .integer(id.rawValue))
            }
        // The order of the tables is fixed: first the index of the names, and then the question
        // whether the words are in that one text.
        var indexed = try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.joined(Columns.record, as: "r"))
                FROM record_type t CROSS JOIN record r ON r.type_id = t.id
                    CROSS JOIN record_search s ON s.rowid = r.version
                WHERE t.zone_id = ? AND \(condition) AND record_search MATCH ? AND r.state = 0
                """, [.integer(zone.rawValue), value, .text(parts.tokens)]
            ) { $0.record() }
        }
        if parts.hasPhrases { indexed = try matching(indexed, parts) }
        guard isBehind else { return indexed.min { $0.id.rawValue < $1.id.rawValue } }
        let hits = try search(zone, words: words).filter { entry in
            switch hit {
            case .named(let stem): entry.stem == stem
            case .numbered(let id): entry.id == id
            }
        }
        return hits.min { $0.id.rawValue < $1.id.rawValue }
    }

    /// The number of changes that a search indexes before it answers. The process that has the
    /// store open indexes the rest after the answer.
    private static let indexedAtOnce: Int64 = 6000

    /// Indexes the changes since the last search, in the order of history. Returns true when some
    /// of them are left.
    private func indexChanges() throws(RecordError) -> Bool {
        let backlog = try searchBacklog()
        guard backlog > 0 else { return false }
        var left = Self.indexedAtOnce
        while left > 0 {
            guard try indexNextWords() else { return false }
            left -= Transaction.batchSize
        }
        // The index may have started again meanwhile.
        guard try searchBacklog() > 0 else { return false }
        store.wantedIndexes.withLock { $0.isSearchWanted = true }
        return true
    }

    /// Indexes the words of the next changes. Returns false when there are none.
    func indexNextWords() throws(RecordError) -> Bool {
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.indexBatch()
        }
    }

    /// Returns the number of changes that the index of words does not know.
    package func searchBacklog() throws(RecordError) -> Int64 {
        try store.read { connection throws(RecordError) in
            try connection.first(
                """
                SELECT (SELECT MAX(token) FROM history)
                    - (SELECT value FROM meta WHERE key = 'searchToken')
                """
            ) { $0.int64IfPresent(0) } ?? nil
        } ?? 0
    }
}

/// One expression over the records of one type.
private struct QueryMatcher {
    private let expression: QueryExpression
    private let schema: RecordSchema
    private var limits: RecordLimits

    /// Makes a matcher. Returns nil for a type that does not exist.
    init?(_ store: RecordStore, _ type: TypeID, _ expression: QueryExpression) throws(RecordError) {
        guard let info = try store.type(type) else { return nil }
        self.expression = expression
        schema = try store.schema(of: info.name)
        limits = store.options.limits
        limits.recordBytes = .max
    }

    /// Returns the record's position in the order. Returns nil when the record does not match.
    func key(
        of entry: RecordEntry, _ name: RecordName, _ text: [UInt8]
    ) throws(RecordError) -> QueryExpression.SortKey? {
        let document = try RecordDocument(parsing: text, schema: schema, limits: limits)
        guard
            expression.matches(
                document, name: name, created: entry.created, modified: entry.modified)
        else { return nil }
        return expression.sortKey(
            document, name: name, created: entry.created, modified: entry.modified)
    }
}

extension Transaction {
    /// The number of changes that one transaction indexes. The mount can save between two such
    /// transactions.
    fileprivate static let batchSize: Int64 = 500

    /// Indexes the next changes. Returns false when there are none.
    fileprivate func indexBatch() throws(RecordError) -> Bool {
        let done = try connection.first("SELECT value FROM meta WHERE key = 'searchToken'") {
            $0.int64(0)
        }
        let changes = try connection.records.changed(after: done ?? 0, limit: Self.batchSize)
        guard let last = changes.last else { return false }
        let tokens = Set(changes.map(\.token))
        let added = try Set(changes.map(\.record)).count { (record) throws(RecordError) in
            try index(record, ifAmong: tokens)
        }
        try connection.run(
            "UPDATE meta SET value = ? WHERE key = 'searchToken'", [.integer(last.token)])
        try boundStaleWords(added)
        return true
    }

    /// Empties the index when most of its versions no longer belong to a record, so that it is
    /// built again.
    private func boundStaleWords(_ added: Int) throws(RecordError) {
        try connection.run(
            "UPDATE meta SET value = value + ? WHERE key = 'searchVersions'",
            [.integer(Int64(added))])
        let isStale = try connection.exists(
            """
            SELECT 1 FROM meta WHERE key = 'searchVersions'
                AND value > 2 * (SELECT COUNT(*) FROM record) + \(Self.fewestStale)
            """)
        if isStale { try emptySearchIndex() }
    }

    /// The number of stale versions that is not enough to build a small index again.
    private static let fewestStale = 10_000

    /// Empties the index, so that everything is indexed again before the next search.
    func emptySearchIndex() throws(RecordError) {
        try connection.run("INSERT INTO record_search (record_search) VALUES ('delete-all')")
        try connection.run(
            "UPDATE meta SET value = 0 WHERE key IN ('searchToken', 'searchVersions')")
    }

    /// Indexes the present version of a record. A later version is indexed in its turn.
    ///
    /// - Returns: whether the record's version was indexed.
    private func index(_ id: RecordID, ifAmong tokens: Set<Int64>) throws(RecordError) -> Bool {
        guard let record = try connection.records.stored(id), record.state != .draftOnly,
            let version = try connection.records.version(of: id), tokens.contains(version),
            let text = try connection.records.wholeSavedText(of: id)
        else { return false }
        var limits = store.options.limits
        limits.recordBytes = .max
        let place = try place(record.entry.type)
        let schema = try schema(of: place.name)
        let words: [UInt8]
        do throws(RecordError) {
            let document = try RecordDocument(parsing: text, schema: schema, limits: limits)
            words = SearchWords.indexed(document.searchableTexts)
        } catch {
            // One bad text, which a check of the store names, must not end every search.
            store.options.logger.error(
                "A text is not searched", metadata: ["record": "\(id)", "error": "\(error)"])
            return false
        }
        try connection.run(
            "INSERT INTO record_search (rowid, text) VALUES (?, ?)",
            [.integer(version), .utf8(words)])
        return true
    }
}
