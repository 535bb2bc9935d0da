package import Glibc
import Synchronization

/// The real `recordfs-server`, as a child process; killed when this value goes.
package final class ServerProcess: Sendable {
    package let pid: pid_t
    /// Where `serve` listens; 0 for other commands.
    package var port: Int { listening.withLock { $0 } }
    private let listening = Mutex(0)
    private let output: String
    private let errors: String
    private let files: TemporaryDirectory
    private let exit = ProcessExit()

    /// Beside the bundle of these tests.
    package static let binary: String = {
        guard let path = realpath("/proc/self/exe", nil) else { return "recordfs-server" }
        defer { free(path) }
        let bundle = String(cString: path)
        return bundle.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
            + "/recordfs-server"
    }()

    /// Runs any command of the binary, or of another program by its path.
    package init(
        program: String = binary, _ arguments: [String], environment: [String: String] = [:]
    ) throws {
        files = try TemporaryDirectory()
        output = files.path + "/out"
        errors = files.path + "/err"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_CREAT | O_WRONLY, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errors, O_CREAT | O_WRONLY, 0o600)
        let argv = ([program] + arguments).map { strdup($0) } + [nil]
        let envp = Self.environment(environment).map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, program, &actions, nil, argv, envp)
        guard code == 0 else { throw RawHTTPError("spawn \(program): errno \(code)") }
        pid = child
        exit.watch(child)
    }

    /// Starts `serve` on a free port of 127.0.0.1 and waits until it says which.
    package static func serve(
        data: String, arguments: [String] = [], environment: [String: String] = [:]
    ) async throws -> ServerProcess {
        try await RawHTTP.run {
            let server = try ServerProcess(
                ["serve", "--data", data, "--listen", "127.0.0.1:0"] + arguments,
                environment: environment)
            let deadline = Deadline(seconds: 60)
            while !deadline.isOver, server.exit.status(within: 0.02) == nil {
                if let port = server.saidPort() {
                    server.listening.withLock { $0 = port }
                    return server
                }
            }
            throw RawHTTPError("did not start: \(server.outputText) \(server.errorText)")
        }
    }

    package var outputText: String { Self.text(output) }
    package var errorText: String { Self.text(errors) }

    package func signal(_ number: Int32) { kill(pid, number) }

    /// The exit code, or 128 and the signal; throws when it runs longer than that.
    package func wait(seconds: Double = 30) async throws -> Int32 {
        try await RawHTTP.run { [exit] in
            guard let status = exit.status(within: seconds * Deadline.patience) else {
                throw RawHTTPError("still running after \(seconds * Deadline.patience) s")
            }
            return status
        }
    }

    package func hasEnded(within seconds: Double) async throws -> Bool {
        try await RawHTTP.run { [exit] in exit.status(within: seconds) != nil }
    }

    deinit {
        if !exit.isEnded {
            kill(pid, SIGKILL)
            _ = exit.status(within: 10)
        }
    }

    private static func environment(_ additions: [String: String]) -> [String: String] {
        var all = ["LC_ALL": "C.UTF-8"]
        for name in ["PATH", "HOME", "TMPDIR"] {
            if let value = getenv(name) { all[name] = String(cString: value) }
        }
        return all.merging(additions) { $1 }
    }

    /// From the whole line `Listening at http://127.0.0.1:PORT`.
    private func saidPort() -> Int? {
        let lines = outputText.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        guard let line = lines.first(where: { $0.hasPrefix("Listening at ") }) else { return nil }
        return line.split(separator: ":").last.flatMap { Int($0) }
    }

    private static func text(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
            bytes += buffer.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
