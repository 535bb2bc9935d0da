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

    package init(
        program: @escaping @Sendable (Int32) -> Int32?,
        isRunning: @escaping @Sendable (Int32) -> Bool
    ) {
        self.program = program
        self.isRunning = isRunning
    }

    package static let system = ProgramTable(
        program: { thread in
            let group = thread > 0 ? getpgid(thread) : -1
            return group > 0 ? group : nil
        }, isRunning: { kill(-$0, 0) == 0 || errno != ESRCH })
}
