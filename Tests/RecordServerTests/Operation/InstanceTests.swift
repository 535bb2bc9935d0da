import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

/// A server on a directory, started and stopped in this process.
@Suite("Server instance") struct InstanceTests {
    private let files: TemporaryDirectory
    private let log = LogCollector()

    init() throws { files = try TemporaryDirectory() }

    private func start(_ name: String = "data", port: Int = 0) async throws -> ServerInstance {
        var configuration = ServerConfiguration()
        configuration.dataDirectory = files.path + "/" + name
        configuration.port = port
        return try await ServerInstance.start(configuration, logger: log.logger)
    }

    /// An operation of the administrator over the socket.
    private func call(
        _ instance: ServerInstance, _ operation: String, _ query: String, _ body: JSONValue
    ) async throws -> JSONValue {
        let answer = try await RawHTTP.request(
            port: instance.running.port, "POST", operation + query, body: body.serialized())
        #expect(answer.status == 200, "\(answer.text)")
        return try JSONParser.parse(answer.body)
    }

    private func query(_ instance: ServerInstance, _ firstRun: FirstRun) async throws -> String {
        let application = instance.application
        let users = try await Accounts(storage: application.service.storage).users()
        let administrator = try #require(users.first)
        let token = try await application.authenticator.signIn(
            administrator.name,
            container: ContainerKey(container: firstRun.container, environment: .development),
            staySignedIn: false, label: "test", now: SystemClock().now)
        let apiToken = try #require(firstRun.tokens.first).token
        return "?ckAPIToken=\(apiToken)&ckWebAuthToken=\(token)"
    }

    @Test("a stop ends long polls at once with an empty answer and leaves one file of data")
    func stop() async throws {
        let instance = try await start()
        let firstRun = try #require(instance.firstRun)
        let answer = try await call(
            instance, "/device/1/\(firstRun.container)/development/tokens/create",
            try await query(instance, firstRun),
            ["apnsEnvironment": "development", "clientId": "test"])
        let url = try #require(answer["webcourierURL"]?.string).string
        let path = try #require(url.firstRange(of: "/courier/")).lowerBound
        let target = String(url[path...])
        let port = instance.running.port
        let poll = try await RawHTTP.run {
            let poll = try RawConnection(port: port)
            try poll.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return poll
        }
        while try await RawHTTP.request(port: port, "GET", "/metrics").text
            .contains("recordfs_long_polls 0\n")
        {}
        try await instance.stop()
        let end = try await RawHTTP.run { try poll.readAnswer() }
        #expect(end?.status == 200)
        #expect(end?.body == [])
        let log = try ServerProcess(program: "/bin/ls", [files.path + "/data"])
        #expect(try await log.wait() == 0)
        #expect(log.outputText == "assets\nlock\nrecords.sqlite\n")
    }

    @Test("a record that was written before a stop is there after it, and so is its session")
    func restart() async throws {
        let first = try await start()
        let firstRun = try #require(first.firstRun)
        let query = try await query(first, firstRun)
        let database = "/database/1/\(firstRun.container)/development/private/"
        _ = try await call(
            first, database + "records/modify", query,
            [
                "operations": [
                    [
                        "operationType": "create",
                        "record": ["recordName": "a", "recordType": "Note"],
                    ]
                ]
            ])
        try await first.stop()
        let second = try await start()
        #expect(second.firstRun == nil)
        let answer = try await call(
            second, database + "records/lookup", query, ["records": [["recordName": "a"]]])
        #expect(answer["records"]?.array?.first?["recordType"]?.string == "Note")
        try await second.stop()
    }

    @Test("web auth tokens in their grace time are good after a restart")
    func graceAtRestart() async throws {
        let site = try OperatedSite()
        let first = try await site.start()
        var client = try await site.client("alice", of: first)
        var shown: [Text] = []
        for _ in 0..<7 {
            shown.append(client.webAuthToken)
            let reply = try await site.call(first, "private/zones/list", client)
            client.webAuthToken = try #require(reply.successor, "\(reply.json)")
        }
        try await first.stop()
        let second = try await site.start()
        for token in shown + [client.webAuthToken] {
            client.webAuthToken = token
            let reply = try await site.call(second, "private/zones/list", client)
            #expect(reply.status == 200, "\(reply.json)")
        }
        try await second.stop()
    }

    @Test("nobody gets a connection before the first run is done")
    func noEarlyConnection() async throws {
        let prober = Prober()
        var configuration = ServerConfiguration()
        configuration.dataDirectory = files.path + "/data"
        // Another program may take a free port before the server does.
        var instance: ServerInstance?
        for _ in 0..<20 where instance == nil {
            configuration.port = try prober.choosePort()
            do {
                instance = try await ServerInstance.start(
                    configuration, logger: log.logger, clock: prober)
            } catch let error as ServerError where error.code == .tryAgainLater {}
        }
        let running = try #require(instance)
        #expect(running.firstRun != nil)
        #expect(prober.attempts > 0)
        #expect(prober.connections == 0)
        try await running.stop()
    }

    /// A clock that tries to connect whenever somebody looks at it while a server starts.
    private final class Prober: WallClock {
        private struct State {
            var port = 0
            var attempts = 0
            var connections = 0
        }
        private let state = Mutex(State())
        var attempts: Int { state.withLock { $0.attempts } }
        var connections: Int { state.withLock { $0.connections } }

        func choosePort() throws -> Int {
            let port = try RawConnection.freePort()
            state.withLock { $0 = State(port: port) }
            return port
        }

        var now: Timestamp {
            let port = state.withLock { $0.port }
            let isConnected = (try? RawConnection(port: port)) != nil
            state.withLock { state in
                state.attempts += 1
                if isConnected { state.connections += 1 }
            }
            return SystemClock().now
        }
    }

    @Test("a first run that finds its address taken makes nothing; the next one shows the secrets")
    func takenAddress() async throws {
        let other = try await start("other")
        await #expect(throws: (any Error).self) { try await start(port: other.running.port) }
        let instance = try await start()
        #expect(instance.firstRun != nil)
        try await instance.stop()
        try await other.stop()
    }

    @Test("a backup made by command while the server runs is restored as another incarnation")
    func backup() async throws {
        let server = try await ServerProcess.serve(data: files.path + "/data")
        let backup = try ServerProcess([
            "backup", "--data", files.path + "/data", files.path + "/copy",
        ])
        #expect(try await backup.wait() == 0, "\(backup.errorText)")
        let again = try ServerProcess([
            "backup", "--data", files.path + "/data", files.path + "/copy",
        ])
        #expect(try await again.wait() == 1)
        let restore = try ServerProcess([
            "restore", "--data", files.path + "/new", files.path + "/copy",
        ])
        #expect(try await restore.wait() == 0, "\(restore.errorText)")
        let restored = try await ServerProcess.serve(data: files.path + "/new")
        #expect(!restored.outputText.contains("password"))
        let users = try ServerProcess(["user", "list", "--data", files.path + "/new"])
        #expect(try await users.wait() == 0)
        #expect(users.outputText.contains("admin@localhost"))
        let running = try ServerProcess([
            "restore", "--data", files.path + "/data", files.path + "/copy",
        ])
        #expect(try await running.wait() == 1)
        #expect(server.pid != restored.pid)
    }
}
