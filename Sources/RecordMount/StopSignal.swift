import Glibc
import Synchronization

/// An event that happens once, and that threads wait for with a limit: a pipe that becomes
/// readable. Without a pipe (no descriptors left) a waiting thread sees the event at the end of its
/// wait.
package final class StopSignal: Sendable {
    /// The descriptor that becomes readable with the event, and stays readable. -1 without a pipe.
    let reading: Int32
    private let writing: Int32
    private let hasHappened = Mutex(false)

    package init() {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) != 0 { ends = [-1, -1] }
        (reading, writing) = (ends[0], ends[1])
        for end in ends where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        close(reading)
        close(writing)
    }

    package func set() {
        hasHappened.withLock { $0 = true }
        _ = write(writing, "x", 1)
    }

    package var isSet: Bool { hasHappened.withLock { $0 } }

    /// Returns whether the event has happened, waiting at most for this time. The event never ends.
    package func wait(_ limit: Duration) -> Bool {
        var poll = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        let (seconds, attoseconds) = limit.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        return Glibc.poll(&poll, 1, Int32(clamping: milliseconds)) > 0
            || isSet
    }
}
