import FuseKit
package import Glibc

/// A process that is to be started. It reads nothing, and inherits no descriptors but its output.
package struct ProcessStart {
    package struct Failure: Error {
        package let errno: Int32
    }

    private let path: String
    private let words: [String]
    /// The environment, each variable as `NAME=value`. At first it is that of this process.
    package var variables: [String]
    /// The file to which output and errors are appended. Nil for those of this process.
    package var log: String?
    /// The descriptor of this process that is number 3 in the started one.
    package var passedOn: Int32?
    /// Indicates whether the process receives all signals although this thread blocks some.
    package var unblocksSignals = false

    /// The number of `passedOn` in the started process.
    package static let passedNumber: Int32 = 3

    package init(_ path: String, _ words: [String]) {
        self.path = path
        self.words = words
        variables = []
        var next = environ
        while let line = next.pointee {
            variables.append(String(cString: line))
            next += 1
        }
    }

    package func run() throws(Failure) -> pid_t {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        if let log {
            posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        }
        if let passedOn {
            posix_spawn_file_actions_adddup2(&actions, passedOn, Self.passedNumber)
        }
        closeInherited(from: Self.passedNumber + (passedOn == nil ? 0 : 1), in: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        if unblocksSignals {
            var none = sigset_t()
            sigemptyset(&none)
            posix_spawnattr_setsigmask(&attributes, &none)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, path, &actions, &attributes, &arguments, &environment)
        guard code == 0 else { throw Failure(errno: code) }
        return pid
    }
}
