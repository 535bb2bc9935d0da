import RecordModel
import RecordSQL
import RecordStore

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

extension SyncRows {
    func serverRestorePoint(of zone: ZoneID) throws(RecordError) -> ChangePosition? {
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
