import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

extension SQLiteAccess {
    private static let selectZone = """
        SELECT z.id, z.incarnation, z.position, z.horizon, z.record_count, z.record_bytes, z.name
        FROM databases d JOIN zones z ON z.database = d.id AND z.deleted = 0
        WHERE d.container = ? AND d.environment = ? AND d.owner = ?
        """

    func zone(_ key: ZoneKey) throws(ServerError) -> ZoneRow? {
        try first(Self.selectZone + " AND z.name = ?", key.values) { Self.zone($0, key) }
    }

    func lockZone(_ key: ZoneKey) throws(ServerError) -> ZoneRow? { try zone(key) }

    func zones(_ database: DatabaseKey) throws(ServerError) -> [ZoneRow] {
        try all(Self.selectZone + " ORDER BY z.name", database.values) {
            Self.zone($0, ZoneKey(database: database, zone: $0.name(6)))
        }
    }

    private static func zone(_ row: SQLStatement, _ key: ZoneKey) -> ZoneRow {
        ZoneRow(
            key: key, handle: ZoneHandle(key.database, row.int64(0)),
            incarnation: row.incarnation(1),
            position: row.int64(2), horizon: row.int64(3), recordCount: row.int64(4),
            recordBytes: row.int64(5))
    }

    func zoneTombstones(_ database: DatabaseKey) throws(ServerError) -> [ZoneTombstone] {
        try all(
            """
            SELECT t.name, t.reason FROM databases d JOIN zone_tombstones t ON t.database = d.id
            WHERE d.container = ? AND d.environment = ? AND d.owner = ? ORDER BY t.name
            """, database.values
        ) {
            ZoneTombstone(
                key: ZoneKey(database: database, zone: $0.name(0)), reason: Self.reason($0, 1))
        }
    }

    static func reason(_ row: SQLStatement, _ column: Int32) -> DeletionReason {
        DeletionReason(rawValue: row.string(column)) ?? .deleted
    }

    /// Returns the number of a database that has or had zones, assets or operations.
    func number(of database: DatabaseKey) throws(ServerError) -> Int64? {
        try first(
            "SELECT id FROM databases WHERE container = ? AND environment = ? AND owner = ?",
            database.values
        ) { $0.int64(0) }
    }

    func makeNumber(of database: DatabaseKey) throws(ServerError) -> Int64 {
        if let number = try number(of: database) { return number }
        let holder = try makeQuotaHolder(database)
        try run(
            "INSERT INTO databases (container, environment, owner, holder) VALUES (?, ?, ?, ?)",
            database.values + [.integer(holder)])
        return lastInsertedRow
    }

    func createZone(_ key: ZoneKey, incarnation: UInt64) throws(ServerError) -> ZoneRow {
        let database = try makeNumber(of: key.database)
        let last = try first(
            "SELECT last_position FROM databases WHERE id = ?", [.integer(database)]
        ) { $0.int64(0) }
        let position = max(try firstPosition(), last ?? 0)
        try advanceFeed(ofDatabase: database)
        try run(
            """
            INSERT INTO zones (database, name, incarnation, position, place)
            SELECT id, ?2, ?3, ?4, zone_position FROM databases WHERE id = ?1
            """,
            [
                .integer(database), .name(key.zone), .incarnation(incarnation),
                .integer(position),
            ])
        let handle = ZoneHandle(key.database, lastInsertedRow)
        try run(
            "DELETE FROM zone_tombstones WHERE database = ? AND name = ?",
            [.integer(database), .name(key.zone)])
        return ZoneRow(key: key, handle: handle, incarnation: incarnation, position: position)
    }

    func updateZone(_ zone: ZoneRow) throws(ServerError) {
        try run(
            """
            UPDATE databases SET zone_position = zone_position + 1 WHERE id = (
                SELECT database FROM zones WHERE id = ?1 AND position <> ?2 AND deleted = 0)
            """, [.zone(zone.handle), .integer(zone.position)])
        let isMoved = changedRows == 1
        let place = "(SELECT d.zone_position FROM databases d WHERE d.id = zones.database)"
        try run(
            """
            UPDATE zones SET position = ?, horizon = ?, record_count = ?, record_bytes = ?
                \(isMoved ? ", place = \(place)" : "")
            WHERE id = ? AND deleted = 0
            """,
            [
                .integer(zone.position), .integer(zone.horizon), .integer(zone.recordCount),
                .integer(zone.recordBytes), .zone(zone.handle),
            ])
    }

    /// Deletes a zone by its row. Everything else of the zone is found only through that row, so
    /// that it is deleted with it.
    func deleteZone(_ zone: ZoneRow, reason: DeletionReason) throws(ServerError) {
        let handle = SQLValue.zone(zone.handle)
        try run("UPDATE zones SET deleted = 1 WHERE id = ? AND deleted = 0", [handle])
        guard changedRows == 1 else { return }
        Failpoint.pass(.serverZoneDelete)
        let database = try makeNumber(of: zone.key.database)
        try run(
            """
            UPDATE databases SET last_position = max(
                last_position, (SELECT position FROM zones WHERE id = ?)) WHERE id = ?
            """, [handle, .integer(database)])
        try advanceFeed(ofDatabase: database)
        try run(
            """
            INSERT OR REPLACE INTO zone_tombstones (database, name, reason, place)
            SELECT z.database, z.name, ?2, d.zone_position
            FROM zones z JOIN databases d ON d.id = z.database WHERE z.id = ?1
            """, [handle, .text(reason.rawValue)])
        try run(
            """
            INSERT OR REPLACE INTO shared_zone_tombstones (viewer, database, name, reason)
            SELECT v.viewer, z.database, z.name, ?2
            FROM shared_zones v JOIN zones z ON z.id = v.zone WHERE v.zone = ?1
            """, [handle, .text(reason.rawValue)])
        try run("DELETE FROM shared_zones WHERE zone = ?", [handle])
        try trimZoneTombstones(ofDatabase: database)
    }
}
