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
    /// Records that do not get through with the text of their file, as far as was tried.
    private let withoutText = Mutex<Set<RecordPlace>>([])
    /// Records whose texts go whole the next time.
    private let withoutSplices = Mutex<Set<RecordPlace>>([])

    /// Records that were given up, and whether they have had their second chance.
    private let givenUp = Mutex<[RecordPlace: Bool]>([:])

    private struct RecordPlace: Hashable {
        let zone: ZoneID
        let name: RecordName
    }

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

    /// A request got through. One that was much smaller than it might have been says nothing of others.
    func noteSuccess(of zone: ZoneID, _ request: ClaimLimits, _ usual: ClaimLimits) {
        let allowed = limits(of: zone, usual)
        zones.withLock { zones in
            guard var known = zones[zone] else { return }
            known.failures = 0
            if request.records * 2 >= allowed.records || request.bytes * 2 >= allowed.bytes {
                known.divisor /= 2
            }
            zones[zone] = known.divisor > 1 ? known : nil
        }
    }

    // MARK: Texts of files

    /// - Returns: whether it was new: then the record is worth another try, with its values alone.
    func withholdText(of name: RecordName, _ zone: ZoneID) -> Bool {
        withoutText.withLock { $0.insert(RecordPlace(zone: zone, name: name)).inserted }
    }

    func withholdsText(of name: RecordName, _ zone: ZoneID) -> Bool {
        withoutText.withLock { $0.contains(RecordPlace(zone: zone, name: name)) }
    }

    // MARK: Texts as changes

    /// Once: what the server has is not what is known here.
    func withholdSplices(of name: RecordName, _ zone: ZoneID) {
        _ = withoutSplices.withLock { $0.insert(RecordPlace(zone: zone, name: name)) }
    }

    func withholdsSplices(of name: RecordName, _ zone: ZoneID) -> Bool {
        withoutSplices.withLock { $0.contains(RecordPlace(zone: zone, name: name)) }
    }

    // MARK: Records that do not get through alone

    /// What is tried next of it is the whole again.
    func noteGivenUp(_ name: RecordName, _ zone: ZoneID) {
        let place = RecordPlace(zone: zone, name: name)
        _ = withoutText.withLock { $0.remove(place) }
        givenUp.withLock { if $0[place] == nil { $0[place] = false } }
    }

    /// It got through. Its next text may be smaller, or what was in the way is gone.
    func noteSent(_ name: RecordName, _ zone: ZoneID) {
        let place = RecordPlace(zone: zone, name: name)
        _ = withoutText.withLock { $0.remove(place) }
        _ = withoutSplices.withLock { $0.remove(place) }
        givenUp.withLock { $0[place] = nil }
    }

    /// Those that were given up in a zone where something gets through now: perhaps nothing did then.
    /// Each is told of once.
    func takeSecondChances(of zone: ZoneID) -> [RecordName] {
        givenUp.withLock { givenUp in
            let places = givenUp.filter { $0.key.zone == zone && !$0.value }.keys
            for place in places { givenUp[place] = true }
            return places.map(\.name)
        }
    }
}
