import Glibc
import Testing

/// What an operator does with the scripts and the pages of this repository.
@Suite("Installation and the operation page") struct InstallTests {
    private let files: TemporaryDirectory

    init() throws { files = try TemporaryDirectory() }

    /// The root of the repository.
    private static let root = #filePath.split(separator: "/").dropLast(4)
        .reduce("") { $0 + "/" + $1 }
    private static let programs = ServerProcess.binary.split(separator: "/").dropLast()
        .reduce("") { $0 + "/" + $1 }

    private struct Outcome {
        let status: Int32
        let text: String
    }

    private func run(_ program: String, _ arguments: [String]) async throws -> Outcome {
        let process = try ServerProcess(program: program, arguments)
        let status = try await process.wait(seconds: 300)
        return Outcome(status: status, text: process.outputText + process.errorText)
    }

    @Test("the installed server runs, systemd takes its unit, and nothing is left of it later")
    func install() async throws {
        let prefix = files.path + "/prefix"
        let script = Self.root + "/scripts/install"
        let arguments = ["--server", "--prefix", prefix, "--from", Self.programs]
        let installed = try await run(script, arguments)
        #expect(installed.status == 0, "\(installed.text)")
        let help = try await run(prefix + "/bin/recordfs-server", ["--help"])
        #expect(help.status == 0, "\(help.text)")
        let unit = prefix + "/lib/systemd/system/recordfs-server.service"
        let verified = try await run("/usr/bin/systemd-analyze", ["verify", unit])
        #expect(verified.status == 0 && verified.text.isEmpty, "\(verified.text)")
        let shown = try await run("/bin/cat", [unit])
        #expect(shown.text.contains("ExecStart=\(prefix)/bin/recordfs-server serve"))
        #expect(!shown.text.contains("@PREFIX@"))
        let completions = try await run(
            "/bin/grep", ["-rlw", "recordfs-server", prefix + "/share"])
        #expect(completions.text.split(separator: "\n").count == 3, "\(completions.text)")
        let removed = try await run(script, arguments + ["--uninstall"])
        #expect(removed.status == 0, "\(removed.text)")
        #expect(try await run("/usr/bin/find", [prefix, "-type", "f"]).text.isEmpty)
    }

    @Test("a reader who follows the operation page gets what it says")
    func operationPage() async throws {
        let page = "/Sources/recordfs-server/Documentation.docc/ServerOperation.md"
        let walk = try await run(
            Self.root + "/scripts/walk-page", [Self.root + page, Self.programs])
        #expect(walk.status == 0, "\(walk.text)")
        #expect(walk.text.contains("https://localhost:8443/health"), "\(walk.text)")
    }
}
