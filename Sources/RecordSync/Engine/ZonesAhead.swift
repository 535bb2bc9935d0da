import RecordModel
import RecordStore
import RecordWire
import Synchronization

/// Zones that were made on the server together with another zone, and the first pages of their
/// feeds. With them a thousand new zones need few requests. Only this process knows them.
final class ZonesAhead: Sendable {
    private struct State {
        /// The zones that a running request makes.
        var claimed: Set<ZoneID> = []
        /// The zones that a request has made.
        var made: Set<ZoneID> = []
        var pages: [ZoneID: ZoneChangesAnswer] = [:]
    }

    private let state = Mutex(State())

    /// Claims those of these zones that no request makes yet, and returns them: the caller makes
    /// them.
    func claim(_ zones: [SyncedZone]) -> [SyncedZone] {
        state.withLock { state in
            zones.filter {
                !state.made.contains($0.id) && state.claimed.insert($0.id).inserted
            }
        }
    }

    /// Notes that the request for these zones has ended.
    func end(_ claimed: some Sequence<SyncedZone>, made: some Sequence<SyncedZone>) {
        state.withLock { state in
            state.claimed.subtract(claimed.map(\.id))
            state.made.formUnion(made.map(\.id))
        }
    }

    /// Returns whether another request has made the zone. The answer is given once.
    func takeMade(_ zone: ZoneID) -> Bool { state.withLock { $0.made.remove(zone) != nil } }

    func keep(_ page: ZoneChangesAnswer, of zone: ZoneID) {
        state.withLock { $0.pages[zone] = page }
    }

    /// Returns the first page of a zone's feed. Returns nil when it was not requested yet. Each
    /// page is returned once.
    func takePage(of zone: ZoneID) -> ZoneChangesAnswer? {
        state.withLock { $0.pages.removeValue(forKey: zone) }
    }
}
