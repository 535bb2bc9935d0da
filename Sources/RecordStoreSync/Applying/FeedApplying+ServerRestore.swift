package import RecordModel
import RecordSQL
package import RecordStore

extension FeedApplying {
    /// Starts the feed of a zone again, for example after its token expired.
    package func restartFeed(of zone: ZoneID) throws(RecordError) {
        let isBehind = try transaction.connection.sync.restoredPass(of: zone) != nil
        try setFeedToken(nil, of: .zone(zone))
        // The new pass reports the shares that still exist.
        try transaction.sharing.forgetSharesUntilTold(of: zone)
        try abandonFeedPass(of: zone)
        try beginFeedPass(of: zone)
        // The new pass does not report which of the records that cannot be shown here are gone.
        try transaction.connection.run(
            "UPDATE passed_over SET due = 1 WHERE zone_id = ?", [.integer(zone.rawValue)])
        if isBehind { try markRestored(zone) }
    }

    /// Notes the point to which a backup has taken the server back. The server reports it with each
    /// page of a zone. When the point is new, the feed of the zone starts again, over a server that
    /// is behind the state known here.
    ///
    /// - Returns: whether it is new.
    package func noteRestorePoint(
        _ point: ChangePosition, of zone: ZoneID
    ) throws(RecordError) -> Bool {
        let known = try transaction.connection.sync.serverRestorePoint(of: zone)
        guard known != point else { return false }
        try transaction.connection.run(
            "UPDATE zone SET restore_point = ? WHERE id = ?",
            [.integer(point.number), .integer(zone.rawValue)])
        guard known != nil else { return false }
        try restartFeed(of: zone)
        try markRestored(zone)
        return true
    }

    /// Notes that the pass of the zone's feed reads a server that is behind the state known here.
    func markRestored(_ zone: ZoneID) throws(RecordError) {
        try transaction.connection.run(
            "UPDATE feed_pass SET restored = 1 WHERE zone_id = ?", [.integer(zone.rawValue)])
    }

    /// Sends all records of a zone again, because the zone was made after the backup. The pass
    /// starts again, because it has reported another zone. It continues until the zone exists,
    /// because another machine may make the zone first.
    package func sendAgain(_ zone: ZoneID) throws(RecordError) {
        try restartFeed(of: zone)
        try transaction.connection.run(
            "DELETE FROM outbox WHERE zone_id = ? AND operation = 3", [.integer(zone.rawValue)])
        var application = try RemoteApplication(transaction, zone)
        let names = try transaction.connection.all(
            """
            SELECT r.name FROM base b JOIN record r ON r.id = b.record_id
            WHERE r.zone_id = ? ORDER BY r.id
            """, [.integer(zone.rawValue)]
        ) { RecordName(bytes: $0.bytes(0)) }
        for name in names { _ = try application.makeAgain(name) }
    }
}

extension SyncState {
    /// Returns whether the feed of a zone reads a server that is behind the state known here.
    package func isBehind(_ zone: ZoneID) throws(RecordError) -> Bool {
        try store.read { connection throws(RecordError) in
            try connection.sync.restoredPass(of: zone) != nil
        }
    }

    /// Returns the restore point of a zone. Returns nil until the server has reported one.
    package func serverRestorePoint(of zone: ZoneID) throws(RecordError) -> ChangePosition? {
        try store.read { connection throws(RecordError) in
            try connection.sync.serverRestorePoint(of: zone)
        }
    }
}
