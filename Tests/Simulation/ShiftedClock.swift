package import RecordModel
import Synchronization
package import TestSupport

/// The clock of a machine that is wrong by some time.
package final class ShiftedClock: WallClock {
    private let clock: ManualClock
    private let shift: Mutex<Duration>

    package init(_ clock: ManualClock, by shift: Duration) {
        self.clock = clock
        self.shift = Mutex(shift)
    }

    package var now: Timestamp { clock.now + shift.withLock { $0 } }
    package var uptime: Duration { clock.uptime }

    /// Somebody sets it.
    package func jump(by time: Duration) { shift.withLock { $0 += time } }
}
