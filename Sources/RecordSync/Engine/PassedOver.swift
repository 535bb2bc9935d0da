import RecordModel
import RecordStore
import Synchronization

/// Records that the server has told of and that cannot be shown here.
package final class PassedOver: Sendable {
    /// Of one zone: those that were told of before, and those of the page that is being applied.
    private struct Zone {
        var known: [String: String] = [:]
        var new: [String] = []
    }

    /// More are told of each time.
    private static let knownMax = 1_000
    private let zones = Mutex<[ZoneID: Zone]>([:])

    /// - Parameter name: empty for one that has none.
    func note(_ name: String, _ reason: String, in zone: ZoneID) {
        zones.withLock { zones in
            var known = zones[zone] ?? Zone()
            guard known.known[name] != reason else { return }
            if known.known.count < Self.knownMax { known.known[name] = reason }
            known.new.append(name.isEmpty ? reason : "\(name): \(reason)")
            zones[zone] = known
        }
    }

    /// What somebody should be told of the page, once; nil when there is nothing new.
    func takeMessage(of zone: ZoneID) -> String? {
        let new = zones.withLock { zones in
            defer { zones[zone]?.new = [] }
            return zones[zone]?.new ?? []
        }
        guard let first = new.first else { return nil }
        return new.count == 1
            ? "A record cannot be shown here: \(first)"
            : "\(new.count) records cannot be shown here, the first: \(first)"
    }
}
