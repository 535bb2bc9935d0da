#if canImport(Glibc)
import Glibc
#endif

/// The time as stores and trees see it. Tests move it by hand.
package protocol WallClock: Sendable {
    /// The time that is shown and stored. A person may set the clock to any time.
    var now: Timestamp { get }
    /// The time since a start of its own. It runs on steadily, whatever the clock is set to. Use it
    /// to measure durations.
    var uptime: Duration { get }
}

extension WallClock {
    /// The uptime of a clock that nobody sets.
    package var uptime: Duration { now - Timestamp(nanoseconds: 0) }
}

/// The system's real-time clock.
package struct SystemClock: WallClock {
    package init() {}
    package var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }

    /// The time since the machine was started, including the time that it slept.
    package var uptime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
