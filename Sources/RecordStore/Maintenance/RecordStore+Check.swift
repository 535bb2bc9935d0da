package import RecordModel
import RecordSQL

extension RecordStore {
    /// What is wrong with the store, one sentence each; empty when nothing is.
    ///
    /// - Parameter deep: also reads every asset file and every text.
    package func integrityCheck(deep: Bool = false) throws(RecordError) -> [String] {
        var problems = try databaseProblems()
        problems += try rowProblems()
        problems += try assetProblems(deep: deep)
        if deep { problems += try textProblems() }
        return problems
    }

    private func databaseProblems() throws(RecordError) -> [String] {
        try read { connection throws(RecordError) in
            try connection.all("PRAGMA integrity_check") { $0.string(0) }.filter { $0 != "ok" }
                + connection.all("PRAGMA foreign_key_check") {
                    "A row of \($0.string(0)) refers to a missing row of \($0.string(2))."
                }
        }
    }

    /// Each query lists rows that break an invariant.
    private static let invariants = [
        (
            "Record %@ is saved without a text.",
            """
            SELECT stem FROM record r WHERE state != 1
                AND NOT EXISTS (SELECT 1 FROM record_text t WHERE t.record_id = r.id)
            """
        ),
        (
            "Record %@ is saved without a name.",
            "SELECT stem FROM record WHERE state != 1 AND name IS NULL"
        ),
        (
            "The draft flag of record %@ is wrong.",
            """
            SELECT stem FROM record r WHERE (flags & 1 != 0)
                != EXISTS (SELECT 1 FROM draft d WHERE d.record_id = r.id)
            """
        ),
        (
            "Record %@ waits for its deletion without a time.",
            "SELECT stem FROM record WHERE (state = 2) != (waiting_since IS NOT NULL)"
        ),
        (
            "An outgoing change of %@ has no record.",
            """
            SELECT name FROM outbox o WHERE operation != 3 AND batch = 0
                AND NOT EXISTS (SELECT 1 FROM record r WHERE r.id = o.record_id)
            """
        ),
        (
            "The size of record %@ is not that of its text.",
            """
            SELECT stem FROM record r JOIN record_text t ON t.record_id = r.id
            WHERE flags & 1 = 0 AND size != length(text)
            """
        ),
    ]

    private func rowProblems() throws(RecordError) -> [String] {
        try read { connection throws(RecordError) in
            var problems: [String] = []
            for (sentence, query) in Self.invariants {
                problems += try connection.all(query) { row in
                    sentence.replacing("%@", with: row.string(0))
                }
            }
            return problems
        }
    }

    private func assetProblems(deep: Bool) throws(RecordError) -> [String] {
        let files = AssetFiles(places: places)
        let referred = try read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT hash, size FROM asset WHERE hash IS NOT NULL AND downloaded = 1 AND kind = 0
                UNION SELECT hash, size FROM kept_asset WHERE downloaded = 1
                """
            ) { (hash: ContentHash(hex: $0.string(0)), size: $0.int64(1)) }
        }
        var problems: [String] = []
        for (hash, size) in referred {
            guard let found = files.size(of: hash) else {
                problems.append("The asset file \(hash) is missing.")
                continue
            }
            if found != size {
                problems.append("The asset file \(hash) has \(found) bytes, not \(size).")
            }
            if deep, try hashOfFile(hash) != hash {
                problems.append("The asset file \(hash) has other content than its name says.")
            }
        }
        return problems
    }

    private func textProblems() throws(RecordError) -> [String] {
        var problems: [String] = []
        for database in Database.allCases {
            for zone in try zones(in: database) {
                for type in try types(in: zone.id) {
                    let schema = try schema(of: type.name)
                    var limits = options.limits
                    // What the server has may be larger than what may be saved here.
                    limits.recordBytes = .max
                    try withRecords(in: type.id) { (entry, text) throws(RecordError) in
                        do throws(RecordError) {
                            _ = try RecordDocument(
                                parsing: text, schema: schema, limits: limits)
                        } catch {
                            problems.append("The text of record \(entry.stem) is refused: \(error)")
                        }
                    }
                }
            }
        }
        return problems
    }
}
