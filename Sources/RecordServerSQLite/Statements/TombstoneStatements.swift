import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// The tombstones of records that are old enough to be removed.
struct TombstoneStatements {
    let access: SQLiteAccess

    func zoneWithTombstones(after handle: ZoneHandle?) throws(ServerError) -> ZoneRow? {
        var last = handle?.number ?? 0
        // Each zone costs one step in the index. Deleted zones are skipped.
        while let number = try next(after: last) {
            last = number
            if let zone = try zone(number: number) { return zone }
        }
        return nil
    }

    private func next(after zone: Int64) throws(ServerError) -> Int64? {
        try access.first(
            "SELECT zone FROM records WHERE deleted = 1 AND zone > ? ORDER BY zone LIMIT 1",
            [.integer(zone)]
        ) { $0.int64(0) }
    }

    private func zone(number: Int64) throws(ServerError) -> ZoneRow? {
        try access.first(
            """
            SELECT z.id, z.incarnation, z.position, z.horizon, z.record_count, z.record_bytes,
                z.name, d.container, d.environment, d.owner
            FROM zones z JOIN databases d ON d.id = z.database WHERE z.id = ? AND z.deleted = 0
            """, [.integer(number)]
        ) { row in
            let container = ContainerKey(
                container: Text(utf8: row.bytes(7)),
                environment: row.int64(8) == 0 ? .development : .production)
            let database = DatabaseKey(
                container: container, owner: UserName(bytes: row.bytes(9)))
            return ZoneRow(
                key: ZoneKey(database: database, zone: ZoneName(bytes: row.bytes(6))),
                handle: ZoneHandle(database, row.int64(0)), incarnation: row.incarnation(1),
                position: row.int64(2), horizon: row.int64(3), recordCount: row.int64(4),
                recordBytes: row.int64(5))
        }
    }

    func lastTombstone(_ zone: ZoneHandle, before milliseconds: Int64, limit: Int)
        throws(ServerError) -> Int64?
    {
        let tombstones = try access.all(
            """
            SELECT position, modified FROM records WHERE zone = ? AND deleted = 1
            ORDER BY position LIMIT ?
            """, [.zone(zone), .limit(limit)]
        ) { (position: $0.int64(0), modified: $0.int64(1)) }
        return tombstones.prefix { $0.modified < milliseconds }.last?.position
    }

    func lastTombstone(_ zone: ZoneHandle, beforeNewest count: Int, limit: Int)
        throws(ServerError) -> Int64?
    {
        let newest = try access.first(
            """
            SELECT position FROM records WHERE zone = ? AND deleted = 1
            ORDER BY position DESC LIMIT 1 OFFSET ?
            """, [.zone(zone), .limit(count)]
        ) { $0.int64(0) }
        guard let newest else { return nil }
        return try access.all(
            """
            SELECT position FROM records WHERE zone = ? AND deleted = 1 AND position <= ?
            ORDER BY position LIMIT ?
            """, [.zone(zone), .integer(newest), .limit(limit)]
        ) { $0.int64(0) }.last
    }
}
