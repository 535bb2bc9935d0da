package import RecordModel
import RecordSQL

/// What keeps the bytes of its large fields on this machine: they come without being read, and stay
/// whatever the limit of the rest is.
package enum PinTarget: Hashable, Sendable {
    case zone(ZoneID)
    /// All records of it, also those to come.
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

/// Something that is pinned, with how much of it is here.
package struct Pin: Hashable, Sendable {
    package let zone: ZoneID
    /// Nil for a whole zone.
    package let type: RecordTypeName?
    /// Nil for a whole type.
    package let stem: Stem?
    /// The files of large fields, and those that are still to come.
    package let files: Int64
    package let missingFiles: Int64
    package let missingBytes: Int64
}

extension Transaction {
    /// Gives whether it was not pinned by itself before.
    @discardableResult
    package func pin(_ target: PinTarget, in zone: ZoneID) throws(RecordError) -> Bool {
        try connection.run(
            "INSERT OR IGNORE INTO pin (\(target.column)) VALUES (?)", [target.value])
        guard connection.changedRows > 0 else { return false }
        note(.pinned, zone: zone)
        return true
    }

    /// Gives whether it was pinned by itself: what is pinned with a zone or type stays so.
    @discardableResult
    package func unpin(_ target: PinTarget) throws(RecordError) -> Bool {
        try connection.run("DELETE FROM pin WHERE \(target.column) = ?", [target.value])
        return connection.changedRows > 0
    }

    /// The old name keeps its own until its deletion is final: it may come back, as in an editor that
    /// renames what it is about to write.
    func copyPin(of old: RecordID, to new: RecordID) throws(RecordError) {
        try connection.run(
            "INSERT OR IGNORE INTO pin (record_id) SELECT ?2 FROM pin WHERE record_id = ?1",
            [.integer(old.rawValue), .integer(new.rawValue)])
    }
}

extension RecordStore {
    package func pins() throws(RecordError) -> [Pin] {
        try read { connection throws(RecordError) in
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

    /// Files of pinned records that only the server has. Asked for after each change: it costs what it
    /// gives, not what the store has.
    package func missingPinnedAssets(
        limit: Int, except: Set<ContentHash> = []
    ) throws(RecordError) -> [AssetEntry] {
        let hashes = except.map { "\"\($0.hex)\"" }.joined(separator: ",")
        return try read { connection throws(RecordError) in
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
    /// Of a record `r`: it, its type or its zone is pinned.
    static let isPinned = """
        EXISTS (SELECT 1 FROM pin p WHERE p.record_id = r.id OR p.type_id = r.type_id
            OR p.zone_id = r.zone_id)
        """
}
