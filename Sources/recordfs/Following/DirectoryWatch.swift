import Glibc
import RecordModel

/// Waits until any process changes files of a directory: for commits of a store, which come from a
/// daemon or from a command without one, and for lines of a log.
final class DirectoryWatch {
    private let descriptor: Int32

    /// The longest delay of a change that the kernel does not report.
    private static let longestWaitMilliseconds: Int32 = 1_000
    /// The time after the bytes of a commit are written until readers see it.
    private static let settlingMilliseconds: Int32 = 10

    init(directory: String) throws(RecordError) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0,
            inotify_add_watch(descriptor, directory, UInt32(IN_MODIFY | IN_CREATE)) >= 0
        else {
            throw RecordError(
                .system, "\(directory) cannot be watched: \(String(cString: strerror(errno))).",
                errno: errno)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns when something may have been committed.
    func wait() {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, Self.longestWaitMilliseconds) > 0 else { return }
        var events = [UInt8](repeating: 0, count: 4_096)
        while read(descriptor, &events, events.count) > 0 {}
        _ = Glibc.poll(nil, 0, Self.settlingMilliseconds)
    }
}
