import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// The removal of the rows of deleted zones, a part at a time.
struct DeletedZoneStatements {
    let access: SQLiteAccess

    func sweepDeletedZones(limit: Int) throws(ServerError) -> Bool {
        var rest = limit
        while rest > 0 {
            guard let zone = try firstDeletedZone() else { return false }
            rest -= try sweepRecords(zone, limit: rest)
            guard rest > 0 else { break }
            rest -= try sweepRows(zone, limit: rest)
            guard rest > 0 else { break }
            try access.run("DELETE FROM zones WHERE id = ?", [.zone(zone)])
            rest -= 1
        }
        return try access.exists("SELECT 1 FROM zones WHERE deleted = 1 LIMIT 1")
    }

    private func firstDeletedZone() throws(ServerError) -> ZoneHandle? {
        try access.first(
            """
            SELECT zones.id, d.container, d.environment, d.owner
            FROM zones CROSS JOIN databases d ON d.id = zones.database
            WHERE zones.deleted = 1 ORDER BY zones.id LIMIT 1
            """
        ) {
            let container = ContainerKey(
                container: $0.value(1), environment: ServerEnvironment(number: $0.int64(2)))
            return ZoneHandle(DatabaseKey(container: container, owner: $0.name(3)), $0.int64(0))
        }
    }

    /// Removes records with everything that other tables have of them, and returns the number of
    /// removed records.
    private func sweepRecords(_ zone: ZoneHandle, limit: Int) throws(ServerError) -> Int {
        let found = try access.all(
            "SELECT id, type, name FROM records WHERE zone = ? ORDER BY position LIMIT ?",
            [.zone(zone), .limit(limit)]
        ) {
            (
                RecordPlace(id: $0.int64(0), type: $0.int64(1), isDeleted: false),
                $0.name(2) as RecordName
            )
        }
        for (place, name) in found {
            var place = place
            try access.clear(zone, &place, name)
            try access.run("DELETE FROM records WHERE id = ?", [.integer(place.id)])
        }
        access.places.removeAll()
        return found.count
    }

    private func sweepRows(_ zone: ZoneHandle, limit: Int) throws(ServerError) -> Int {
        var rest = limit
        for (table, key) in [
            ("former_records", "id"), ("exits", "zone, name, share"),
            ("departures", "zone, name, position"),
            ("participants", "zone, share, place"),
            ("shares", "zone, name"), ("share_people", "zone, share, kind, place"),
            ("trees", "zone, number"),
            ("tree_work", "zone, tree, parent"),
        ] where rest > 0 {
            try access.run(
                """
                DELETE FROM \(table) WHERE (\(key)) IN (
                    SELECT \(key) FROM \(table) WHERE zone = ? LIMIT ?)
                """, [.zone(zone), .limit(rest)])
            rest -= access.changedRows
        }
        return limit - rest
    }
}
