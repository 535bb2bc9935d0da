import RecordModel
import RecordStore
import Synchronization

/// How large the requests of zones may be where larger ones do not get through, although the server
/// answers others: a proxy may refuse them, or a line be too slow. It is learnt anew by each process.
final class RequestSizes: Sendable {
    private struct Zone {
        /// In a row, of one request.
        var failures = 0
        /// By which the usual limits are divided.
        var divisor = 1
    }

    private static let divisorMax = 1 << 20
    private let zones = Mutex<[ZoneID: Zone]>([:])

    func limits(of zone: ZoneID, _ usual: ClaimLimits) -> ClaimLimits {
        let divisor = zones.withLock { $0[zone]?.divisor ?? 1 }
        return ClaimLimits(
            records: max(1, usual.records / divisor), bytes: max(1, usual.bytes / divisor))
    }

    /// - Parameter most: how often a request is sent again.
    /// - Returns: whether it is to be given up; what was in it goes in smaller ones.
    func noteFailure(of zone: ZoneID, most: Int) -> Bool {
        zones.withLock { zones in
            var known = zones[zone] ?? Zone()
            known.failures += 1
            let isGivenUp = known.failures >= most
            if isGivenUp {
                known = Zone(divisor: min(known.divisor * 4, Self.divisorMax))
            }
            zones[zone] = known
            return isGivenUp
        }
    }

    func noteSuccess(of zone: ZoneID) {
        zones.withLock { zones in
            guard let known = zones[zone] else { return }
            zones[zone] = known.divisor > 2 ? Zone(divisor: known.divisor / 2) : nil
        }
    }
}
