import CTestSystem
import Glibc
import TestSupport

/// The kernel's table of mounts, as /proc/self/mountinfo shows it.
enum MountTable {
    /// The mount points at or below `path`, outer ones first.
    static func points(below path: String) -> [String] {
        guard let text = try? SystemCall.readText("/proc/self/mountinfo") else { return [] }
        return text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 4 else { return nil }
            // The table writes a space as its octal number. No test has other such names.
            let point = String(fields[4]).replacing("\\040", with: " ")
            return point == path || point.hasPrefix(path + "/") ? point : nil
        }
    }

    static func isMounted(_ path: String) -> Bool { points(below: path).contains(path) }

    /// Waits until `done`, looking again at each change of the table, for which the kernel wakes a
    /// poll, and every few milliseconds in between. `stop` ends the wait early.
    static func wait(
        seconds: Double, until done: () -> Bool, orUntil stop: () -> Bool
    ) -> Bool {
        let table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard table >= 0 else { return false }
        defer { close(table) }
        let deadline = Deadline(seconds: seconds)
        while !done() {
            if deadline.isOver || stop() { return done() }
            var event = pollfd(fd: table, events: Int16(POLLPRI), revents: 0)
            poll(&event, 1, 5)
        }
        return true
    }

    /// Takes a mount away whatever its daemon does: open files of it fail from then on.
    static func detach(_ path: String) {
        _ = try? run("fusermount3", "-uz", path)
        if isMounted(path) { _ = test_detach_mount(path) }
    }
}
