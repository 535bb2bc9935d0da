import Glibc

/// The programs that make calls. A program is a process group: its threads, its children and all
/// parts of a pipe count as one program. In `jq … n.json | sponge n.json` the writer then counts as
/// the program that has read.
package struct ProgramTable: Sendable {
    /// Returns the program of a thread in the numbering of the kernel. Returns nil for a thread of
    /// another container.
    package var program: @Sendable (_ thread: Int32) -> Int32?
    package var isRunning: @Sendable (_ program: Int32) -> Bool
    /// Returns the session of a thread: the terminal, or the login, to which it belongs. Returns nil
    /// when it is not known.
    package var session: @Sendable (_ thread: Int32) -> Int32?

    package init(
        program: @escaping @Sendable (Int32) -> Int32?,
        isRunning: @escaping @Sendable (Int32) -> Bool,
        session: @escaping @Sendable (Int32) -> Int32? = { _ in nil }
    ) {
        self.program = program
        self.isRunning = isRunning
        self.session = session
    }

    package static let system = ProgramTable(
        program: { thread in
            let group = thread > 0 ? getpgid(thread) : -1
            return group > 0 ? group : nil
        }, isRunning: { kill(-$0, 0) == 0 || errno != ESRCH },
        session: { thread in
            let session = thread > 0 ? getsid(thread) : -1
            return session > 0 ? session : nil
        })
}
