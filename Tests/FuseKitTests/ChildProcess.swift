import Glibc
import TestSupport

/// A program that a test runs, so that a file system that hangs costs a deadline and not the test.
final class ChildProcess {
    struct Output: Equatable {
        /// The exit code, or minus the signal that ended it.
        let status: Int32
        /// What it wrote to its standard output and error.
        let text: String
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let id: pid_t
    private let arguments: [String]
    private let pipe: Int32

    init(_ arguments: [String]) throws {
        self.arguments = arguments
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw Failure(description: "no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        pipe = ends[0]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        // The threads of Swift's pool block all signals, and a shell's background job ignores
        // some: a child would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        let environment = ["PATH=/usr/bin:/bin:/usr/sbin", "LC_ALL=C"]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) }
        defer { for word in words + variables { free(word) } }
        words.append(nil)
        variables.append(nil)
        var child = pid_t()
        let error = posix_spawnp(&child, arguments[0], &actions, &attributes, words, variables)
        close(ends[1])
        guard error == 0 else {
            close(ends[0])
            throw Failure(description: "\(arguments[0]): \(error)")
        }
        id = child
    }

    deinit { close(pipe) }

    /// Waits for its end.
    func finish() throws -> Output {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        let deadline = Deadline(seconds: 20)
        while true {
            var waiting = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, deadline.milliseconds) > 0 else {
                kill(id, SIGKILL)
                throw Failure(description: "\(arguments) did not end in time")
            }
            let count = read(pipe, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        var status: Int32 = 0
        waitpid(id, &status, 0)
        let signal = status & 0x7f
        return Output(
            status: signal == 0 ? (status >> 8) & 0xff : -signal,
            text: String(decoding: bytes, as: UTF8.self))
    }

    static func run(_ arguments: String...) throws -> Output {
        try ChildProcess(arguments).finish()
    }
}
