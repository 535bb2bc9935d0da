import Foundation
import FuseKit
import Glibc
import Logging
import Synchronization

/// The command that config.json names. It is run for actions of others.
///
/// Only a few run at a time, because others decide how often it is called. Further calls wait, and
/// when very many wait, more are left out.
final class NotifyCommand: Sendable {
    private static let runningMax = 4
    private static let waitingMax = 100

    private struct State {
        var running = 0
        var waiting: [[String: String]] = []
    }

    /// The command line for `/bin/sh -c`.
    private let command: String
    private let logger: Logger
    private let state = Mutex(State())

    init(_ command: String, _ logger: Logger) {
        self.command = command
        self.logger = logger
    }

    /// Runs the command in a thread of its own. The caller does not wait.
    func run(_ variables: [String: String]) {
        let turn = state.withLock { state -> Turn in
            guard state.running == Self.runningMax else {
                state.running += 1
                return .now
            }
            guard state.waiting.count < Self.waitingMax else { return .never }
            state.waiting.append(variables)
            return .later
        }
        switch turn {
        case .now:
            let thread = Thread { [self] in runAll(from: variables) }
            thread.name = "notify"
            thread.start()
        case .later: break
        case .never:
            logger.warning("The command notify is too slow, and was not run for this")
        }
    }

    private enum Turn { case now, later, never }

    private func runAll(from first: [String: String]) {
        var next: [String: String]? = first
        while let variables = next {
            let status = Self.spawn(["/bin/sh", "-c", command], environment(variables))
            if status != 0 {
                logger.warning("The command notify has failed", metadata: ["status": "\(status)"])
            }
            next = state.withLock { state in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.running -= 1
                return nil
            }
        }
    }

    private func environment(_ variables: [String: String]) -> [String] {
        var lines: [String] = []
        var next = environ
        while let line = next.pointee {
            lines.append(String(cString: line))
            next += 1
        }
        lines.removeAll { line in variables.keys.contains { line.hasPrefix("\($0)=") } }
        return lines + variables.map { "\($0)=\($1)" }
    }

    /// Runs a program to its end. Returns its status, or the errno when it could not be run.
    private static func spawn(_ words: [String], _ variables: [String]) -> Int32 {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        // The command must not inherit the connections of the daemon.
        closeInherited(from: 3, in: &actions)
        // The daemon blocks signals in all threads but one. The command must receive its own
        // signals.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pid: pid_t = 0
        let code = posix_spawn(&pid, words[0], &actions, &attributes, &arguments, &environment)
        guard code == 0 else { return code }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { return errno }
        }
        return status
    }
}
