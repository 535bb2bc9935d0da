import CTestSystem
import Glibc
import TestSupport

/// How a finished child ended and what it printed.
struct ChildResult: Sendable, CustomStringConvertible {
    /// The exit code, or 128 and the signal as a shell counts it.
    let status: Int32
    let output: String
    let errors: String

    var description: String { "exit \(status)\nstdout: \(output)\nstderr: \(errors)" }
    /// What a user saw, on one line.
    var message: String {
        (errors + output).split(whereSeparator: \.isNewline).joined(separator: " | ")
    }
}

struct ChildFailure: Error, CustomStringConvertible {
    let description: String
}

/// A process in a group of its own that cannot outlive its deadline.
final class Child: Sendable {
    let pid: pid_t
    private let name: String
    private let output: Int32
    private let errors: Int32
    private let exit = ProcessExit()

    /// Starts `arguments` (the first is looked up in PATH) with output into unlinked files, so that
    /// neither a full pipe nor a grandchild that keeps it open can block the test.
    init(
        _ arguments: [String], environment: [String: String] = [:], directory: String? = nil,
        input: [UInt8] = []
    ) throws {
        name = arguments.joined(separator: " ")
        output = try Child.temporaryFile()
        errors = try Child.temporaryFile()
        let source = try Child.temporaryFile(input)
        defer { close(source) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, source, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        if let directory { test_spawn_directory(&actions, directory) }
        pid = try Child.spawn(arguments, environment, &actions, Int16(POSIX_SPAWN_SETPGROUP))
        exit.watch(pid)
    }

    /// Waits until the process ends; kills its group and throws when that takes too long.
    func wait(seconds: Double = 60) throws -> ChildResult {
        guard let status = exit.status(within: seconds * Deadline.patience) else {
            kill(-pid, SIGKILL)
            _ = exit.status(within: 10)
            throw ChildFailure(
                description: "\(name): still running after \(seconds * Deadline.patience) s\n"
                    + "\(text(output))\n\(text(errors))")
        }
        return ChildResult(status: status, output: text(output), errors: text(errors))
    }

    var isRunning: Bool { !exit.isEnded }
    /// What the process has written to standard error so far.
    var errorsSoFar: String { text(errors) }
    var outputSoFar: String { text(output) }

    func signal(_ number: Int32) { kill(pid, number) }
    func signalGroup(_ number: Int32) { kill(-pid, number) }

    deinit {
        if isRunning { kill(-pid, SIGKILL) }
        close(output)
        close(errors)
    }

    private func text(_ descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        while let chunk = try? SystemCall.read(descriptor, count: 65_536, at: bytes.count),
            !chunk.isEmpty
        { bytes += chunk }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func temporaryFile(_ content: [UInt8] = []) throws -> Int32 {
        let descriptor = test_unnamed_file(TestRoot.base)
        guard descriptor >= 0 else { throw SystemCallError("open O_TMPFILE") }
        if !content.isEmpty { try SystemCall.write(descriptor, content, at: 0) }
        return descriptor
    }

    /// posix_spawnp with this process's environment, overridden; every signal at its default.
    static func spawn(
        _ arguments: [String], _ environment: [String: String],
        _ actions: inout posix_spawn_file_actions_t, _ flags: Int16
    ) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, flags | Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        posix_spawnattr_setpgroup(&attributes, 0)
        let argv = arguments.map { strdup($0) } + [nil]
        let envp = merged(environment).map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, arguments[0], &actions, &attributes, argv, envp)
        guard code == 0 else { throw SystemCallError("spawn \(arguments[0])", code) }
        return pid
    }

    private static func merged(_ environment: [String: String]) -> [String: String] {
        var all = ["LC_ALL": "C.UTF-8", "TERM": "xterm", "RECORDFS_TEST": "1"]
        for name in ["PATH", "HOME", "USER", "TMPDIR"] {
            if let value = getenv(name) { all[name] = String(cString: value) }
        }
        return all.merging(environment) { $1 }
    }
}

/// Runs a command to its end.
@discardableResult
func run(
    _ arguments: String..., environment: [String: String] = [:], directory: String? = nil,
    input: String = "", seconds: Double = 60
) throws -> ChildResult {
    try finish(
        arguments, environment: environment, directory: directory, input: input, seconds: seconds)
}

/// Runs a command to its end.
@discardableResult
func finish(
    _ arguments: [String], environment: [String: String] = [:], directory: String? = nil,
    input: String = "", seconds: Double = 60
) throws -> ChildResult {
    try Child(
        arguments, environment: environment, directory: directory, input: Array(input.utf8)
    ).wait(seconds: seconds)
}

/// Runs a command that must succeed, and gives its standard output.
@discardableResult
func succeed(
    _ arguments: String..., environment: [String: String] = [:], directory: String? = nil,
    input: String = "", seconds: Double = 60
) throws -> String {
    let result = try finish(
        arguments, environment: environment, directory: directory, input: input, seconds: seconds)
    guard result.status == 0 else {
        throw ChildFailure(description: "\(arguments.joined(separator: " ")): \(result)")
    }
    return result.output
}
