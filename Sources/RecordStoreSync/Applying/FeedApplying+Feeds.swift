package import RecordModel
import RecordSQL
package import RecordStore

/// The tokens and passes of feeds.
extension FeedApplying {
    /// Starts a pass of a zone's feed at its beginning. Records that the server had and that the
    /// feed does not report up to its last page are deleted on the server. A pass that is already
    /// running continues.
    package func beginFeedPass(of zone: ZoneID) throws(RecordError) {
        try transaction.connection.run(
            "INSERT OR IGNORE INTO feed_pass (zone_id) VALUES (?)", [.integer(zone.rawValue)])
    }

    /// Ends the pass of a zone's feed. If the feed had something without a name, no records are
    /// removed, because the pass does not show which records were deleted.
    package func abandonFeedPass(of zone: ZoneID) throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM feed_pass WHERE zone_id = ?", [.integer(zone.rawValue)])
    }

    /// Stores the token up to which a feed was applied. With nil the feed starts again, as after an
    /// expired token.
    package func setFeedToken(_ token: [UInt8]?, of feed: Feed) throws(RecordError) {
        let key: [SQLValue] = [.integer(feed.database), .integer(feed.zone)]
        if case .zone(let zone) = feed { try endMaking(of: zone) }
        guard let token else {
            return try transaction.connection.run(
                "DELETE FROM feed_token WHERE database = ? AND zone_id = ?", key)
        }
        try transaction.connection.run(
            "INSERT OR REPLACE INTO feed_token VALUES (?, ?, ?)", key + [.blob(token)])
    }

    /// Brings back a zone that was removed here, because others have put something into it or have
    /// made it again.
    package func reviveZone(_ zone: ZoneID) throws(RecordError) {
        let removed = try transaction.connection.first(
            "SELECT \(Columns.zone) FROM zone WHERE id = ? AND removed = 1",
            [.integer(zone.rawValue)]
        ) { $0.zone() }
        if let removed {
            _ = try transaction.makeZone(removed.database, removed.owner, removed.name)
        }
    }

    /// Forgets that the server was asked to make a zone, because its answer shows whether it has
    /// the zone.
    package func endMaking(of zone: ZoneID) throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM meta WHERE key = \(SyncedZone.makingKey("?1"))",
            [.integer(zone.rawValue)])
    }
}

extension SyncedZone {
    /// Returns the key of the note that the server was asked to make a zone.
    ///
    /// - Parameter zone: the expression of its number.
    static func makingKey(_ zone: String) -> String { "'making ' || \(zone)" }
}

extension SyncRows {
    func feedToken(of feed: Feed) throws(RecordError) -> [UInt8]? {
        try connection.first(
            "SELECT token FROM feed_token WHERE database = ? AND zone_id = ?",
            [.integer(feed.database), .integer(feed.zone)]
        ) { $0.bytes(0) }
    }
}

extension Feed {
    /// The number of the database. 0 is free for a zone's feed, because the numbers of zones and of
    /// databases begin with 1.
    var database: Int64 {
        switch self {
        case .database(let database): database.rawValue
        case .zone: 0
        }
    }

    var zone: Int64 {
        switch self {
        case .database: 0
        case .zone(let zone): zone.rawValue
        }
    }
}
