package import RecordModel
import Synchronization

/// The progress of the downloads of zones that are running.
package final class DownloadProgress: Sendable {
    package struct Zone: Hashable, Sendable {
        package let zone: ZoneID
        /// The number of records received, and the number of records at the beginning.
        package let received: Int
        package let total: Int
    }

    private let zones = Mutex<[ZoneID: Zone]>([:])

    /// The running downloads, in the order of their zone numbers.
    var all: [Zone] {
        zones.withLock { $0.values.sorted { $0.zone.rawValue < $1.zone.rawValue } }
    }

    /// Notes that a page has arrived.
    /// - Parameter total: the number of records, this page included. Nil when the server does not
    ///   say.
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
