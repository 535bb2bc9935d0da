import RecordModel
import RecordStoreSync
import Synchronization

/// The size limits for requests of zones where larger requests do not get through although the
/// server answers others: a proxy may refuse them, or a line may be too slow. Each process learns
/// them again.
final class RequestSizes: Sendable {
    private struct Zone {
        /// The number of failures in a row of one request.
        var failures = 0
        /// The divisor of the usual limits.
        var divisor = 1
    }

    private static let divisorMax = 1 << 20
    private let zones = Mutex<[ZoneID: Zone]>([:])
    /// Records that did not get through with the text of their file.
    private let withoutText = Mutex<Set<RecordPlace>>([])
    /// Records whose texts are sent whole the next time.
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

    /// Notes that a request did not get through.
    /// - Parameter most: the number of times that a request is sent again.
    /// - Returns: whether the request is to be given up. Its changes are then sent in smaller
    ///   requests.
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

    /// Notes that a request got through. A request much smaller than the limits says nothing about
    /// larger ones.
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

    /// Leaves out the text of a record's file from now on.
    /// - Returns: whether this is new. Then it is worth sending the record again with only its
    ///   values.
    func withholdText(of name: RecordName, _ zone: ZoneID) -> Bool {
        withoutText.withLock { $0.insert(RecordPlace(zone: zone, name: name)).inserted }
    }

    func withholdsText(of name: RecordName, _ zone: ZoneID) -> Bool {
        withoutText.withLock { $0.contains(RecordPlace(zone: zone, name: name)) }
    }

    // MARK: Texts as changes

    /// Sends the whole texts of a record the next time, because the server has other texts than
    /// this machine knows.
    func withholdSplices(of name: RecordName, _ zone: ZoneID) {
        _ = withoutSplices.withLock { $0.insert(RecordPlace(zone: zone, name: name)) }
    }

    func withholdsSplices(of name: RecordName, _ zone: ZoneID) -> Bool {
        withoutSplices.withLock { $0.contains(RecordPlace(zone: zone, name: name)) }
    }

    // MARK: Records that do not get through alone

    /// Notes that a record was given up. The next attempt sends the whole record again.
    func noteGivenUp(_ name: RecordName, _ zone: ZoneID) {
        let place = RecordPlace(zone: zone, name: name)
        _ = withoutText.withLock { $0.remove(place) }
        givenUp.withLock { if $0[place] == nil { $0[place] = false } }
    }

    /// Notes that a record got through. Its next text may be smaller, or the obstacle may be gone.
    func noteSent(_ name: RecordName, _ zone: ZoneID) {
        let place = RecordPlace(zone: zone, name: name)
        _ = withoutText.withLock { $0.remove(place) }
        _ = withoutSplices.withLock { $0.remove(place) }
        givenUp.withLock { $0[place] = nil }
    }

    /// Returns the records that were given up in a zone where requests get through now: perhaps
    /// none got through then. Each record is returned once.
    func takeSecondChances(of zone: ZoneID) -> [RecordName] {
        givenUp.withLock { givenUp in
            let places = givenUp.filter { $0.key.zone == zone && !$0.value }.keys
            for place in places { givenUp[place] = true }
            return places.map(\.name)
        }
    }
}
