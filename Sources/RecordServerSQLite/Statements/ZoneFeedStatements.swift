import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// The feed of a database: its zones in the order in which they last changed. With one writer a
/// counter gives that order.
struct ZoneFeedStatements {
    let access: SQLiteAccess

    func zoneFeed(_ database: DatabaseKey) throws(ServerError) -> ZoneFeed? {
        try access.first(
            """
            SELECT zone_position, zone_horizon FROM databases
            WHERE container = ? AND environment = ? AND owner = ?
            """, database.values
        ) { ZoneFeed(position: $0.int64(0), horizon: $0.int64(1)) }
    }

    func zoneChanges(
        _ database: DatabaseKey, after position: Int64, start: Int64, limit: Int
    ) throws(ServerError) -> [ZoneChange] {
        guard let number = try access.number(of: database) else { return [] }
        let zones = try access.all(
            """
            SELECT name, place FROM zones
            WHERE database = ? AND place > ? AND deleted = 0 ORDER BY place LIMIT ?
            """, [.integer(number), .integer(position), .limit(limit)]
        ) {
            ZoneChange(
                key: ZoneKey(database: database, zone: $0.name(0)), position: $0.int64(1))
        }
        // Include zones that were made since, too: the client may have made one itself after its
        // last request.
        let gone = try access.all(
            """
            SELECT name, place, reason FROM zone_tombstones
            WHERE database = ? AND place > ? ORDER BY place LIMIT ?
            """, [.integer(number), .integer(max(position, start)), .limit(limit)]
        ) {
            ZoneChange(
                key: ZoneKey(database: database, zone: $0.name(0)), position: $0.int64(1),
                deletion: SQLiteAccess.reason($0, 2))
        }
        guard !gone.isEmpty else { return zones }
        return Array((zones + gone).sorted { $0.position < $1.position }.prefix(limit))
    }

    /// Gives the next change of a zone its place.
    func advanceFeed(ofDatabase number: Int64) throws(ServerError) {
        try access.run(
            "UPDATE databases SET zone_position = zone_position + 1 WHERE id = ?",
            [.integer(number)])
    }
}
