import RecordModel
import RecordServerCore
import RecordServerSQLite
import RecordWire
import TestSupport

/// A storage in memory with one container, one API token and one user, and what checks
/// credentials against it.
final class CredentialHouse: Sendable {
    static let container = ContainerKey(
        container: "iCloud.org.example.app", environment: .development)

    let storage: SQLiteStorage
    let accounts: Accounts
    let seal = Seal(key: [UInt8](repeating: 3, count: 32))
    let settings: AccountSettings
    let clock = ManualClock()
    let authenticator: Authenticator
    let user: UserRow
    let apiToken: Text

    init(_ change: (inout AccountSettings) -> Void = { _ in }) async throws {
        var settings = AccountSettings()
        change(&settings)
        self.settings = settings
        storage = try SQLiteStorage.open(path: nil)
        accounts = Accounts(storage: storage)
        authenticator = Authenticator(storage: storage, seal: seal, settings: settings)
        try await accounts.createContainer(Self.container.container)
        user = try await accounts.addUser(
            emailAddress: "alice@example.org", password: Array("correct horse".utf8),
            cost: .quick, now: clock.now)
        apiToken = try await accounts.createAPIToken(Self.container, name: "test", now: clock.now)
            .token
    }

    /// The same server after a restart: what was in memory only is gone.
    func restarted() -> Authenticator {
        Authenticator(storage: storage, seal: seal, settings: settings)
    }

    func signIn(staySignedIn: Bool = false, container: ContainerKey = container) async throws
        -> Text
    {
        try await authenticator.signIn(
            user.name, container: container, staySignedIn: staySignedIn, label: "test",
            now: clock.now)
    }

    /// Checks a request with these two tokens.
    func check(
        _ webAuthToken: Text?, apiToken: Text? = nil, container: ContainerKey = container,
        by other: Authenticator? = nil
    ) async throws(ServerError) -> Authenticated {
        try await check(
            RequestCredentials(apiToken: apiToken ?? self.apiToken, webAuthToken: webAuthToken),
            container: container, by: other)
    }

    func check(
        _ credentials: RequestCredentials, container: ContainerKey = container,
        path: String = "/database/1/x", query: String = "", body: [UInt8] = [],
        by other: Authenticator? = nil
    ) async throws(ServerError) -> Authenticated {
        try await (other ?? authenticator).authenticate(
            credentials, container: container, path: path, pathAndQuery: path + query, body: body,
            baseURL: "https://records.example.org", now: clock.now)
    }

    /// The code that a request with this web auth token is refused with; nil when it is good.
    func refusal(
        _ webAuthToken: Text, container: ContainerKey = container, by other: Authenticator? = nil
    )
        async -> ServerErrorCode?
    {
        do throws(ServerError) {
            _ = try await check(webAuthToken, container: container, by: other)
            return nil
        } catch {
            return error.code
        }
    }

    /// Changes the only session.
    func changeSession(_ change: @escaping @Sendable (inout SessionRow) -> Void) async throws {
        let name = user.name
        try await storage.write { (transaction) throws(ServerError) in
            for var session in try transaction.sessions(name) {
                change(&session)
                try transaction.putSession(session)
            }
        }
    }
}

extension Password.Cost {
    /// For tests of anything but the cost.
    static let quick = Password.Cost(rounds: 16, blockSize: 1, parallelism: 1)
}

/// How many of `count` calls at the same time are true.
func countTrue(_ count: Int, _ body: @escaping @Sendable (Int) async -> Bool) async -> Int {
    await withTaskGroup(of: Bool.self) { group in
        for index in 0..<count { group.addTask { await body(index) } }
        var good = 0
        for await isTrue in group where isTrue { good += 1 }
        return good
    }
}
