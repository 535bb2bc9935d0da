import Logging
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// How many requests and bytes go over the wire, counted on real connections: these figures have no noise.
@Suite("What goes over the wire", .serialized) struct WireTests {
    /// A machine that is connected as the daemon is.
    private final class Machine: Sendable {
        let replica: Replica
        let engine: SyncEngine
        let proxy: CountingProxy
        private let task: Task<Void, Never>

        init(_ server: TestServer) async throws {
            replica = try Replica(server)
            proxy = try CountingProxy(to: server.port)
            let token = try await server.authenticator.signIn(
                TestServer.userName("a11ce"),
                container: ContainerKey(
                    container: TestServer.container, environment: .development),
                staySignedIn: true, label: "test", now: server.clock.now)
            let account = Account(
                server: "http://127.0.0.1:\(proxy.port)", container: TestServer.container,
                environment: .development, apiToken: Text(TestServer.apiTokens[0]),
                webAuthToken: token, user: TestServer.userName("a11ce"))
            let tokens = WebTokens(token, goesAlone: false) { _, done in done(.kept) }
            let exchange = Exchange(
                store: replica.store,
                transport: HTTPTransport(account, over: HTTPCall(), tokens: tokens),
                settings: Exchange.Settings(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let engine = SyncEngine(exchange)
            self.engine = engine
            replica.store.observe { engine.noteChanges($0) }
            task = Task {
                await withDiscardingTaskGroup { group in
                    group.addTask { await engine.run() }
                    group.addTask { await PushListener.run(for: [engine]) }
                }
            }
        }

        func stop() async {
            task.cancel()
            await task.value
        }
    }

    private static func wait(
        _ what: String, until isSo: () async throws -> Bool
    ) async throws {
        let deadline = Deadline(seconds: 20)
        while try await !isSo() {
            try #require(!deadline.isOver, "\(what)")
            await Task.yield()
        }
    }

    /// Two machines of one account with a record, and nothing to do.
    private func withIdleMachines(
        _ text: String, _ body: (TestServer, Machine, Machine) async throws -> Void
    ) async throws {
        let server = try await TestServer(.socket)
        let (a, b) = (try await Machine(server), try await Machine(server))
        try a.replica.save("x", text)
        try await rest(server, a, b, until: text)
        try await body(server, a, b)
        await a.stop()
        await b.stop()
    }

    /// Until both have the text and only listen.
    private func rest(
        _ server: TestServer, _ a: Machine, _ b: Machine, until text: String
    ) async throws {
        try await Self.wait("both machines rest") {
            await server.waitUntilDelivered()
            return try b.replica.file("x") == text && a.replica.outbox() == []
                && server.waitingPolls == 2 && a.engine.published.isIdle
                && b.engine.published.isIdle
        }
        // Nobody was told of anything meanwhile.
        await a.engine.finishDueWork()
        await b.engine.finishDueWork()
        try await Self.wait("both machines listen") { server.waitingPolls == 2 }
    }

    /// What one save takes until both machines rest again.
    private func count(
        _ server: TestServer, _ a: Machine, _ b: Machine, save text: String
    ) async throws -> CountingProxy.Count {
        _ = (a.proxy.take(), b.proxy.take())
        try a.replica.save("x", text)
        try await Self.wait("the save is there") {
            await server.waitUntilDelivered()
            return try b.replica.file("x") == text && a.replica.outbox() == []
                && server.waitingPolls == 2 && a.engine.published.isIdle
                && b.engine.published.isIdle
        }
        let (first, second) = (a.proxy.take(), b.proxy.take())
        return CountingProxy.Count(
            requests: first.requests + second.requests, bytes: first.bytes + second.bytes)
    }

    private static func note(_ number: Int) -> String {
        let words = (0..<40).map { "word\($0 * 7 % 31)" }.joined(separator: " ")
        return "{\n  \"title\": \"note \(number)\",\n  \"body\": \"\(words.prefix(220))\"\n}\n"
    }

    @Test("a save of 300 bytes takes few requests and bytes on two machines")
    func smallSave() async throws {
        try await withIdleMachines(Self.note(0)) { server, a, b in
            // The first request has said what the server takes.
            for number in 1...3 {
                let count = try await count(server, a, b, save: Self.note(number))
                #expect(count.requests <= 4 && count.bytes <= 3_000, "\(count)")
            }
        }
    }

    /// Without repetitions, so that no compression makes it shorter.
    private static func long(_ character: Character) -> String {
        var random = SeededRandom(seed: 7)
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        var text = (0..<60_000).map { _ in
            letters[Int.random(in: 0..<letters.count, using: &random)]
        }
        text[30_000] = character
        return "{\"n\":1,   \"body\":\"\(String(text))\"}"
    }

    @Test(
        "one character in a record of 60 kB is few bytes, also where its file has a form of its own"
    )
    func oneCharacter() async throws {
        try await withIdleMachines(Self.long("!")) { server, a, b in
            for character in "?;:" {
                let count = try await count(server, a, b, save: Self.long(character))
                #expect(count.bytes <= 10_000, "\(count)")
            }
            #expect(try b.replica.file("x") == a.replica.file("x"))
        }
    }

    @Test("an idle hour of one machine is few bytes")
    func idle() async throws {
        let server = try await TestServer(.socket) { $0.push.holdTime = .milliseconds(1_500) }
        let machine = try await Machine(server)
        try machine.replica.save("x", "{}")
        await machine.engine.finishDueWork()
        try await Self.wait("it listens") { server.waitingPolls == 1 }
        // What the first poll has told of is heard by now.
        await machine.engine.finishDueWork()
        _ = machine.proxy.take()
        // The answer to one, and the next one.
        try await Self.wait("a poll has ended, and another one waits") {
            machine.proxy.current.requests > 0 && server.waitingPolls == 1
        }
        let poll = machine.proxy.take()
        #expect(poll.requests == 1)
        // The least of three: a poll that ends meanwhile is none of a look.
        var looks: [CountingProxy.Count] = []
        for _ in 0..<3 {
            await machine.engine.finishDueWork()
            looks.append(machine.proxy.take())
        }
        let look = try #require(looks.min { $0.bytes < $1.bytes })
        // A poll is held for 50 seconds, and a look is due every five minutes, in two databases.
        let hour = poll.bytes * 72 + look.bytes * 24
        #expect(hour <= 60_000, "\(poll) \(look)")
        await machine.stop()
    }
}
