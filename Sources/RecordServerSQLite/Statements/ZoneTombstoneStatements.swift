import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// Tombstones of zones: the limits of their number and of their age.
struct ZoneTombstoneStatements {
    let access: SQLiteAccess

    /// The time of a tombstone that no sweep has met.
    private static let untimed = Int64.max

    /// Removes the oldest tombstones of a database beyond the limit.
    func trimZoneTombstones(ofDatabase number: Int64) throws(ServerError) {
        let place = try access.first(
            """
            SELECT place FROM zone_tombstones WHERE database = ? ORDER BY place DESC
            LIMIT 1 OFFSET ?
            """, [.integer(number), .limit(ZoneTombstone.limit)]
        ) { $0.int64(0) }
        guard let place else { return }
        try access.run(
            "UPDATE databases SET zone_horizon = max(zone_horizon, ?2) WHERE id = ?1",
            [.integer(number), .integer(place)])
        try access.run(
            "DELETE FROM zone_tombstones WHERE database = ? AND place <= ?",
            [.integer(number), .integer(place)])
    }

    /// Removes the oldest tombstones of the shared zones that a viewer has lost, beyond the limit.
    func trimZoneTombstones(of viewer: UserName) throws(ServerError) {
        try access.run(
            """
            DELETE FROM shared_zone_tombstones WHERE viewer = ?1 AND (database, name) IN (
                SELECT database, name FROM shared_zone_tombstones WHERE viewer = ?1
                ORDER BY at LIMIT max(
                    0, (SELECT count(*) FROM shared_zone_tombstones WHERE viewer = ?1) - ?2))
            """, [.name(viewer), .limit(ZoneTombstone.limit)])
    }

    func sweepZoneTombstones(
        now: Int64, before milliseconds: Int64, limit: Int
    ) throws(ServerError) -> Bool {
        var isMore = false
        try access.run(
            """
            UPDATE databases SET zone_horizon = max(zone_horizon, (
                SELECT coalesce(max(place), 0) FROM zone_tombstones
                WHERE database = databases.id AND at < ?1))
            WHERE id IN (SELECT database FROM zone_tombstones WHERE at < ?1)
            """, [.integer(milliseconds)])
        for (table, key) in [
            ("zone_tombstones", "database, name"),
            ("shared_zone_tombstones", "viewer, database, name"),
        ] {
            try access.run(
                """
                UPDATE \(table) SET at = ? WHERE (\(key)) IN (
                    SELECT \(key) FROM \(table) WHERE at = ? LIMIT ?)
                """, [.integer(now), .integer(Self.untimed), .limit(limit)])
            if access.changedRows == limit { isMore = true }
            try access.run(
                """
                DELETE FROM \(table) WHERE (\(key)) IN (
                    SELECT \(key) FROM \(table) WHERE at < ? LIMIT ?)
                """, [.integer(milliseconds), .limit(limit)])
            if access.changedRows == limit { isMore = true }
        }
        return isMore
    }
}
