import RecordModel
import RecordSQL

@testable import RecordStore

/// Everything that is in a store's tables, for comparisons of a whole state with another.
extension StoreFixture {
    /// The rows of all tables, each as text behind the name of its table, except the counter of
    /// openings and what the search index is made of.
    func rows() throws(RecordError) -> [String] {
        try store.read { connection throws(RecordError) in
            let tables = try connection.all(
                """
                SELECT name FROM sqlite_master WHERE type = 'table'
                    AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'record_search%' ORDER BY name
                """
            ) { $0.string(0) }
            var rows: [String] = []
            for table in tables {
                let columns = try connection.all(
                    "SELECT name FROM pragma_table_info(?)", [.text(table)]
                ) { "quote(\"\($0.string(0))\")" }
                rows += try connection.all(
                    """
                    SELECT \(columns.joined(separator: " || ',' || ")) FROM "\(table)" ORDER BY 1
                    """
                ) { "\(table): \($0.string(0))" }
            }
            return rows.filter { !$0.hasPrefix("meta: 'opens'") }
        }
    }

    /// Returns the content that users see or that is left to send, without numbers of rows.
    func contents() throws(RecordError) -> [String] {
        var lines: [String] = []
        for database in Database.allCases {
            for zone in try store.zones(in: database) {
                for type in try store.types(in: zone.id) {
                    let place = "\(zone.name)/\(type.name)"
                    for entry in try store.records(in: type.id, limit: 10_000) {
                        let texts = try [store.savedText(of: entry.id), store.text(of: entry.id)]
                            .map { $0.map { String(decoding: $0, as: UTF8.self) } ?? "-" }
                        lines.append("\(place)/\(entry.stem) \(entry.state) \(texts)")
                        lines += try store.assets.assets(of: entry.id).map {
                            "\(place)/\($0.stem)@\($0.field) \($0.hash?.hex ?? "-") \($0.size)"
                        }
                    }
                    for entry in try store.past.trash(in: type.id) {
                        let text = try store.past.trashed(entry.id)?.text ?? []
                        lines.append(
                            "trash \(place)/\(entry.stem) \(String(decoding: text, as: UTF8.self))")
                    }
                }
                for conflict in try store.syncState.conflicts(in: zone.id) {
                    lines.append("conflict \(zone.name)/\(conflict.stem) \(conflict.fields)")
                }
            }
        }
        lines += try outbox().map { row in
            "outbox \(row.name) \(row.operation) \(row.batch != nil) \(row.error ?? "-")"
        }
        lines += try store.past.changes(after: 0, limit: 10_000).map { change in
            "\(change.token) \(change.author) \(change.kind) \(change.name) \(change.changedFields) "
                + String(decoding: change.text, as: UTF8.self)
        }
        return lines
    }

    /// Returns the texts that the files of some types show, by the numbers of their records.
    func shownFiles(_ types: [TypeID]) throws(RecordError) -> [RecordID: String] {
        var shown: [RecordID: String] = [:]
        for type in types {
            for entry in try store.records(in: type, limit: 10_000) {
                let text = try store.text(of: entry.id) ?? []
                shown[entry.id] = "\(type)/\(entry.stem) \(String(decoding: text, as: UTF8.self))"
            }
        }
        return shown
    }

    /// Does something, and returns the files that show something else since and of which no observer
    /// has heard: the kernel would go on showing what it knew.
    func untold(_ types: [TypeID], _ body: () throws -> Void) throws -> [String] {
        let before = try shownFiles(types)
        _ = changes()
        try body()
        let told = Set(changes().compactMap(\.record))
        let after = try shownFiles(types)
        return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
            .subtracting(told).map {
                "nobody hears that \(before[$0] ?? "nothing") is \(after[$0] ?? "nothing")"
            }
    }
}
