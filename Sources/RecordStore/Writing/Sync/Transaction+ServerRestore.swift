package import RecordModel
import RecordSQL

/// A position in a zone as change tags of a recordfs-server say it: later changes have higher ones.
package struct ChangePosition: Comparable, Sendable {
    let number: Int64

    /// Nil for a tag of another server.
    package init?(tag: String) {
        guard let number = Int64(tag, radix: 36), number >= 0 else { return nil }
        self.number = number
    }

    init(_ number: Int64) { self.number = number }

    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    /// Whether a state was there before this restore point: that of a backup.
    func isBehind(_ changeTag: String) -> Bool {
        Self(tag: changeTag).map { $0 < self } ?? false
    }

    /// Whether a restore lies between this restore point and a change: no server gives as many
    /// positions without one.
    package func isBeforeRestore(behind change: Self) -> Bool {
        change.number - number >= 1 << 32
    }
}

extension Transaction {
    /// Up to where a backup has taken the server back, as it tells with each page of a zone. When
    /// that is news, the feed of the zone begins anew, over a server that is behind what is known here.
    /// - Returns: whether it is news.
    package func noteRestorePoint(
        _ point: ChangePosition, of zone: ZoneID
    ) throws(RecordError) -> Bool {
        let known = try connection.restorePoint(of: zone)
        guard known != point else { return false }
        try connection.run(
            "UPDATE zone SET restore_point = ? WHERE id = ?",
            [.integer(point.number), .integer(zone.rawValue)])
        guard known != nil else { return false }
        try restartFeed(of: zone)
        try markRestored(zone)
        return true
    }

    /// The pass of its feed goes over a server that is behind what is known here.
    func markRestored(_ zone: ZoneID) throws(RecordError) {
        try connection.run(
            "UPDATE feed_pass SET restored = 1 WHERE zone_id = ?", [.integer(zone.rawValue)])
    }

    /// A zone that was made after the backup: all that was there is sent again. The pass begins anew,
    /// for what it has told was of another zone, and stays until the zone is there: another machine may
    /// make it first.
    package func sendAgain(_ zone: ZoneID) throws(RecordError) {
        try restartFeed(of: zone)
        try connection.run(
            "DELETE FROM outbox WHERE zone_id = ? AND operation = 3", [.integer(zone.rawValue)])
        var application = try RemoteApplication(self, zone)
        let names = try connection.all(
            """
            SELECT r.name FROM base b JOIN record r ON r.id = b.record_id
            WHERE r.zone_id = ? ORDER BY r.id
            """, [.integer(zone.rawValue)]
        ) { RecordName(bytes: $0.bytes(0)) }
        for name in names { _ = try application.makeAgain(name) }
    }
}

extension RecordStore {
    /// Whether the feed of a zone goes over a server that is behind what is known here.
    package func isBehind(_ zone: ZoneID) throws(RecordError) -> Bool {
        try read { connection throws(RecordError) in
            try connection.restoredPass(of: zone) != nil
        }
    }

    /// Nil until the server has told one.
    package func restorePoint(of zone: ZoneID) throws(RecordError) -> ChangePosition? {
        try read { connection throws(RecordError) in try connection.restorePoint(of: zone) }
    }
}

extension SQLConnection {
    func restorePoint(of zone: ZoneID) throws(RecordError) -> ChangePosition? {
        let point = try first(
            "SELECT restore_point FROM zone WHERE id = ?", [.integer(zone.rawValue)]
        ) { $0.int64IfPresent(0) }
        return (point ?? nil).map(ChangePosition.init(_:))
    }

    /// Whether the zone's feed has begun anew, and has not told all yet.
    func hasFeedPass(of zone: ZoneID) throws(RecordError) -> Bool {
        try exists(
            "SELECT 1 FROM feed_pass WHERE zone_id = ?", [.integer(zone.rawValue)])
    }

    /// The number of the pass over a server that is behind.
    func restoredPass(of zone: ZoneID) throws(RecordError) -> Int64? {
        try first(
            "SELECT pass FROM feed_pass WHERE zone_id = ? AND restored = 1",
            [.integer(zone.rawValue)]
        ) { $0.int64(0) }
    }
}
