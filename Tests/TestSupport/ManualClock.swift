package import RecordModel
import Synchronization

/// A clock that tests move by hand.
package final class ManualClock: WallClock {
    private struct State {
        var now = Timestamp(seconds: 1_800_000_000)
        var uptime: Duration = .seconds(5000)
    }
    private let state = Mutex(State())

    package init() {}
    package var now: Timestamp { state.withLock { $0.now } }
    package var uptime: Duration { state.withLock { $0.uptime } }

    /// Time passes.
    package func advance(_ duration: Duration) {
        state.withLock { state in
            state.now = state.now + duration
            state.uptime += duration
        }
    }

    /// Somebody sets the clock.
    package func set(_ now: Timestamp) { state.withLock { $0.now = now } }
}
