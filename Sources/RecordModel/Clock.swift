#if canImport(Glibc)
import Glibc
#endif

/// The time as stores and trees see it; tests move it by hand.
package protocol WallClock: Sendable {
    var now: Timestamp { get }
}

/// The system's real-time clock.
package struct SystemClock: WallClock {
    package init() {}
    package var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }
}
