import Glibc
import ServerTestSupport
import TestSupport

/// What comes into a directory and goes away from it, so that a test can wait without taking the
/// processor from what it waits for.
struct DirectoryChanges: ~Copyable {
    private let descriptor: Int32

    init(of path: String) throws {
        descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        let events = UInt32(IN_CREATE | IN_DELETE | IN_MOVE)
        guard descriptor >= 0, inotify_add_watch(descriptor, path, events) >= 0 else {
            throw RawHTTPError("inotify: errno \(errno)")
        }
    }

    deinit { close(descriptor) }

    /// Waits until something has changed since the last call. Blocks: use it inside `RawHTTP.run`.
    func next(_ deadline: Deadline) {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&wanted, 1, deadline.milliseconds)
        var events = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &events, events.count) > 0 {}
    }

    /// Waits until `condition` holds; false when the time is up.
    ///
    /// - Parameter path: a directory in which something changes when the condition comes true.
    static func wait(
        in path: String, _ deadline: Deadline,
        until condition: @escaping @Sendable () throws -> Bool
    ) async throws -> Bool {
        try await RawHTTP.run {
            let changes = try DirectoryChanges(of: path)
            while try !condition() {
                guard !deadline.isOver else { return false }
                changes.next(deadline)
            }
            return true
        }
    }
}
