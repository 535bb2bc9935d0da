import RecordModel
import RecordStore
import RecordWire
import Synchronization

/// Zones that were made on the server together with another one, and the first pages of their feeds: what
/// a thousand of them need is few requests so. It is known to this process alone.
final class ZonesAhead: Sendable {
    private struct State {
        /// Those that a request makes.
        var claimed: Set<ZoneID> = []
        /// Those that one has made.
        var made: Set<ZoneID> = []
        var pages: [ZoneID: ZoneChangesAnswer] = [:]
    }

    private let state = Mutex(State())

    /// Of these, those that no request makes yet; from now on one does.
    func claim(_ zones: [SyncedZone]) -> [SyncedZone] {
        state.withLock { state in
            zones.filter {
                !state.made.contains($0.id) && state.claimed.insert($0.id).inserted
            }
        }
    }

    /// The request of these has ended.
    func end(_ claimed: some Sequence<SyncedZone>, made: some Sequence<SyncedZone>) {
        state.withLock { state in
            state.claimed.subtract(claimed.map(\.id))
            state.made.formUnion(made.map(\.id))
        }
    }

    /// Whether another request has made it; asked once.
    func takeMade(_ zone: ZoneID) -> Bool { state.withLock { $0.made.remove(zone) != nil } }

    func keep(_ page: ZoneChangesAnswer, of zone: ZoneID) {
        state.withLock { $0.pages[zone] = page }
    }

    /// Nil when nobody has asked for it yet. Each is given once.
    func takePage(of zone: ZoneID) -> ZoneChangesAnswer? {
        state.withLock { $0.pages.removeValue(forKey: zone) }
    }
}
