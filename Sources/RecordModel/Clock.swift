#if canImport(Glibc)
import Glibc
#endif

/// The time as stores and trees see it; tests move it by hand.
package protocol WallClock: Sendable {
    /// What is shown and stored. Somebody may set it, to any time.
    var now: Timestamp { get }
    /// Goes on steadily, whatever is set, from a start of its own: for what lasts so long.
    var uptime: Duration { get }
}

extension WallClock {
    /// Of a clock that nobody sets.
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

    /// Since the machine was started, with the time that it slept.
    package var uptime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
