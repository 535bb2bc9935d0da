import CTestSystem
import Glibc

/// The kernel's table of mounts, as /proc/self/mountinfo shows it.
enum MountTable {
    /// The mount points at or below `path`, outer ones first.
    static func points(below path: String) -> [String] {
        guard let text = try? SystemCall.readText("/proc/self/mountinfo") else { return [] }
        return text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 4 else { return nil }
            let point = String(fields[4])
            return point == path || point.hasPrefix(path + "/") ? point : nil
        }
    }

    static func isMounted(_ path: String) -> Bool { points(below: path).contains(path) }

    /// Waits until `path` is (or is no longer) a mount point. The kernel wakes a poll on the table
    /// at each change. `stop` ends the wait early, so that a daemon that dies is not waited for.
    static func wait(_ path: String, mounted: Bool, seconds: Double, stop: () -> Bool) -> Bool {
        let table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard table >= 0 else { return false }
        defer { close(table) }
        let deadline = Deadline(seconds: seconds)
        while isMounted(path) != mounted {
            if deadline.isOver || stop() { return isMounted(path) == mounted }
            var event = pollfd(fd: table, events: Int16(POLLPRI), revents: 0)
            poll(&event, 1, 100)
        }
        return true
    }

    /// Takes a mount away whatever its daemon does: open files of it fail from then on.
    static func detach(_ path: String) {
        _ = try? run("fusermount3", "-uz", path)
        if isMounted(path) { _ = test_detach_mount(path) }
    }
}

/// A point in time that work must not pass.
struct Deadline {
    private let end: ContinuousClock.Instant
    init(seconds: Double) { end = .now + .seconds(seconds) }
    var isOver: Bool { ContinuousClock.now >= end }
    /// Milliseconds left, for poll.
    var milliseconds: Int32 {
        let left = ContinuousClock.now.duration(to: end).components
        return Int32(
            max(0, min(3_600_000, left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000)))
    }
}
