import Glibc
import ServerTestSupport
import TestSupport
import Testing

/// Programs that nobody here wrote, against the real server over TLS.
@Suite("Clients of others")
struct ForeignClientTests {
    /// `scripts/test` makes it, with pyicloud in it.
    private static let python = repository + "/.build/clients/bin/python"

    private static let repository: String = {
        var parts = #filePath.split(separator: "/")
        parts.removeLast(4)
        return "/" + parts.joined(separator: "/")
    }()

    @Test(
        "pyicloud's CloudKit client in strict mode, requests-cloudkit, and curl with openssl's signatures, sign in, make zones, modify, query, look up, follow changes and move assets"
    )
    func foreignClients() async throws {
        try #require(
            access(Self.python, X_OK) == 0, "\(Self.python) is missing: scripts/test makes it")
        let run = try ServerProcess(
            program: Self.python,
            [Self.repository + "/Tests/Clients/run.py", ServerProcess.binary, Self.python])
        let status = try await run.wait(seconds: 120)
        #expect(status == 0, "\(run.outputText) \(run.errorText)")
        #expect(run.outputText.contains("pyicloud: zones, modify, query, lookup, changes"))
        #expect(run.outputText.contains("s2s: create, lookup and query signed with openssl"))
        #expect(run.outputText.contains("requests-cloudkit: users/caller, create and lookup"))
    }
}
