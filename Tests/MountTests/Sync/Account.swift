import Glibc
import TestSupport
import Testing

/// A server with its first user.
final class Account: Sendable {
    private let files: TemporaryDirectory
    private let server = Locked<ServerProcess?>(nil)
    let port: Int
    /// Without TLS `http`.
    private let scheme: String
    var address: String { "\(scheme)://127.0.0.1:\(port)" }
    let password: String
    let apiToken: String
    private let serverArguments: [String]
    private let loginArguments: [String]

    init(server arguments: [String] = [], login: [String] = []) async throws {
        files = try TemporaryDirectory()
        serverArguments = arguments
        loginArguments = login
        scheme = arguments.contains("--tls-key") ? "https" : "http"
        let process = try await ServerProcess.serve(
            data: files.path + "/data", arguments: arguments)
        port = process.port
        func said(_ name: String) throws -> String {
            let line = process.outputText.split(separator: "\n").first {
                $0.drop { $0 == " " }.hasPrefix(name)
            }
            return try String(#require(line?.split(separator: " ").last))
        }
        password = try said("password")
        apiToken = try said("API token, development")
        server.set(process)
    }

    func stopServer() async throws {
        let process = server.value
        process?.signal(15)
        _ = try await process?.wait()
        server.set(nil)
    }

    func startServer() async throws {
        let process = try await ServerProcess.serve(
            data: files.path + "/data",
            arguments: ["--listen", "127.0.0.1:\(port)"] + serverArguments)
        server.set(process)
    }

    /// The server is gone from its address, and serves at another one meanwhile.
    func withServerElsewhere(_ body: (_ address: String) throws -> Void) async throws {
        try await stopServer()
        let process = try await ServerProcess.serve(
            data: files.path + "/data", arguments: serverArguments)
        try body("\(scheme)://127.0.0.1:\(process.port)")
        process.signal(15)
        _ = try await process.wait()
    }

    /// The server takes connections, for the kernel does that, and answers nothing.
    func suspendServer() { server.value?.signal(SIGSTOP) }

    func resumeServer() { server.value?.signal(SIGCONT) }

    /// Runs a command of the server's operator, and gives what it prints.
    @discardableResult
    func command(_ arguments: String...) async throws -> String {
        let command = try ServerProcess(arguments + ["--data", "\(files.path)/data"])
        let status = try await command.wait()
        #expect(status == 0, "\(command.errorText)")
        return command.outputText
    }

    func addUser(_ eMail: String, password: String) async throws {
        let folder = try TemporaryDirectory()
        try SystemCall.writeFile(folder.path + "/password", password)
        let command = try ServerProcess(
            program: "/bin/sh",
            [
                "-c",
                "\(ServerProcess.binary) user add \(eMail) --password-stdin --data \(files.path)/data < \(folder.path)/password",
            ])
        let status = try await command.wait()
        #expect(status == 0, "\(command.errorText)")
    }

    /// An API token as programs without an address of their own have it.
    func makeToken() async throws -> String {
        let made = try await command(
            "token", "create", "iCloud.org.recordfs.default", "--name", "Other")
        return String(made.prefix { !$0.isWhitespace })
    }

    func signInResult(
        _ home: CommandLineHome, user: String = "admin@localhost", password: String,
        apiToken: String? = nil, login arguments: [String]? = nil
    ) throws -> ChildResult {
        try home.recordfs(
            [
                "login", address, "--api-token", apiToken ?? self.apiToken,
                "--user", user, "--password-stdin",
            ] + (arguments ?? loginArguments), input: password + "\n")
    }

    /// - Parameter password: nil for that of the first user.
    func signIn(
        _ home: CommandLineHome, as user: String = "admin@localhost", password: String? = nil
    ) throws {
        let result = try signInResult(home, user: user, password: password ?? self.password)
        #expect(result.status == 0, "\(result)")
    }

    /// What `recordfs accounts` says of it there.
    func listed(by home: CommandLineHome) throws -> String {
        try home.shell(
            #"""
            recordfs accounts --json | jq -r 'select(.server == "\#(address)") |
                "\(.signedIn) \(.environment) \(.store)"'
            """#
        ).output
    }

    /// A machine that is signed in and has its mount.
    ///
    /// - Parameter home: nil for a new one.
    func machine(
        as user: String = "admin@localhost", password: String? = nil,
        at home: CommandLineHome? = nil
    ) throws -> CommandLineHome {
        let home = try home ?? CommandLineHome()
        try signIn(home, as: user, password: password)
        try home.ok("recordfs mount")
        return home
    }
}

extension CommandLineHome {
    /// What it prints, without the end of the last line.
    @discardableResult
    func ok(_ script: String) throws -> String {
        let result = try shell(script)
        try #require(result.status == 0, "\(script): \(result)")
        return result.output.hasSuffix("\n") ? String(result.output.dropLast()) : result.output
    }

    /// Runs a program that says "open", goes on at the next line of its input, and ends. While it waits, this
    /// happens.
    ///
    /// - Returns: what it prints.
    func ok(_ program: String, while script: String) throws -> String {
        try ok(
            """
            mkfifo go; \(program) < go > said &
            exec 3> go
            until grep -q open said; do :; done
            \(script)
            echo >&3; exec 3>&-; wait; cat said
            """)
    }

    /// Whether a command's output becomes this.
    func eventually(_ script: String, _ output: String) throws -> Bool {
        var last = ""
        var failure: (any Error)?
        let isSo = MountTable.wait(
            seconds: 10,
            until: {
                do {
                    last = try self.shell(script).output
                } catch {
                    failure = error
                }
                return last == output || last == output + "\n"
            }, orUntil: { failure != nil })
        if let failure { throw failure }
        if !isSo { Issue.record("\(script): \(last)") }
        return isSo
    }
}
