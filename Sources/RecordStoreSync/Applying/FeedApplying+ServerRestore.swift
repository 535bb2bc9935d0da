package import RecordModel
import RecordSQL
package import RecordStore

/// A position in a zone, as the change tags of a recordfs-server express it. Later changes have
/// higher positions.
package struct ChangePosition: Comparable, Sendable {
    let number: Int64

    /// Reads the position in a change tag. Returns nil for a tag of another server.
    package init?(tag: String) {
        guard let number = Int64(tag, radix: 36), number >= 0 else { return nil }
        self.number = number
    }

    init(_ number: Int64) { self.number = number }

    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    /// Returns whether a state existed before this restore point: then it is the state of a backup.
    func isBehind(_ changeTag: String) -> Bool {
        Self(tag: changeTag).map { $0 < self } ?? false
    }

    /// Returns whether a restore lies between this restore point and a change. No server uses so
    /// many positions without a restore.
    package func isBeforeRestore(behind change: Self) -> Bool {
        change.number - number >= 1 << 32
    }
}

extension FeedApplying {
    /// Notes the point to which a backup has taken the server back. The server reports it with each
    /// page of a zone. When the point is new, the feed of the zone starts again, over a server that
    /// is behind the state known here.
    ///
    /// - Returns: whether it is new.
    package func noteRestorePoint(
        _ point: ChangePosition, of zone: ZoneID
    ) throws(RecordError) -> Bool {
        let known = try transaction.connection.sync.restorePoint(of: zone)
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
    package func restorePoint(of zone: ZoneID) throws(RecordError) -> ChangePosition? {
        try store.read { connection throws(RecordError) in
            try connection.sync.restorePoint(of: zone)
        }
    }
}

extension SyncRows {
    func restorePoint(of zone: ZoneID) throws(RecordError) -> ChangePosition? {
        let point = try connection.first(
            "SELECT restore_point FROM zone WHERE id = ?", [.integer(zone.rawValue)]
        ) { $0.int64IfPresent(0) }
        return (point ?? nil).map(ChangePosition.init(_:))
    }

    /// Returns whether the zone's feed has started again and has not reported everything yet.
    func hasFeedPass(of zone: ZoneID) throws(RecordError) -> Bool {
        try connection.exists(
            "SELECT 1 FROM feed_pass WHERE zone_id = ?", [.integer(zone.rawValue)])
    }

    /// Returns the number of the pass over a server that is behind.
    func restoredPass(of zone: ZoneID) throws(RecordError) -> Int64? {
        try connection.first(
            "SELECT pass FROM feed_pass WHERE zone_id = ? AND restored = 1",
            [.integer(zone.rawValue)]
        ) { $0.int64(0) }
    }
}
