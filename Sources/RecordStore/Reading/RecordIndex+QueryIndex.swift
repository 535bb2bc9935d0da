package import RecordModel
import RecordSQL
import Synchronization

/// The searches for which an index would have found the records sooner.
struct WantedIndexes: Sendable {
    /// The number of records below which reading all records of a type is as fast.
    static let worthwhile = 5000

    struct Field: Hashable, Sendable {
        let type: RecordTypeName
        let field: FieldName
    }

    var fields: Set<Field> = []
    /// Indicates whether a search had to read records that its index does not know.
    var isSearchWanted = false
}

extension RecordIndex {
    /// The number of changes that an index may lack before it is of no use.
    private static let longestBacklog: Int64 = 5000
    private static let batchSize: Int64 = 500
    /// The time that one call of `keepIndexes` takes.
    private static let share = Duration.milliseconds(200)

    /// Notes that an index of these fields would be useful; `keepIndexes` makes it.
    package func wantIndexes(
        _ type: TypeID, _ expression: QueryExpression
    ) throws(RecordError) {
        guard let name = try self.store.type(type)?.name else { return }
        let fields = expression.equalities.map { WantedIndexes.Field(type: name, field: $0.field) }
        store.wantedIndexes.withLock { $0.fields.formUnion(fields) }
    }

    /// Makes the indexes that are wanted, and updates the existing ones, for a while. Returns true
    /// when more work is left.
    package func keepIndexes() throws(RecordError) -> Bool {
        guard store.isWritable else { return false }
        let wanted = store.wantedIndexes.withLock { wanted in
            defer { wanted.fields = [] }
            return wanted.fields
        }
        for field in wanted { try beginIndex(field) }
        let end = ContinuousClock.now + Self.share
        while ContinuousClock.now < end {
            if try !makeNextPart() { return try keepSearchIndex(until: end) }
        }
        return true
    }

    private func keepSearchIndex(
        until end: ContinuousClock.Instant
    ) throws(RecordError) -> Bool {
        guard store.wantedIndexes.withLock(\.isSearchWanted) else { return false }
        while ContinuousClock.now < end {
            guard try indexNextWords() else {
                store.wantedIndexes.withLock { $0.isSearchWanted = false }
                return false
            }
        }
        return true
    }

    private func beginIndex(_ wanted: WantedIndexes.Field) throws(RecordError) {
        let isThere = try store.read { connection throws(RecordError) in
            try connection.exists(
                "SELECT 1 FROM query_index WHERE type = ? AND field = ?",
                [.name(wanted.type), .name(wanted.field)])
        }
        guard !isThere else { return }
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.connection.run(
                """
                INSERT OR IGNORE INTO query_index (type, field, token, built)
                VALUES (?, ?, (SELECT COALESCE(MAX(token), 0) FROM history), 0)
                """, [.name(wanted.type), .name(wanted.field)])
        }
    }

    private struct Index {
        let id: Int64
        let type: RecordTypeName
        let field: FieldName
        let token: Int64
        let built: Int64?
    }

    private func indexes() throws(RecordError) -> [Index] {
        try store.read { connection throws(RecordError) in
            try connection.all("SELECT id, type, field, token, built FROM query_index") { row in
                Index(
                    id: row.int64(0), type: RecordTypeName(bytes: row.bytes(1)),
                    field: FieldName(bytes: row.bytes(2)), token: row.int64(3),
                    built: row.int64IfPresent(4))
            }
        }
    }

    /// Does the next part of the work. Returns false when all indexes are made and contain all
    /// changes.
    private func makeNextPart() throws(RecordError) -> Bool {
        let last = try store.past.lastToken()
        for index in try indexes() {
            guard index.built == nil else {
                try build(index)
                return true
            }
            if index.token < last {
                try update(index)
                return true
            }
        }
        return false
    }

    private func build(_ index: Index) throws(RecordError) {
        try store.write(author: .mount) { transaction throws(RecordError) in
            let rows = try transaction.connection.all(
                """
                SELECT r.id FROM record r JOIN record_type t ON t.id = r.type_id
                WHERE t.name = ? AND r.id > ? ORDER BY r.id LIMIT ?
                """,
                [.name(index.type), .integer(index.built ?? 0), .integer(Self.batchSize)]
            ) { RecordID($0.int64(0)) }
            try requireProgress(after: index.built ?? 0, to: rows.last?.rawValue, in: "record")
            for id in rows {
                try transaction.indexValues(of: id, index.id, index.type, index.field)
            }
            try transaction.connection.run(
                "UPDATE query_index SET built = ? WHERE id = ?",
                [.optional(rows.last?.rawValue), .integer(index.id)])
        }
    }

    private func update(_ index: Index) throws(RecordError) {
        try store.write(author: .mount) { transaction throws(RecordError) in
            let changes = try transaction.connection.records.changed(
                after: index.token, limit: Self.batchSize)
            for id in Set(changes.map(\.record)) {
                try transaction.indexValues(of: id, index.id, index.type, index.field)
            }
            guard let last = changes.last else { return }
            try transaction.connection.run(
                "UPDATE query_index SET token = ? WHERE id = ?",
                [.integer(last.token), .integer(index.id)])
        }
    }

    // MARK: Asking

    /// Returns the records that can match, from an index: those with the value, and those that have
    /// changed since. Returns nil when no index can answer.
    func indexedCandidates(
        _ type: TypeID, _ expression: QueryExpression
    ) throws(RecordError) -> [RecordID]? {
        let equalities = expression.equalities
        guard !equalities.isEmpty, let name = try self.store.type(type)?.name else { return nil }
        for (field, hashes) in equalities {
            guard let index = try indexes().first(where: { $0.type == name && $0.field == field }),
                index.built == nil
            else { continue }
            let changed = try store.read { connection throws(RecordError) in
                try connection.all(
                    "SELECT record_id FROM history WHERE token > ? LIMIT ?",
                    [.integer(index.token), .integer(Self.longestBacklog + 1)]
                ) { RecordID($0.int64(0)) }
            }
            guard changed.count <= Self.longestBacklog else { continue }
            var found = Set(changed)
            for hash in hashes {
                let records = try store.read { connection throws(RecordError) in
                    try connection.all(
                        "SELECT record_id FROM query_value WHERE index_id = ? AND hash = ?",
                        [.integer(index.id), .integer(hash)]
                    ) { RecordID($0.int64(0)) }
                }
                found.formUnion(records)
            }
            return found.sorted { $0.rawValue < $1.rawValue }
        }
        return nil
    }

    /// Calls `body` for each saved record of a type among these.
    func withRecords(
        _ ids: [RecordID], of type: TypeID,
        _ body: (RecordEntry, RecordName, [UInt8]) throws(RecordError) -> Void
    ) throws(RecordError) {
        try store.readSnapshot { connection throws(RecordError) in
            for id in ids {
                try connection.each(
                    """
                    SELECT \(Columns.record), name, text, checksum
                    FROM record JOIN saved_text ON record_id = id
                    WHERE id = ? AND type_id = ? AND state = 0
                    """, [.integer(id.rawValue), .integer(type.rawValue)]
                ) { row throws(RecordError) in
                    let entry = row.record()
                    try body(
                        entry, RecordName(bytes: row.bytes(Columns.recordCount)),
                        try row.text(Columns.recordCount + 1) { "record \(entry.stem)" })
                }
            }
        }
    }
}

extension Transaction {
    /// Puts the values of one record into an index, instead of its earlier values.
    fileprivate func indexValues(
        of id: RecordID, _ index: Int64, _ type: RecordTypeName, _ field: FieldName
    ) throws(RecordError) {
        try connection.run(
            "DELETE FROM query_value WHERE record_id = ? AND index_id = ?",
            [.integer(id.rawValue), .integer(index)])
        guard let record = try connection.records.stored(id), record.state != .draftOnly,
            try place(record.entry.type).name == type,
            let text = try connection.records.wholeSavedText(of: id)
        else { return }
        var limits = store.options.limits
        limits.recordBytes = .max
        let value: FieldValue?
        do throws(RecordError) {
            value = try RecordDocument(
                parsing: text, schema: try schema(of: type), limits: limits)[field]
        } catch {
            // A query meets the same text and reports its error.
            return
        }
        for hash in Set(value?.queryHashes ?? []) {
            try connection.run(
                "INSERT OR IGNORE INTO query_value VALUES (?, ?, ?)",
                [.integer(index), .integer(hash), .integer(id.rawValue)])
        }
    }
}
