import RecordModel
import RecordSync
import RecordWire
import Testing

@testable import RecordDaemon

/// The account that config.json names, against the one that has signed in.
@Suite struct AccountSettingsTests {
    private let account = Account(
        server: "https://records.example.org", container: "iCloud.org.example.app",
        environment: .production, apiToken: "api", webAuthToken: "web", user: UserName("_ada"))

    @Test("settings that name no account, or the same one, accept it")
    func accepted() throws {
        var settings = ConfiguredAccount(file: "config.json")
        try settings.check(account)
        settings.server = account.server
        settings.container = "iCloud.org.example.app"
        settings.environment = "production"
        settings.user = "somebody@example.org"
        try settings.check(account)
    }

    @Test("another server, container or environment is refused, with both in the message")
    func refused() throws {
        let changes: [(String, (inout ConfiguredAccount) -> Void)] = [
            ("server", { $0.server = "other" }), ("container", { $0.container = "other" }),
            ("environment", { $0.environment = "other" }),
        ]
        for (key, change) in changes {
            var settings = ConfiguredAccount(file: "/etc/config.json")
            change(&settings)
            let error = #expect(throws: RecordError.self) { try settings.check(account) }
            #expect(error?.code == .invalidArgument)
            #expect(
                error?.message.hasPrefix(
                    "/etc/config.json says that its \(key) is other, and it is signed in to ")
                    == true)
        }
    }
}
