package import HTTPTypes
package import Logging
package import RecordModel
package import RecordServerCore
package import RecordServerHTTP
import RecordServerSQLite
package import RecordWire
import Synchronization
package import TestSupport

/// A whole record server in this process, for tests.
///
/// Storage in memory, a clock that stands still until the test moves it, the container
/// `iCloud.org.example.app` with API tokens of both environments, and the users alice, bob and
/// carol, who agree to be found. Nothing is limited in rate unless the test asks for it.
///
///     let server = try await TestServer()                     // through the router
///     let server = try await TestServer(.socket)              // over 127.0.0.1
///     let server = try await TestServer(.twoInstances)        // two of them over one storage
///     let answer = try await server.call(.zonesList, .private, as: .alice)
///     #expect(answer.status == 200)
///     let zones = answer.json["zones"]?.array
///     let other = try await server.call(
///         .recordsLookup, .shared, as: .bob, ["records": [["recordName": "n-1"]]])
///     #expect(other.code == "ZONE_NOT_FOUND")
///
/// `request` sends anything else: pages, assets, long polls, wrong bodies. `server.service`,
/// `server.storage` and `server.clock` are there for looking behind the wire. `call` keeps the
/// successors of web auth tokens; `token(of:)` gives the newest one. Run a suite through all
/// transports with `@Suite("...", .everyTransport)`. The socket closes when the
/// server is no longer used: `raw` keeps it for blocking work with connections.
package final class TestServer: Sendable {
    package enum Transport: Sendable, CaseIterable {
        case router, socket
        /// Two servers as two processes would be: each has its own connections to one database
        /// file, its own asset directory object and its own caches; they have nothing in common but
        /// their links. Requests go to the one and the other in turn.
        case twoInstances
    }

    /// What `TestServer()` uses; the trait `.everyTransport` runs a test with each.
    @TaskLocal package static var usualTransport = Transport.router

    /// Who calls.
    package enum Person: Hashable, Sendable {
        case alice, bob, carol
        /// Somebody else, made with `addUser`.
        case other(UserName)
        /// An API token without a user.
        case anonymous
        /// No credentials at all.
        case nobody

        package var user: UserName? {
            switch self {
            case .alice: TestServer.userName("a11ce")
            case .bob: TestServer.userName("b0b")
            case .carol: TestServer.userName("ca701")
            case .other(let name): name
            case .anonymous, .nobody: nil
            }
        }
        package static let people: [(Person, String)] = [
            (.alice, "alice"), (.bob, "bob"), (.carol, "carol"),
        ]
    }

    package static let container: Text = "iCloud.org.example.app"
    /// Of API tokens of the two environments, in the order of `ServerEnvironment.allCases`.
    package static let apiTokens = [
        String(repeating: "d0", count: 32), String(repeating: "9a", count: 32),
    ]

    /// What a restore replaces.
    struct Life {
        var applications: [ServerApplication]
        var storage: any Storage
        /// Holds the assets, and the storage, unless that is in memory.
        var files: TemporaryDirectory
        var assetPath: String
    }
    let life: Mutex<Life>
    let configuration: ServerConfiguration
    let logger: Logger
    let links: ServerLinks

    /// One, or those of `.twoInstances`.
    package var applications: [ServerApplication] { life.withLock(\.applications) }
    package var storage: any Storage { life.withLock(\.storage) }
    package let clock = ManualClock()
    package let transport: Transport
    private let running: RunningServer?
    private struct Turn {
        var number = 0
        var last: Timestamp?
    }
    private let turn = Mutex(Turn())
    struct TokenKey: Hashable {
        let person: Person
        let environment: ServerEnvironment
    }
    let tokens = Mutex<[TokenKey: Text]>([:])
    /// Those of `callCore`.
    let callers = Mutex<[UserName: UserRow]>([:])

    package var application: ServerApplication { applications[0] }
    package var service: RecordService { application.service }
    package var authenticator: Authenticator { application.authenticator }
    package var assetPath: String { life.withLock(\.assetPath) }
    /// Of the socket.
    package var port: Int { running?.port ?? 0 }

    /// `configure` changes the configuration before the server is made. `storage` replaces the one
    /// in memory; it has to be empty.
    package init(
        _ transport: Transport = usualTransport, storage: (any Storage)? = nil,
        logger: Logger? = nil, configure: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws {
        var configuration = ServerConfiguration()
        configuration.port = transport == .socket ? 0 : 8080
        configuration.rates = .unlimited
        // Tests let requests come from any address.
        configuration.isInsecure = true
        configure(&configuration)
        let files = try TemporaryDirectory()
        let count = transport == .twoInstances ? 2 : 1
        let path = count > 1 ? files.path + "/records.sqlite" : nil
        let isFilled = storage == nil && path == nil
        var storages: [any Storage] = []
        for _ in 0..<count {
            if isFilled {
                storages.append(try await Self.filled.value.copyInMemory())
            } else {
                storages.append(
                    try storage ?? SQLiteStorage.open(path: path, synchronous: .normal))
            }
        }
        self.transport = transport
        self.configuration = configuration
        let logger = logger ?? Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        self.logger = logger
        let (final, clock, links) = (configuration, clock, ServerLinks.inProcess())
        self.links = links
        let applications = try storages.map { storage in
            ServerApplication(
                configuration: final, storage: storage,
                assets: try AssetDirectory(path: files.path + "/assets"),
                seal: Self.seal(), clock: clock, logger: logger, links: links)
        }
        life = Mutex(
            Life(
                applications: applications, storage: storages[0], files: files,
                assetPath: files.path + "/assets"))
        if !isFilled { try await Self.fill(storages[0], at: clock.now) }
        running = transport == .socket ? try await applications[0].start() : nil
    }

    static func seal(incarnation: [UInt8] = []) -> Seal {
        Seal(key: [UInt8](repeating: 7, count: 32), incarnation: incarnation)
    }

    deinit {
        guard let running else { return }
        Task { try await running.stop() }
    }

    /// Stops the socket gracefully.
    package func stop() async throws { try await running?.stop() }

    /// `_` and 32 digits.
    package static func userName(_ suffix: String) -> UserName {
        UserName("_" + String(repeating: "0", count: 32 - suffix.count) + suffix)
    }

    /// What each server in memory begins with: made once, for making the tables takes its time.
    private static let filled = Task {
        let storage = try SQLiteStorage.open(path: nil, synchronous: .normal)
        try await fill(storage, at: ManualClock().now)
        return storage
    }

    private static func fill(_ storage: any Storage, at now: Timestamp) async throws {
        let milliseconds = now.nanoseconds / 1_000_000
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.createContainer(container)
            for (environment, token) in zip(ServerEnvironment.allCases, apiTokens) {
                try transaction.putAPIToken(
                    APITokenRow(
                        hash: Secret.hash(Text(token)),
                        container: ContainerKey(container: container, environment: environment),
                        name: "test", callbackURL: "https://app.example.org/signed-in",
                        createdMilliseconds: milliseconds))
            }
            for (person, name) in Person.people {
                guard let user = person.user else { continue }
                var row = UserRow(
                    name: user, emailAddress: Text(name + "@example.org"),
                    givenName: Text(name), familyName: "Example", passwordHash: "",
                    createdMilliseconds: milliseconds)
                row.isDiscoverable = true
                try transaction.putUser(row)
            }
        }
    }

    // MARK: Operations

    /// Calls an operation; keeps the next web auth token of the answer.
    package func call(
        _ endpoint: Endpoint, _ scope: DatabaseScope = .private, as person: Person = .alice,
        _ body: JSONValue = [:], environment: ServerEnvironment = .development
    ) async throws -> Answer {
        let answer = try await request(
            .post, try await target(endpoint, scope, as: person, environment: environment),
            headers: [.contentType: "application/json"], body: body.serialized())
        keep(answer, person, environment)
        return answer
    }

    /// The path of an operation with the credentials of this person.
    package func target(
        _ endpoint: Endpoint, _ scope: DatabaseScope = .private, as person: Person = .alice,
        environment: ServerEnvironment = .development
    ) async throws -> String {
        let place = "1/\(Self.container)/\(environment.rawValue)"
        let path =
            endpoint.isDevice
            ? "/device/\(place)/\(endpoint.rawValue)"
            : "/database/\(place)/\(scope.rawValue)/\(endpoint.rawValue)"
        return path + (try await query(as: person, environment: environment))
    }

    /// `?ckAPIToken=...&ckWebAuthToken=...` of this person; empty for nobody.
    package func query(as person: Person, environment: ServerEnvironment = .development)
        async throws
        -> String
    {
        guard person != .nobody else { return "" }
        let index = ServerEnvironment.allCases.firstIndex(of: environment) ?? 0
        let query = "?ckAPIToken=" + Self.apiTokens[index]
        guard person.user != nil else { return query }
        return query + "&ckWebAuthToken="
            + (try await token(of: person, environment: environment)).string
    }

    /// The newest web auth token of this person; signs in the first time.
    package func token(of person: Person, environment: ServerEnvironment = .development)
        async throws
        -> Text
    {
        let key = TokenKey(person: person, environment: environment)
        if let token = tokens.withLock({ $0[key] }) { return token }
        guard let user = person.user else { throw TestServerError("Nobody has no token.") }
        let token = try await authenticator.signIn(
            user, container: ContainerKey(container: Self.container, environment: environment),
            staySignedIn: true, label: "test", now: clock.now)
        tokens.withLock { $0[key] = token }
        return token
    }

    /// This web auth token is the person's newest from now on.
    package func use(
        _ token: Text, of person: Person, environment: ServerEnvironment = .development
    ) {
        tokens.withLock { $0[TokenKey(person: person, environment: environment)] = token }
    }

    private func keep(_ answer: Answer, _ person: Person, _ environment: ServerEnvironment) {
        guard let name = HTTPField.Name("X-Apple-CloudKit-Web-Auth-Token"),
            let next = answer.headers[name]
        else { return }
        tokens.withLock { $0[TokenKey(person: person, environment: environment)] = Text(next) }
    }

    // MARK: Instances

    /// Whose turn it is. When time has passed, what an instance writes within a second is written.
    package func next() async throws -> ServerApplication {
        guard applications.count > 1 else { return application }
        let now = clock.now
        let (number, last) = turn.withLock { turn in
            defer { turn = Turn(number: turn.number + 1, last: now) }
            return (turn.number, turn.last)
        }
        if let last, last != now {
            for application in applications { try await application.authenticator.flush(now: last) }
        }
        return applications[number % applications.count]
    }

    /// The next request goes to this instance.
    package func takeTurn(_ instance: Int) { turn.withLock { $0.number = instance } }

    /// Returns when all that was changed so far is in the queues of the devices.
    package func waitUntilDelivered() async {
        for application in applications { await application.service.push.waitUntilDelivered() }
    }

    /// The long polls that wait, at all instances.
    package var waitingPolls: Int {
        applications.reduce(0) { $0 + $1.service.push.statistics.waitingPolls }
    }

    // MARK: Anything else

    /// Sends a request as it is.
    package func request(
        _ method: HTTPRequest.Method, _ target: String, headers: HTTPFields = [:],
        body: [UInt8] = []
    ) async throws -> Answer {
        switch transport {
        case .router, .twoInstances:
            let answer = try await next().respond(
                method, target, headers: headers, body: body)
            return Answer(status: answer.status, headers: answer.headers, body: answer.body)
        case .socket:
            let answer = try await RawHTTP.request(
                port: port, method.rawValue, target,
                headers: headers.map { ($0.name.rawName, $0.value) }, body: body)
            var fields = HTTPFields()
            for (name, value) in answer.headers {
                if let name = HTTPField.Name(name) {
                    fields.append(HTTPField(name: name, value: value))
                }
            }
            return Answer(status: answer.status, headers: fields, body: answer.body)
        }
    }

    /// Blocking work with connections to the socket, off the cooperative pool. The server lives at
    /// least until it is done.
    package func raw<Result: Sendable>(_ body: @escaping @Sendable (_ port: Int) throws -> Result)
        async throws -> Result
    {
        try await RawHTTP.run { try body(self.port) }
    }

    /// One more user.
    package func addUser(_ name: String, change: (inout UserRow) -> Void = { _ in }) async throws
        -> Person
    {
        let user = UserName("_" + SecureRandom.hex128())
        var row = UserRow(
            name: user, emailAddress: Text(name + "@example.org"), givenName: Text(name),
            familyName: "Example", passwordHash: "",
            createdMilliseconds: clock.now.nanoseconds / 1_000_000)
        change(&row)
        let final = row
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putUser(final)
        }
        return .other(user)
    }

    /// Changes the row of a user: an administrator, disabled, a quota.
    package func changeUser(_ person: Person, _ change: @escaping @Sendable (inout UserRow) -> Void)
        async throws
    {
        guard let name = person.user else { throw TestServerError("Nobody has no row.") }
        try await storage.write { (transaction) throws(ServerError) in
            guard var row = try transaction.user(name) else { return }
            change(&row)
            try transaction.putUser(row)
        }
    }

    package struct Answer: Sendable {
        package let status: Int
        package let headers: HTTPFields
        package let body: [UInt8]

        /// Null where the body is no JSON.
        package var json: JSONValue { (try? JSONParser.parse(body)) ?? .null }
        /// `serverErrorCode` of the whole answer.
        package var code: String? { json["serverErrorCode"]?.string?.string }
        package var text: String { String(decoding: body, as: UTF8.self) }
    }
}

extension RateSettings {
    package static var unlimited: RateSettings {
        var settings = RateSettings()
        let none = Bucket(perSecond: 0, burst: 0)
        (settings.user, settings.address, settings.resolve) = (none, none, none)
        return settings
    }
}

package struct TestServerError: Error, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}
