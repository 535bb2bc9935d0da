package import RecordModel
import RecordSQL

extension RecordStore {
    package func assets(of record: RecordID) throws(RecordError) -> [AssetEntry] {
        try read { connection throws(RecordError) in try connection.assets(of: record) }
    }

    /// At most `limit` assets with higher numbers, by number, of records that do not wait.
    package func assets(
        in type: TypeID, after id: AssetID = AssetID(0), limit: Int
    ) throws(RecordError) -> [AssetEntry] {
        try read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.asset)
                FROM asset a INDEXED BY asset_type JOIN record r ON r.id = a.record_id
                WHERE a.type_id = ? AND a.id > ? AND r.state != 2
                    AND (a.kind = 1 OR a.hash IS NOT NULL)
                ORDER BY a.id LIMIT ?
                """,
                [.integer(type.rawValue), .integer(id.rawValue), .integer(Int64(limit))]
            ) { $0.asset() }
        }
    }

    package func asset(
        _ record: RecordID, _ field: FieldName, _ index: Int?
    ) throws(RecordError) -> AssetEntry? {
        try read { connection throws(RecordError) in
            try connection.asset(record, field, index)
        }
    }

    package func asset(_ id: AssetID) throws(RecordError) -> AssetEntry? {
        try read { connection throws(RecordError) in try connection.asset(id) }
    }

    /// Where the bytes of that hash are, or would be. Open it with O_NOFOLLOW.
    package func assetPath(_ hash: ContentHash) -> String {
        AssetFiles(places: places).path(of: hash)
    }
}

extension SQLConnection {
    func assets(of record: RecordID) throws(RecordError) -> [AssetEntry] {
        try all(
            """
            SELECT \(Columns.asset) FROM asset a JOIN record r ON r.id = a.record_id
            WHERE a.record_id = ? ORDER BY a.field, a.idx
            """, [.integer(record.rawValue)]
        ) { $0.asset() }
    }

    func asset(
        _ record: RecordID, _ field: FieldName, _ index: Int?
    ) throws(RecordError) -> AssetEntry? {
        try first(
            """
            SELECT \(Columns.asset) FROM asset a JOIN record r ON r.id = a.record_id
            WHERE a.record_id = ? AND a.field = ? AND a.idx = ?
            """,
            [.integer(record.rawValue), .name(field), .integer(Int64(index ?? -1))]
        ) { $0.asset() }
    }

    func asset(_ id: AssetID) throws(RecordError) -> AssetEntry? {
        try first(
            """
            SELECT \(Columns.asset) FROM asset a JOIN record r ON r.id = a.record_id
            WHERE a.id = ?
            """, [.integer(id.rawValue)]
        ) { $0.asset() }
    }
}
