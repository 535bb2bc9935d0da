import Foundation
import Glibc
import Logging
import Synchronization

/// Runs a command line for each notice: the one that config.json names, or that of the desktop.
final class NoticeRunner: Sendable {
    /// The command line for `/bin/sh -c`.
    private let command: String
    private let logger: Logger
    private let queue = Mutex(NoticeQueue())

    init(_ command: String, _ logger: Logger) {
        self.command = command
        self.logger = logger
    }

    /// Runs the command in a thread of its own. The caller does not wait.
    func run(_ variables: NoticeQueue.Variables) {
        switch queue.withLock({ $0.add(variables) }) {
        case .now:
            let thread = Thread { [self] in runAll(from: variables) }
            thread.name = "notify"
            thread.start()
        case .later: break
        case .never:
            logger.warning(
                "The command notify is too slow, and was not run for this",
                source: LogCategory.mount)
        }
    }

    private func runAll(from first: NoticeQueue.Variables) {
        var next: NoticeQueue.Variables? = first
        while let variables = next {
            let status = run(with: variables)
            if status != 0 {
                logger.warning(
                    "The command notify has failed", metadata: ["status": "\(status)"],
                    source: LogCategory.mount)
            }
            next = queue.withLock { $0.next() }
        }
    }

    /// Runs the command to its end. Returns its status, or the errno when it could not be run.
    private func run(with variables: NoticeQueue.Variables) -> Int32 {
        var start = ProcessStart("/bin/sh", ["/bin/sh", "-c", command])
        start.variables.removeAll { line in variables.keys.contains { line.hasPrefix("\($0)=") } }
        start.variables += variables.map { "\($0)=\($1)" }
        // The daemon blocks signals in all threads but one. The command must receive its own
        // signals.
        start.unblocksSignals = true
        let pid: pid_t
        do throws(ProcessStart.Failure) {
            pid = try start.run()
        } catch {
            return error.errno
        }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { return errno }
        }
        return status
    }
}
