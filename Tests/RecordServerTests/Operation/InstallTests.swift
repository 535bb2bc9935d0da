import Glibc
import ServerTestSupport
import TestSupport
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

    private func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> Outcome {
        let process = try ServerProcess(program: program, arguments, environment: environment)
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
        // Three for shells, and the manual page.
        #expect(completions.text.split(separator: "\n").count == 4, "\(completions.text)")
        let page = prefix + "/share/man/man8/recordfs-server.8"
        let text = try await run("/bin/cat", [page]).text.replacing("\\-", with: "-")
            .replacing("\"", with: "").replacing(".BR ", with: ".B ")
        for command in try await commands() {
            #expect(text.contains("\n.B \(command)"), "the manual page has nothing of \(command)")
        }
        let removed = try await run(script, arguments + ["--uninstall"])
        #expect(removed.status == 0, "\(removed.text)")
        #expect(try await run("/usr/bin/find", [prefix, "-type", "f"]).text.isEmpty)
    }

    @Test("systemd takes the unit of the mount, and nothing is left of its installation later")
    func installMount() async throws {
        // What is installed plays no part in where things go; this needs no build of the mount.
        let programs = files.path + "/programs"
        let prefix = files.path + "/mount"
        #expect(mkdir(programs, 0o700) == 0)
        #expect(symlink("/bin/true", programs + "/recordfs") == 0)
        let script = Self.root + "/scripts/install"
        let arguments = ["--prefix", prefix, "--from", programs]
        let installed = try await run(script, arguments)
        #expect(installed.status == 0, "\(installed.text)")
        let unit = prefix + "/share/systemd/user/recordfs.service"
        let verified = try await run(
            "/usr/bin/systemd-analyze", ["verify", "--user", "--man=no", unit],
            environment: ["XDG_RUNTIME_DIR": files.path])
        #expect(verified.status == 0 && verified.text.isEmpty, "\(verified.text)")
        let shown = try await run("/bin/cat", [unit])
        #expect(shown.text.contains("ExecStart=\(prefix)/bin/recordfs mount"))
        let entry = try await run("/bin/cat", [prefix + "/share/applications/recordfs.desktop"])
        #expect(entry.text.contains("Exec=\(prefix)/libexec/recordfs/accept-link %u"))
        let stranger = try await run(prefix + "/libexec/recordfs/accept-link", ["recordfs:x"])
        #expect(stranger.status == 2, "\(stranger.text)")
        let removed = try await run(script, arguments + ["--uninstall"])
        #expect(removed.status == 0, "\(removed.text)")
        let left = try await run("/usr/bin/find", [prefix, "-not", "-type", "d"])
        #expect(left.text.isEmpty, "\(left.text)")
    }

    /// The subcommands of the server, by its own help.
    private func commands() async throws -> [String] {
        let help = try await run(ServerProcess.binary, ["--help"])
        let list = try #require(help.text.split(separator: "SUBCOMMANDS:").last)
        let names = list.split(separator: "\n").filter {
            $0.hasPrefix("  ") && !$0.hasPrefix("   ")
        }
        .compactMap { $0.split(separator: " ").first.map(String.init) }.filter { $0 != "See" }
        #expect(names.count > 10)
        return names
    }

    private func walk(_ page: String) async throws -> Outcome {
        try await run(Self.root + "/scripts/walk-page", [page, Self.programs])
    }

    @Test(
        "a reader who follows a page of the server gets what it says",
        arguments: [
            ("RecordServer", "container create"),
            ("ServerOperation", "https://localhost:8443/health"),
            ("ManagementPlane", "sh manage schema/import"),
        ])
    func pages(_ name: String, _ step: String) async throws {
        let page = Self.root + "/Sources/recordfs-server/Documentation.docc/\(name).md"
        let walk = try await walk(page)
        #expect(walk.status == 0, "\(walk.text)")
        #expect(walk.text.contains(step), "\(walk.text)")
    }

    @Test(
        "a page is not walked with a block that is neither run nor marked as a sample for a reason",
        arguments: [
            ("```\nrecordfs-server user list\n```", "neither"),
            ("```sh\nrecordfs-server user list\n```", "neither"),
            ("<!-- sample:  -->\n```\nx\n```", "neither"),
            ("<!-- sample: long ago -->\n\n```\nx\n```", "neither"),
            ("```console\noutput of nothing\n```", "command"),
            ("<!-- environment -->\n```\nRECORDFS_SERVER_NO_KEY=1\n```", "NO_KEY"),
            ("```console\n$ cat missing\n```", "missing"),
            ("```console\n$ echo one\ntwo\n```", "it prints"),
        ])
    func unmarked(_ block: String, _ words: String) async throws {
        let page = files.path + "/page.md"
        let file = try #require(fopen(page, "w"))
        fputs("# Page\n\n```console\n$ true\n```\n\n\(block)\n", file)
        fclose(file)
        let walk = try await walk(page)
        #expect(walk.status == 1 && walk.text.contains(words), "\(walk.text)")
    }
}
