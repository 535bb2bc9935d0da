import Glibc
package import RecordModel
import RecordSQL

/// A field with an asset, in a record that the server has.
package struct AssetHolder: Hashable, Sendable {
    package let zone: ZoneID
    package let record: RecordName
    package let field: FieldName
}

extension StoredAssets {
    package func assets(of record: RecordID) throws(RecordError) -> [AssetEntry] {
        try store.read { connection throws(RecordError) in
            try connection.records.assets(of: record)
        }
    }

    /// Returns at most `limit` assets with higher numbers, in the order of their numbers, of
    /// records that do not wait for their deletion.
    package func assets(
        in type: TypeID, after id: AssetID = AssetID(0), limit: Int
    ) throws(RecordError) -> [AssetEntry] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.asset)
                FROM asset a INDEXED BY asset_type JOIN record r ON r.id = a.record_id
                WHERE a.type_id = ? AND a.id > ? AND r.state != 2
                    AND (a.kind = 1 OR a.hash IS NOT NULL) AND a.leaving IS NULL
                ORDER BY a.id LIMIT ?
                """,
                [.integer(type.rawValue), .integer(id.rawValue), .integer(Int64(limit))]
            ) { $0.asset() }
        }
    }

    package func asset(
        _ record: RecordID, _ field: FieldName, _ index: Int?
    ) throws(RecordError) -> AssetEntry? {
        try store.read { connection throws(RecordError) in
            try connection.records.asset(record, field, index)
        }
    }

    package func asset(_ id: AssetID) throws(RecordError) -> AssetEntry? {
        try store.read { connection throws(RecordError) in try connection.records.asset(id) }
    }

    /// Returns the version of history that is a record's state. Returns nil for a record that was
    /// never saved.
    package func version(of record: RecordID) throws(RecordError) -> Int64? {
        try store.read { connection throws(RecordError) in
            try connection.records.version(of: record)
        }
    }

    /// Returns the number of bytes with that hash on this machine. Returns nil when there are none.
    package func sizeOfAsset(_ hash: ContentHash) -> Int64? {
        AssetFiles(places: store.places).size(of: hash)
    }

    /// Returns records of the server in which it can find these bytes, as far as this store knows.
    /// These are the records here, and records with an unsent change that deletes them, removes the
    /// bytes, or moves the bytes to another field.
    package func recordsOfServer(
        with hash: ContentHash
    ) throws(RecordError) -> [AssetHolder] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT r.zone_id, r.name, a.field FROM asset a JOIN record r ON r.id = a.record_id
                JOIN base b ON b.record_id = r.id
                WHERE a.hash = ?1 AND r.name IS NOT NULL
                UNION
                SELECT o.zone_id, o.name, k.field FROM kept_asset k JOIN history h ON h.token = k.holder_id
                JOIN outbox o ON o.zone_id = h.zone_id AND o.name = h.name
                WHERE k.hash = ?1 AND k.holder = 0 AND o.operation = 3
                UNION
                SELECT o.zone_id, o.name, k.field FROM kept_asset k JOIN history h ON h.token = k.holder_id
                JOIN outbox o ON o.zone_id = h.zone_id AND o.name = h.name
                JOIN base b ON b.record_id = o.record_id
                WHERE k.hash = ?1 AND k.holder = 0 AND o.operation = 2
                    AND (b.version = h.token OR b.version IS NULL)
                LIMIT 100
                """, [.text(hash.hex)]
            ) {
                AssetHolder(
                    zone: ZoneID($0.int64(0)), record: RecordName(bytes: $0.bytes(1)),
                    field: FieldName(bytes: $0.bytes(2)))
            }
        }
    }

    /// Returns a path in the state directory for bytes that are still arriving. It is meant for
    /// `adoptAsset`, and is on the same file system as the files that `adoptAsset` places. Opening
    /// the store removes such files.
    package func pathForUnfinishedAsset() -> String {
        store.places.assetsInProgress + "/\(getpid()).\(UInt64.random(in: 0...UInt64.max))"
    }

    /// Returns the path of the bytes with that hash, even if they are not here. Open it with
    /// O_NOFOLLOW.
    package func assetPath(_ hash: ContentHash) -> String {
        AssetFiles(places: store.places).path(of: hash)
    }
}

extension RecordRows {
    package func assets(of record: RecordID) throws(RecordError) -> [AssetEntry] {
        try connection.all(
            """
            SELECT \(Columns.asset) FROM asset a JOIN record r ON r.id = a.record_id
            WHERE a.record_id = ? ORDER BY a.field, a.idx
            """, [.integer(record.rawValue)]
        ) { $0.asset() }
    }

    func asset(
        _ record: RecordID, _ field: FieldName, _ index: Int?
    ) throws(RecordError) -> AssetEntry? {
        try connection.first(
            """
            SELECT \(Columns.asset) FROM asset a JOIN record r ON r.id = a.record_id
            WHERE a.record_id = ? AND a.field = ? AND a.idx = ?
            """,
            [.integer(record.rawValue), .name(field), .integer(Int64(index ?? -1))]
        ) { $0.asset() }
    }

    func asset(_ id: AssetID) throws(RecordError) -> AssetEntry? {
        try connection.first(
            """
            SELECT \(Columns.asset) FROM asset a JOIN record r ON r.id = a.record_id
            WHERE a.id = ?
            """, [.integer(id.rawValue)]
        ) { $0.asset() }
    }
}
