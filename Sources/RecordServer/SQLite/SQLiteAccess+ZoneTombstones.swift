import RecordModel
import RecordSQL
import RecordWire

/// Tombstones of zones: how many there may be, and for how long.
extension SQLiteAccess {
    /// The time of a tombstone that no sweep has met.
    private static let untimed = Int64.max

    /// Forgets the oldest tombstones of a database beyond the limit.
    func trimZoneTombstones(ofDatabase number: Int64) throws(ServerError) {
        try run(
            """
            DELETE FROM zone_tombstones WHERE database = ?1 AND name IN (
                SELECT name FROM zone_tombstones WHERE database = ?1 ORDER BY at LIMIT max(
                    0, (SELECT count(*) FROM zone_tombstones WHERE database = ?1) - ?2))
            """, [.integer(number), .limit(ZoneTombstone.limit)])
    }

    /// The same of what a viewer has lost.
    func trimZoneTombstones(of viewer: UserName) throws(ServerError) {
        try run(
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
        for (table, key) in [
            ("zone_tombstones", "database, name"),
            ("shared_zone_tombstones", "viewer, database, name"),
        ] {
            try run(
                """
                UPDATE \(table) SET at = ? WHERE (\(key)) IN (
                    SELECT \(key) FROM \(table) WHERE at = ? LIMIT ?)
                """, [.integer(now), .integer(Self.untimed), .limit(limit)])
            if changedRows == limit { isMore = true }
            try run(
                """
                DELETE FROM \(table) WHERE (\(key)) IN (
                    SELECT \(key) FROM \(table) WHERE at < ? LIMIT ?)
                """, [.integer(milliseconds), .limit(limit)])
            if changedRows == limit { isMore = true }
        }
        return isMore
    }
}
