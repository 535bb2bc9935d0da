import RecordModel
import RecordSQL

extension Migrations {
    /// The table, key, text and checksum columns of texts with a checksum.
    struct TextColumns {
        let table: String
        let key: String
        var text = "text"
        var checksum = "checksum"
    }

    static let texts = [
        TextColumns(table: "record_text", key: "record_id"),
        TextColumns(table: "base", key: "record_id"),
        TextColumns(table: "draft", key: "record_id"),
        TextColumns(table: "history", key: "token"),
        TextColumns(table: "trash", key: "id"),
        TextColumns(table: "conflict_text", key: "id"),
        TextColumns(table: "outbox", key: "id", text: "base_text", checksum: "base_checksum"),
    ]

    /// Fills in the checksums of texts that were stored before there were checksums.
    static func addChecksums(
        _ connection: SQLConnection, _ columns: TextColumns
    ) throws(RecordError) {
        let (table, key) = (columns.table, columns.key)
        var last = Int64.min
        while true {
            let rows = try connection.all(
                """
                SELECT \(key), \(columns.text) FROM \(table)
                WHERE \(key) > ? AND \(columns.text) IS NOT NULL ORDER BY \(key) LIMIT 100
                """, [.integer(last)]
            ) { (key: $0.int64(0), checksum: TextChecksum.of($0.bytes(1))) }
            try requireProgress(after: last, to: rows.last?.key, in: table)
            for row in rows {
                try connection.run(
                    "UPDATE \(table) SET \(columns.checksum) = ? WHERE \(key) = ?",
                    [.integer(row.checksum), .integer(row.key)])
            }
            guard let end = rows.last else { return }
            last = end.key
        }
    }
}
