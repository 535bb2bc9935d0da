package import RecordModel
import RecordSQL

/// Zones that were made to be shared, until the records are in them. A process that is killed in
/// between leaves an empty zone, perhaps shared with somebody. It is removed when the store is opened
/// again, and its share with it.
extension SharedContent {
    private static let prefix = "unfinished share "

    private static func key(_ zone: ZoneID) -> SQLValue { .text("\(prefix)\(zone.rawValue)") }

    /// Notes a zone that was made to be shared.
    package func noteUnfinished(_ zone: ZoneID) throws(RecordError) {
        try transaction.connection.run(
            "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
            [Self.key(zone), .integer(zone.rawValue)])
    }

    /// Notes that a zone has what it was made for.
    package func noteFinished(_ zone: ZoneID) throws(RecordError) {
        try transaction.connection.run("DELETE FROM meta WHERE key = ?", [Self.key(zone)])
    }

    /// Removes a zone that was made to be shared. A zone that contains something by now stays.
    package func removeUnfinished(_ zone: ZoneID) throws(RecordError) {
        try noteFinished(zone)
        let isUsed = try transaction.connection.exists(
            "SELECT 1 FROM record_type WHERE zone_id = ? AND removed = 0",
            [.integer(zone.rawValue)])
        guard !isUsed, try transaction.connection.records.zone(zone) != nil else { return }
        try transaction.removeZone(zone)
    }

    fileprivate static func unfinished(
        _ connection: SQLConnection
    ) throws(RecordError) -> [ZoneID] {
        try connection.all(
            "SELECT value FROM meta WHERE key LIKE ?", [.text("\(prefix)%")]
        ) { ZoneID($0.int64(0)) }
    }
}

extension SharedZones {
    /// Removes the zones that a killed process has made to be shared and not filled. Called while
    /// nobody shares anything yet.
    func removeUnfinished() throws(RecordError) {
        let zones = try store.read { connection throws(RecordError) in
            try SharedContent.unfinished(connection)
        }
        guard !zones.isEmpty else { return }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            for zone in zones { try transaction.sharing.removeUnfinished(zone) }
        }
    }
}
