package import RecordModel
import RecordSQL

extension StoreUpkeep {
    /// Returns the problems of the store, one sentence each with the action to take, and each once.
    /// Empty when there is none.
    ///
    /// A part that cannot be read is a separate problem and does not end the check.
    ///
    /// - Parameter deep: also reads every text and every asset file, and compares them with their
    ///   checksums and hashes.
    package func integrityCheck(deep: Bool = false) throws(RecordError) -> [String] {
        var problems = found(databaseProblems)
        for check in Invariant.all {
            problems += found { () throws(RecordError) in try broken(check) }
        }
        problems += found(wrongStems)
        problems += found { () throws(RecordError) in try assetProblems(deep: deep) }
        if deep {
            for columns in Migrations.texts {
                problems += found { () throws(RecordError) in try damagedTexts(columns) }
            }
            problems += found(contentProblems)
        }
        var told: Set<String> = []
        return problems.filter { told.insert($0).inserted }
    }

    private func found(_ check: () throws(RecordError) -> [String]) -> [String] {
        do throws(RecordError) {
            return try check()
        } catch {
            return ["A part of the database cannot be read: \(error)"]
        }
    }

    private func wrongStems() throws(RecordError) -> [String] {
        try store.read { connection throws(RecordError) in
            try connection.recordsWithWrongStems().map {
                "The record \($0.stem) shows as \($0.present)."
            }
        }
    }

    private func databaseProblems() throws(RecordError) -> [String] {
        try store.read { connection throws(RecordError) in
            try connection.all("PRAGMA integrity_check") { $0.string(0) }.filter { $0 != "ok" }
                .map { "The database is damaged: \($0)" }
                + connection.all("PRAGMA foreign_key_check") {
                    "A row of \($0.string(0)) refers to a missing row of \($0.string(2))."
                }
        }
    }

    private func broken(_ check: Invariant) throws(RecordError) -> [String] {
        try store.read { connection throws(RecordError) in
            try connection.all(check.query) { row in
                check.sentence.replacing("%@", with: row.string(0))
            }
        }
    }

    private func assetProblems(deep: Bool) throws(RecordError) -> [String] {
        let files = AssetFiles(places: store.places)
        let referred = try store.read { connection throws(RecordError) in
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
                problems.append("The asset file \(hash) is missing. Bring it back from a backup.")
                continue
            }
            if found != size {
                problems.append("The asset file \(hash) has \(found) bytes, not \(size).")
            } else if deep, try store.assets.hashOfFile(hash) != hash {
                problems.append("The asset file \(hash) has other content than its name says.")
            }
        }
        return problems
    }

    /// Returns the rows whose text differs from the stored one.
    private func damagedTexts(_ columns: Migrations.TextColumns) throws(RecordError) -> [String] {
        let (table, text, key) = (columns.table, columns.text, columns.key)
        let name =
            switch table {
            case "history", "outbox", "trash": "name"
            case "conflict_text": "(SELECT stem FROM conflict c WHERE c.id = conflict_id)"
            default: "(SELECT stem FROM record WHERE id = record_id)"
            }
        var problems: [String] = []
        try store.read { connection throws(RecordError) in
            try connection.each(
                """
                SELECT \(key), \(name), \(text), \(columns.checksum) FROM \(table)
                WHERE \(text) IS NOT NULL OR \(columns.checksum) IS NOT NULL
                """
            ) { row throws(RecordError) in
                guard row.wholeText(2) == nil else { return }
                let isSaved =
                    table == "history"
                    ? try connection.exists(
                        "SELECT 1 FROM record WHERE version = ?", [.integer(row.int64(0))]) : false
                problems.append(
                    Self.damage(isSaved ? "record_text" : table, row.int64(0), row.string(1)))
            }
        }
        return problems
    }

    private static func damage(_ table: String, _ key: Int64, _ name: String) -> String {
        switch table {
        case "record_text":
            "The text of record \(name) is damaged. recordfs history and recordfs restore --token "
                + "bring an earlier version back; a whole new text replaces it too."
        case "draft":
            "The text of the draft \(name) is damaged. recordfs draft discard removes it."
        case "history": "Version \(key) of record \(name) is damaged."
        case "trash": "The deleted record \(name) is damaged; recordfs history has its versions."
        case "conflict_text":
            "A side of the conflict of \(name) is damaged. Take another side, or keep the record."
        default: "The last text of \(name) that the server has is damaged here."
        }
    }

    /// Returns the assets whose files would have other names than in the text.
    private func assetProblems(
        of entry: RecordEntry, _ document: RecordDocument
    ) throws(RecordError) -> [String] {
        guard entry.hasAssets else { return [] }
        let rows = try store.assets.assets(of: entry.id)
        return ExpectedAsset.all(in: document, limits: store.options.limits).compactMap {
            expected in
            let row = rows.first {
                $0.field == expected.field && Int64($0.index ?? -1) == expected.index
            }
            let fits = row.map {
                $0.kind == (expected.value == nil ? .value : .file)
                    && $0.fileExtension == (expected.value?.fileExtension ?? [])
            }
            if fits == true { return nil }
            return "The asset \(expected.field) of record \(entry.stem) is not what its text names."
        }
    }

    /// Returns the saved texts that are whole but no record of their type.
    private func contentProblems() throws(RecordError) -> [String] {
        var problems: [String] = []
        for database in Database.allCases {
            for zone in try store.zones(in: database) {
                for type in try store.types(in: zone.id) {
                    problems += try contentProblems(type)
                }
            }
        }
        return problems
    }

    private func contentProblems(_ type: TypeInfo) throws(RecordError) -> [String] {
        let schema = try store.schema(of: type.name)
        var limits = store.options.limits
        // The server's records may be larger than those that may be saved here.
        limits.recordBytes = .max
        var problems: [String] = []
        var last = RecordID(0)
        while true {
            let page = try store.records(in: type.id, after: last, limit: 200)
            guard let end = page.last else { return problems }
            for entry in page where entry.state == .saved {
                let text = try store.read { connection throws(RecordError) in
                    try connection.records.wholeSavedText(of: entry.id)
                }
                // A damaged text is already reported.
                guard let text else { continue }
                do throws(RecordError) {
                    let document = try RecordDocument(
                        parsing: text, schema: schema, limits: limits)
                    problems += try assetProblems(of: entry, document)
                } catch  where error.isAboutContent {
                    problems.append("The text of record \(entry.stem) is refused: \(error)")
                }
            }
            last = end.id
        }
    }
}
