import RecordModel
import RecordStore
import Synchronization

/// The zones in which a piece of work is running. A piece of one zone also makes other new zones on
/// the server, so that a thousand new zones need few requests. Their own pieces wait for its end: an
/// answer that was asked for earlier must not be applied after a later one.
final class ZonesInWork: Sendable {
    private struct State {
        var running: Set<ZoneID> = []
        /// The pieces that wait for the zone, in the order in which they came.
        var waiting: [ZoneID: [CheckedContinuation<Void, Never>]] = [:]
    }

    private let state = Mutex(State())

    /// Begins a piece of a zone when no other one is running. A caller that has begun a piece or
    /// claimed zones does not call this.
    func begin(_ zone: ZoneID) async {
        await withCheckedContinuation { continuation in
            let begins = state.withLock { state in
                if state.running.insert(zone).inserted { return true }
                state.waiting[zone, default: []].append(continuation)
                return false
            }
            if begins { continuation.resume() }
        }
    }

    /// Ends a piece. The next one that waits for the zone begins.
    func end(_ zone: ZoneID) {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard var waiting = state.waiting.removeValue(forKey: zone) else {
                state.running.remove(zone)
                return nil
            }
            let next = waiting.removeFirst()
            if !waiting.isEmpty { state.waiting[zone] = waiting }
            return next
        }
        next?.resume()
    }

    /// Begins pieces of those of these zones that have none, without a wait. Returns these zones;
    /// each needs an `end`.
    func claim(_ zones: [SyncedZone]) -> [SyncedZone] {
        state.withLock { state in zones.filter { state.running.insert($0.id).inserted } }
    }
}
