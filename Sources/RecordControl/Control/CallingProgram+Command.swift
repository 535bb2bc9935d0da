package import Glibc
package import RecordStore

extension CallingProgram {
    /// Returns the program of a command.
    ///
    /// - Parameter process: nil when it is not known.
    static func command(of process: pid_t?) -> CallingProgram {
        CallingProgram(process: process ?? 0) { "recordfs" }
    }

    /// Creates the program of a process or a thread of this machine. Those that cannot be told apart
    /// count as one program.
    package init(process: pid_t, name: @escaping @Sendable () -> String?) {
        self.init(
            processGroup: process > 0 ? max(getpgid(process), 0) : 0, name: name,
            session: {
                let session = process > 0 ? getsid(process) : -1
                return session > 0 ? session : nil
            },
            isRunning: { $0 <= 0 || kill(-$0, 0) == 0 || errno != ESRCH })
    }
}
