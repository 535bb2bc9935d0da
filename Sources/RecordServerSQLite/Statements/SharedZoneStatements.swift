import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// The zones in the shared databases of users.
struct SharedZoneStatements {
    let access: SQLiteAccess

    func sharedZone(_ viewer: UserName, _ zone: ZoneKey) throws(ServerError) -> SharedZoneRow? {
        guard let handle = try access.zone(zone)?.handle else { return nil }
        return try access.first(
            "SELECT incarnation, shares FROM shared_zones WHERE viewer = ? AND zone = ?",
            [.name(viewer), .zone(handle)]
        ) { (row) throws(ServerError) in try sharedZone(row, viewer, zone) }
    }

    func sharedZones(
        _ viewer: UserName, _ container: ContainerKey
    ) throws(ServerError) -> [SharedZoneRow] {
        try access.all(
            """
            SELECT v.incarnation, v.shares, d.owner, z.name
            FROM shared_zones v CROSS JOIN zones z ON z.id = v.zone
            CROSS JOIN databases d ON d.id = z.database
            WHERE v.viewer = ? AND z.deleted = 0 AND d.container = ? AND d.environment = ?
            ORDER BY d.owner, z.name
            """, [.name(viewer)] + container.values
        ) { (row) throws(ServerError) in
            let database = DatabaseKey(container: container, owner: row.name(2))
            return try sharedZone(row, viewer, ZoneKey(database: database, zone: row.name(3)))
        }
    }

    func viewers(_ zone: ZoneKey) throws(ServerError) -> [SharedZoneRow] {
        guard let handle = try access.zone(zone)?.handle else { return [] }
        return try access.all(
            """
            SELECT incarnation, shares, viewer FROM shared_zones WHERE zone = ? ORDER BY viewer
            """, [.zone(handle)]
        ) { (row) throws(ServerError) in try sharedZone(row, row.name(2), zone) }
    }

    private func sharedZone(
        _ row: SQLStatement, _ viewer: UserName, _ zone: ZoneKey
    ) throws(ServerError) -> SharedZoneRow {
        guard let shares = Packed.names(row.bytes(1)) else {
            throw access.damaged("the shares of a shared zone cannot be read")
        }
        return SharedZoneRow(
            viewer: viewer, zone: zone, incarnation: row.incarnation(0), shares: shares)
    }

    func sharedZoneTombstones(
        _ viewer: UserName, _ container: ContainerKey
    ) throws(ServerError) -> [ZoneTombstone] {
        try access.all(
            """
            SELECT d.owner, t.name, t.reason
            FROM shared_zone_tombstones t CROSS JOIN databases d ON d.id = t.database
            WHERE t.viewer = ? AND d.container = ? AND d.environment = ?
            ORDER BY d.owner, t.name
            """, [.name(viewer)] + container.values
        ) {
            let database = DatabaseKey(container: container, owner: $0.name(0))
            return ZoneTombstone(
                key: ZoneKey(database: database, zone: $0.name(1)),
                reason: SQLiteAccess.reason($0, 2))
        }
    }

    func putSharedZone(_ row: SharedZoneRow) throws(ServerError) {
        let handle = try ShareStatements(access: access).requireZone(row.zone)
        try access.run(
            """
            INSERT OR REPLACE INTO shared_zones (viewer, zone, incarnation, shares)
            VALUES (?, ?, ?, ?)
            """,
            [
                .name(row.viewer), .zone(handle), .incarnation(row.incarnation),
                .blob(Packed.names(row.shares)),
            ])
        try access.run(
            """
            DELETE FROM shared_zone_tombstones
            WHERE viewer = ?1 AND (database, name) = (SELECT database, name FROM zones WHERE id = ?2)
            """, [.name(row.viewer), .zone(handle)])
    }

    func deleteSharedZone(
        _ viewer: UserName, _ zone: ZoneKey, reason: DeletionReason
    ) throws(ServerError) {
        guard let handle = try access.zone(zone)?.handle else { return }
        try access.run(
            "DELETE FROM shared_zones WHERE viewer = ? AND zone = ?",
            [.name(viewer), .zone(handle)])
        guard access.changedRows == 1 else { return }
        try access.run(
            """
            INSERT OR REPLACE INTO shared_zone_tombstones (viewer, database, name, reason)
            SELECT ?1, database, name, ?2 FROM zones WHERE id = ?3
            """, [.name(viewer), .text(reason.rawValue), .zone(handle)])
        try ZoneTombstoneStatements(access: access).trimZoneTombstones(of: viewer)
    }
}
