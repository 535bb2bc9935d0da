import Glibc
import RecordModel

/// The programs that make calls. A program is a process group: its threads, its children and all
/// parts of a pipe count as one program. In `jq … n.json | sponge n.json` the writer then counts as
/// the program that has read.
package struct ProgramTable: Sendable {
    /// Returns the program of a thread in the numbering of the kernel. Returns nil for a thread of
    /// another container.
    package var program: @Sendable (_ thread: Int32) -> Int32?
    package var isRunning: @Sendable (_ program: Int32) -> Bool
    /// Returns when the program began, as a time since the start of the machine. Returns nil when
    /// the first process of the group has ended.
    package var began: @Sendable (_ program: Int32) -> Duration?

    package init(
        program: @escaping @Sendable (Int32) -> Int32?,
        isRunning: @escaping @Sendable (Int32) -> Bool,
        began: @escaping @Sendable (Int32) -> Duration?
    ) {
        self.program = program
        self.isRunning = isRunning
        self.began = began
    }

    package static let system = ProgramTable(
        program: { thread in
            let group = thread > 0 ? getpgid(thread) : -1
            return group > 0 ? group : nil
        }, isRunning: { kill(-$0, 0) == 0 || errno != ESRCH },
        began: { ProcessStatus.began($0) })
}

/// A process as `/proc/PID/stat` shows it (proc_pid_stat(5)).
private enum ProcessStatus {
    /// The index of `starttime` among the members after the name, which may contain spaces and
    /// brackets.
    private static let startTime = 19

    /// Returns when a process began, as a time since the start of the machine. The kernel rounds
    /// it down to 10 ms.
    static func began(_ process: Int32) -> Duration? {
        guard let text = text(of: process), let name = text.lastIndex(of: UInt8(ascii: ")")) else {
            return nil
        }
        let members = text[(name + 1)...].split(separator: UInt8(ascii: " "))
        guard members.indices.contains(startTime),
            let ticks = Int64(String(decoding: members[startTime], as: UTF8.self))
        else { return nil }
        let perSecond = Int64(sysconf(Int32(_SC_CLK_TCK)))
        guard ticks >= 0, perSecond > 0 else { return nil }
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: perSecond)
        return .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / perSecond)
    }

    private static func text(of process: Int32) -> [UInt8]? {
        let descriptor = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // The name has at most 64 bytes, and the other members are numbers.
        var text = [UInt8](repeating: 0, count: 2048)
        let count = read(descriptor, &text, text.count)
        return count > 0 ? Array(text.prefix(count)) : nil
    }
}
