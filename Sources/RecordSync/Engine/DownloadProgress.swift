package import RecordModel
import Synchronization

/// How far downloads of zones are that go on.
package final class DownloadProgress: Sendable {
    package struct Zone: Hashable, Sendable {
        package let zone: ZoneID
        /// Records that have come, and those that there were in all when it began.
        package let received: Int
        package let total: Int
    }

    private let zones = Mutex<[ZoneID: Zone]>([:])

    /// In the order of their numbers.
    var all: [Zone] {
        zones.withLock { $0.values.sorted { $0.zone.rawValue < $1.zone.rawValue } }
    }

    /// A page has come.
    /// - Parameter total: what there is, this page included; nil when the server does not say.
    func note(_ count: Int, of zone: ZoneID, total: Int?) {
        zones.withLock { zones in
            let before = zones[zone]
            let received = (before?.received ?? 0) + count
            guard let all = total ?? before?.total else { return }
            zones[zone] = Zone(zone: zone, received: received, total: max(all, received))
        }
    }

    func end(_ zone: ZoneID) { zones.withLock { $0[zone] = nil } }
}
