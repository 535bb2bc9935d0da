import RecordModel
import RecordSQL

/// Records that the index of words does not know yet, or not in their present state.
struct UnindexedHits {
    /// The records that were searched.
    var looked: [RecordID] = []
    var hits: [RecordEntry] = []
}

extension RecordIndex {
    /// Searches the records that have changed since the index was updated. Texts that may match are
    /// put into an index in memory, so that both indexes use the same words.
    func unindexedHits(
        _ zone: ZoneID, _ words: SearchWords
    ) throws(RecordError) -> UnindexedHits {
        guard try searchBacklog() > 0 else { return UnindexedHits() }
        let filter = WordFilter(words.text)
        var result = UnindexedHits()
        var candidates: [RecordID: (entry: RecordEntry, text: [UInt8])] = [:]
        try store.readSnapshot { connection throws(RecordError) in
            let token = try connection.first("SELECT value FROM meta WHERE key = 'searchToken'") {
                $0.int64(0)
            }
            let changed = "AND r.id IN (SELECT record_id FROM history WHERE token > \(token ?? 0))"
            try connection.each(
                """
                SELECT \(Columns.record), text, checksum
                FROM record r JOIN saved_text ON record_id = r.id
                WHERE r.zone_id = ? AND r.state = 0 \(token ?? 0 == 0 ? "" : changed)
                """, [.integer(zone.rawValue)]
            ) { row throws(RecordError) in
                let entry = row.record()
                result.looked.append(entry.id)
                guard let text = row.wholeText(Columns.recordCount), filter.mayMatch(text) else {
                    return
                }
                candidates[entry.id] = (entry, text)
            }
        }
        result.hits = try matching(candidates, words)
        return result
    }

    /// Returns the records whose texts contain the words, the best match first.
    func matching(
        _ candidates: [RecordEntry], _ words: SearchWords
    ) throws(RecordError) -> [RecordEntry] {
        var texts: [RecordID: (entry: RecordEntry, text: [UInt8])] = [:]
        try store.read { connection throws(RecordError) in
            for entry in candidates {
                guard let text = try connection.records.wholeSavedText(of: entry.id) else {
                    continue
                }
                texts[entry.id] = (entry, text)
            }
        }
        return try matching(texts, words)
    }

    private func matching(
        _ candidates: [RecordID: (entry: RecordEntry, text: [UInt8])], _ words: SearchWords
    ) throws(RecordError) -> [RecordEntry] {
        guard !candidates.isEmpty else { return [] }
        var limits = store.options.limits
        limits.recordBytes = .max
        var texts: [(RecordID, [UInt8])] = []
        for (id, candidate) in candidates {
            guard let type = try store.type(candidate.entry.type) else { continue }
            let schema = try store.schema(of: type.name)
            do throws(RecordError) {
                let document = try RecordDocument(
                    parsing: candidate.text, schema: schema, limits: limits)
                texts.append((id, SearchWords.indexed(document.searchableTexts)))
            } catch {
                // As in the index: one bad text must not end every search.
                continue
            }
        }
        let found = try SQLQueue().use { connection throws(RecordError) in
            try connection.run(
                """
                CREATE VIRTUAL TABLE words USING fts5 (
                    text, tokenize = '\(SearchWords.tokenizer)')
                """)
            try connection.run("BEGIN")
            for (id, text) in texts {
                try connection.run(
                    "INSERT INTO words (rowid, text) VALUES (?, ?)",
                    [.integer(id.rawValue), .utf8(text)])
            }
            try connection.run("COMMIT")
            return try connection.all(
                "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank, rowid",
                [.text(words.phrases)]
            ) { RecordID($0.int64(0)) }
        }
        return found.compactMap { candidates[$0]?.entry }
    }
}

/// A filter that excludes texts that cannot contain the words, by their bytes alone.
struct WordFilter {
    private let words: [[UInt8]]
    private let isPlain: Bool

    init(_ text: String) {
        isPlain = text.allSatisfy(\.isASCII)
        words =
            text.lowercased().split { !$0.isLetter && !$0.isNumber }.map { Array($0.utf8) }
    }

    /// Returns whether a text may contain the words. True for a text with other letters or escapes,
    /// because those are not compared here.
    func mayMatch(_ text: [UInt8]) -> Bool {
        if !Self.isSimple(text) { return true }
        guard isPlain else { return false }
        return words.allSatisfy { Self.contains(text, $0) }
    }

    private static func isSimple(_ text: [UInt8]) -> Bool {
        text.withUnsafeBytes { bytes in
            for byte in bytes where byte >= 0x80 || byte == 0x5C { return false }
            return true
        }
    }

    private static func contains(_ text: [UInt8], _ word: [UInt8]) -> Bool {
        guard let first = word.first, text.count >= word.count else { return word.isEmpty }
        return text.withUnsafeBytes { bytes in
            word.withUnsafeBytes { word in
                for start in 0...(bytes.count - word.count) where lower(bytes[start]) == first {
                    var length = 1
                    while length < word.count, lower(bytes[start + length]) == word[length] {
                        length += 1
                    }
                    if length == word.count { return true }
                }
                return false
            }
        }
    }

    @inline(__always)
    private static func lower(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}
