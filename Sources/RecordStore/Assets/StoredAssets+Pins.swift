package import RecordModel
import RecordSQL

/// A place that keeps the bytes of its large fields on this machine. They are downloaded without
/// being read, and stay whatever the limit for the others is.
package enum PinTarget: Hashable, Sendable {
    case zone(ZoneID)
    /// All records of the type, including future ones.
    case type(TypeID)
    case record(RecordID)

    fileprivate var column: String {
        switch self {
        case .zone: "zone_id"
        case .type: "type_id"
        case .record: "record_id"
        }
    }

    fileprivate var value: SQLValue {
        switch self {
        case .zone(let id): .integer(id.rawValue)
        case .type(let id): .integer(id.rawValue)
        case .record(let id): .integer(id.rawValue)
        }
    }
}

/// A pinned place, and how much of its data is here.
package struct Pin: Hashable, Sendable {
    package let zone: ZoneID
    /// The type. Nil for a whole zone.
    package let type: RecordTypeName?
    /// The stem of the record. Nil for a whole type.
    package let stem: Stem?
    /// The number of files of large fields, and the number of those that are not downloaded yet.
    package let files: Int64
    package let missingFiles: Int64
    package let missingBytes: Int64
}

extension AssetWriting {
    /// Pins a place. Returns whether it was not pinned by itself before.
    @discardableResult
    package func pin(_ target: PinTarget, in zone: ZoneID) throws(RecordError) -> Bool {
        try transaction.connection.run(
            "INSERT OR IGNORE INTO pin (\(target.column)) VALUES (?)", [target.value])
        guard transaction.connection.changedRows > 0 else { return false }
        transaction.note(.pinned, zone: zone)
        return true
    }

    /// Unpins a place. Returns whether it was pinned by itself. A place that is pinned with its
    /// zone or type stays pinned.
    @discardableResult
    package func unpin(_ target: PinTarget) throws(RecordError) -> Bool {
        try transaction.connection.run("DELETE FROM pin WHERE \(target.column) = ?", [target.value])
        return transaction.connection.changedRows > 0
    }

    /// Copies the pin of a renamed record. The old name keeps its pin until its deletion is final,
    /// because it may come back: some editors rename the file that they are about to write.
    package func copyPin(of old: RecordID, to new: RecordID) throws(RecordError) {
        try transaction.connection.run(
            "INSERT OR IGNORE INTO pin (record_id) SELECT ?2 FROM pin WHERE record_id = ?1",
            [.integer(old.rawValue), .integer(new.rawValue)])
    }
}

extension StoredAssets {
    package func pins() throws(RecordError) -> [Pin] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT COALESCE(p.zone_id, t.zone_id), t.name, r.stem,
                    COUNT(a.id), COUNT(a.id) FILTER (WHERE a.downloaded = 0),
                    COALESCE(SUM(a.size) FILTER (WHERE a.downloaded = 0), 0)
                FROM pin p
                LEFT JOIN record r ON r.id = p.record_id
                LEFT JOIN record_type t ON t.id = COALESCE(p.type_id, r.type_id)
                LEFT JOIN asset a ON a.kind = 0 AND a.hash IS NOT NULL AND (
                    a.record_id = p.record_id OR a.type_id = p.type_id
                    OR a.type_id IN (SELECT id FROM record_type WHERE zone_id = p.zone_id))
                WHERE r.state IS NOT ?1 GROUP BY p.id ORDER BY 1, 2, 3
                """, [.integer(RecordEntry.State.waitingDelete.rawValue)]
            ) {
                Pin(
                    zone: ZoneID($0.int64(0)),
                    type: $0.isNull(1) ? nil : RecordTypeName(bytes: $0.bytes(1)),
                    stem: $0.isNull(2) ? nil : Stem(bytes: $0.bytes(2)),
                    files: $0.int64(3), missingFiles: $0.int64(4), missingBytes: $0.int64(5))
            }
        }
    }

    /// Returns files of pinned records that only the server has. It is called after each change:
    /// its cost depends on the number of these files, not on the size of the store.
    package func missingPinnedAssets(
        limit: Int, except: Set<ContentHash> = []
    ) throws(RecordError) -> [AssetEntry] {
        let hashes = except.map { "\"\($0.hex)\"" }.joined(separator: ",")
        return try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.asset) FROM asset a CROSS JOIN record r ON r.id = a.record_id
                WHERE a.downloaded = 0 AND a.kind = 0 AND a.hash IS NOT NULL AND r.state = 0
                    AND (a.type_id IN (
                            SELECT type_id FROM pin WHERE type_id IS NOT NULL
                            UNION SELECT t.id FROM pin p CROSS JOIN record_type t ON t.zone_id = p.zone_id)
                        OR a.record_id IN (SELECT record_id FROM pin WHERE record_id IS NOT NULL))
                    AND a.hash NOT IN (SELECT value FROM json_each(?1)) LIMIT ?2
                """, [.text("[\(hashes)]"), .integer(Int64(limit))]
            ) { $0.asset() }
        }
    }
}

extension Columns {
    /// A condition for a record `r`: the record, its type or its zone is pinned.
    static let isPinned = """
        EXISTS (SELECT 1 FROM pin p WHERE p.record_id = r.id OR p.type_id = r.type_id
            OR p.zone_id = r.zone_id)
        """
}
