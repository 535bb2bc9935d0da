import HTTPTypes
import HummingbirdCore
import NIOCore
import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore
@testable import RecordServerHTTP
@testable import RecordServerSQLite

@Suite("Couriers") struct CourierTests {
    private let fixture: PushFixture

    init() async throws { fixture = try await PushFixture() }

    @Test("a token has the shape that clients know, and is registered by its user only")
    func tokens() async throws {
        let server = fixture.server
        let made = try await server.call(
            .tokensCreate, .public, as: .alice,
            ["apnsEnvironment": "development", "clientId": "7c"])
        let keys = try #require(made.json.object).map(\.key.string).sorted()
        #expect(keys == ["apnsEnvironment", "apnsToken", "webcourierURL"])
        let token = try #require(made.json["apnsToken"])
        #expect(Base64.decode(token.string?.utf8 ?? [])?.count == 32)
        let body: JSONValue = [
            "apnsEnvironment": "development", "apnsToken": token, "clientId": "7c",
        ]
        #expect(try await server.call(.tokensRegister, .public, as: .alice, body).status == 200)
        let other = try await server.call(.tokensRegister, .public, as: .bob, body)
        #expect(other.code == "NOT_FOUND")
        let unknown = try await server.call(
            .tokensRegister, .public, as: .alice,
            ["apnsEnvironment": "development", "apnsToken": "AAAA", "clientId": "7c"])
        #expect(unknown.code == "NOT_FOUND")
        #expect(unknown.json["reason"] == other.json["reason"])
    }

    @Test(
        "what is no token request is refused", arguments: [Endpoint.tokensCreate, .tokensRegister],
        [
            [:], ["apnsEnvironment": "moon"], ["apnsEnvironment": 1],
            ["apnsEnvironment": "development", "clientId": 7],
            ["apnsEnvironment": "development", "apnsToken": 7],
        ] as [JSONValue])
    func malformed(_ endpoint: Endpoint, _ body: JSONValue) async throws {
        let answer = try await fixture.server.call(endpoint, .public, as: .alice, body)
        #expect(answer.code == "BAD_REQUEST")
        let anonymous = try await fixture.server.call(endpoint, .public, as: .anonymous, body)
        #expect(anonymous.code == "AUTHENTICATION_REQUIRED")
    }

    @Test("a subscription of type zone without a zone is told of every zone of its database")
    func anyZone() async throws {
        try await fixture.makeZone("Other")
        try await fixture.subscribe(["subscriptionID": "all", "subscriptionType": "zone"])
        let device = try await fixture.device()
        try await fixture.change("create", "a")
        try await fixture.change("create", "b", zone: ["zoneName": "Other"])
        let frames = try await fixture.frames(device).compactMap { $0["ck"]?["fet"] }
        #expect(frames.map { $0["zid"]?.string } == ["Work", "Other"])
        #expect(frames.map { $0["sid"]?.string } == ["all", "all"])
        let twice = try await fixture.modify([
            ("create", ["subscriptionID": "second", "subscriptionType": "zone"])
        ])
        #expect(twice.first?["serverErrorCode"] == "EXISTS")
    }

    @Test("a poll without news ends empty, and gives each frame once, oldest first")
    func once() async throws {
        try await fixture.subscribe(PushFixture.querySubscription("q"))
        let device = try await fixture.device()
        let empty = try await fixture.server.request(.get, device)
        #expect(empty.status == 200)
        #expect(empty.body == [])
        for name in ["a", "b", "c"] { try await fixture.change("create", name) }
        let names = try await fixture.frames(device).map { $0["ck"]?["qry"]?["rid"]?.string }
        #expect(names == ["a", "b", "c"])
        #expect(try await fixture.frames(device) == [])
    }

    @Test(
        "a poll that waits gets the frame when it comes", arguments: TestServer.Transport.allCases)
    func waits(_ transport: TestServer.Transport) async throws {
        let fixture = try await PushFixture(transport) { $0.holdTime = .seconds(60) }
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        let device = try await fixture.device()
        async let answer = fixture.server.request(.get, device)
        try await fixture.waitForPolls(1)
        try await fixture.change("create", "a")
        #expect(try await answer.json["ck"]?["fet"]?["sid"]?.string == "z")
        try await fixture.waitForPolls(0)
    }

    @Test("a second poll of a device ends the first")
    func supersedes() async throws {
        let fixture = try await PushFixture { $0.holdTime = .seconds(60) }
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        let device = try await fixture.device()
        async let first = fixture.server.request(.get, device)
        try await fixture.waitForPolls(1)
        async let second = fixture.server.request(.get, device)
        #expect(try await first.body == [])
        try await fixture.change("create", "a")
        #expect(try await second.body != [])
    }

    @Test(
        "a poll at one process is woken by a change at another and ended by a poll there",
        arguments: [0, 1])
    func otherProcess(_ changed: Int) async throws {
        let fixture = try await PushFixture(.twoInstances) { $0.holdTime = .seconds(60) }
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        let device = try await fixture.device()
        let processes = fixture.server.applications
        async let first = processes[changed].respond(.get, device)
        try await fixture.waitForPolls(1)
        async let second = processes[1 - changed].respond(.get, device)
        #expect(try await first.body == [])
        try await fixture.waitForPolls(1)
        fixture.server.takeTurn(changed)
        try await fixture.change("create", "a")
        #expect(try await second.body != [])
    }

    @Test("an unknown courier, one not used for a month, and one of a disabled user are gone")
    func gone() async throws {
        let device = try await fixture.device()
        #expect(try await fixture.server.request(.get, "/courier/guess").status == 404)
        fixture.server.clock.advance(.seconds(29 * 24 * 3600))
        #expect(try await fixture.server.request(.get, device).status == 200)
        fixture.server.clock.advance(.seconds(29 * 24 * 3600))
        #expect(try await fixture.server.request(.get, device).status == 200)
        fixture.server.clock.advance(.seconds(31 * 24 * 3600))
        #expect(try await fixture.server.request(.get, device).status == 404)
        let other = try await fixture.device(as: .bob)
        try await fixture.push.sweep(now: fixture.server.clock.now)
        #expect(try await fixture.server.request(.get, other).status == 200)
        try await fixture.server.changeUser(.bob) { $0.isDisabled = true }
        #expect(try await fixture.server.request(.get, other).status == 404)
    }

    @Test("a courier ends with the session that made it: by a new password, by its end, in time")
    func boundToSession() async throws {
        let server = fixture.server
        let accounts = server.accounts
        let first = try await fixture.device()
        #expect(try await server.request(.get, first).status == 200)
        let session = try #require(try await accounts.sessions(of: "alice@example.org").first)
        try await accounts.revokeSession(session.id)
        #expect(try await server.request(.get, first).status == 404)

        let second = try await fixture.device(as: .bob)
        #expect(try await server.request(.get, second).status == 200)
        _ = try await accounts.setPassword(
            of: "bob@example.org", to: Array("correct horse".utf8), cost: .quick)
        #expect(try await server.request(.get, second).status == 404)

        let third = try await fixture.device(as: .carol)
        for _ in 0..<4 {
            server.clock.advance(.seconds(22 * 24 * 3600))
            #expect(try await server.request(.get, third).status == 200)
        }
        server.clock.advance(.seconds(3 * 24 * 3600))
        #expect(try await server.request(.get, third).status == 404)
    }

    @Test("a courier that a server-to-server key asked for ends when the key is revoked")
    func boundToKey() async throws {
        let server = fixture.server
        let key = ServerKeyRow(
            keyID: "0123456789", container: TestServer.development, publicKeyPEM: "", name: "k",
            user: PushFixture.alice, createdMilliseconds: 1)
        let user = try #require(
            try await server.storage.write { (transaction) throws(ServerError) in
                try transaction.putServerKey(key)
                return try transaction.user(PushFixture.alice)
            })
        let answer = try await server.service.answer(
            ["apnsEnvironment": "development"],
            OperationContext(
                endpoint: .tokensCreate, container: TestServer.development, scope: .public,
                caller: .serverKey(user, keyID: key.keyID), requestID: "r",
                now: server.clock.now, baseURL: ""))
        let url = try #require(try JSONParser.parse(answer)["webcourierURL"]?.string).string
        #expect(try await server.request(.get, url).status == 200)
        _ = try await server.accounts.revokeServerKey(TestServer.container, "01234567")
        #expect(try await server.request(.get, url).status == 404)
    }

    @Test("a poll that waits when its session ends gets no news")
    func endedWhileWaiting() async throws {
        let fixture = try await PushFixture { $0.holdTime = .seconds(60) }
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        let device = try await fixture.device()
        async let answer = fixture.server.request(.get, device)
        try await fixture.waitForPolls(1)
        let accounts = fixture.server.accounts
        let session = try #require(try await accounts.sessions(of: "alice@example.org").first)
        // The change is committed in a session of its own, after the end of the first.
        let other = try await fixture.server.authenticator.signIn(
            PushFixture.alice, container: TestServer.development, staySignedIn: true,
            label: "other", now: fixture.server.clock.now)
        try await accounts.revokeSession(session.id)
        fixture.server.use(other, of: .alice)
        try await fixture.change("create", "a")
        let ended = try await answer
        #expect(ended.status == 404, "\(ended.text)")
    }

    @Test("couriers of ended sessions take no place, and are swept")
    func endedMakeRoom() async throws {
        let fixture = try await PushFixture { $0.devicesPerUser = 2 }
        let server = fixture.server
        let live = try await fixture.device()
        server.clock.advance(.seconds(1))
        let other = try await server.authenticator.signIn(
            PushFixture.alice, container: TestServer.development, staySignedIn: true,
            label: "other", now: server.clock.now)
        let mine = try await server.token(of: .alice)
        server.use(other, of: .alice)
        let dead = try await fixture.device()
        let sessions = try await server.accounts.sessions(of: "alice@example.org")
        try await server.accounts.revokeSession(
            try #require(sessions.first { $0.label == "other" }).id)
        server.use(mine, of: .alice)
        server.clock.advance(.seconds(1))
        let next = try await fixture.device()
        #expect(try await server.request(.get, live).status == 200)
        #expect(try await server.request(.get, next).status == 200)
        #expect(try await server.request(.get, dead).status == 404)
        for session in try await server.accounts.sessions(of: "alice@example.org") {
            try await server.accounts.revokeSession(session.id)
        }
        try await fixture.push.sweep(now: server.clock.now)
        let rows = try await server.storage.read { (reader) throws(ServerError) in
            try reader.pushDevices(TestServer.development, PushFixture.alice)
        }
        #expect(rows.isEmpty)
    }

    @Test("HEAD takes no frame")
    func head() async throws {
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        let device = try await fixture.device()
        try await fixture.change("create", "a")
        #expect(try await fixture.server.request(.head, device).status == 405)
        #expect(try await fixture.frames(device).count == 1)
    }

    @Test("a frame that the connection did not take goes back to the queue")
    func giveBack() async throws {
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        let device = try await fixture.device()
        try await fixture.change("create", "a")
        let request = Request(
            head: HTTPRequest(method: .get, scheme: "http", authority: "h", path: device),
            body: RequestBody(buffer: ByteBuffer()))
        do {
            let response = await fixture.server.application.root.respond(
                to: request, peer: "127.0.0.1", isTLS: false)
            #expect(response.status == .ok)
            #expect((response.body.contentLength ?? 0) > 0)
        }
        let deadline = Deadline(seconds: 10)
        var frames: [JSONValue] = []
        while frames.isEmpty, !deadline.isOver {
            frames = try await fixture.frames(device)
        }
        #expect(frames.count == 1)
    }

    @Test("a slow client loses the oldest frames beyond the limit")
    func limit() async throws {
        let fixture = try await PushFixture { $0.maximumFrames = 3 }
        try await fixture.subscribe(PushFixture.querySubscription("q"))
        let device = try await fixture.device()
        for number in 0..<5 { try await fixture.change("create", "n\(number)") }
        let names = try await fixture.frames(device).map { $0["ck"]?["qry"]?["rid"]?.string }
        #expect(names == ["n2", "n3", "n4"])
    }

    @Test("a user has so many devices; the one not seen for longest makes room")
    func devices() async throws {
        let fixture = try await PushFixture { $0.devicesPerUser = 2 }
        let first = try await fixture.device()
        fixture.server.clock.advance(.seconds(1))
        let second = try await fixture.device()
        fixture.server.clock.advance(.seconds(1))
        let third = try await fixture.device()
        #expect(try await fixture.server.request(.get, first).status == 404)
        #expect(try await fixture.server.request(.get, second).status == 200)
        #expect(try await fixture.server.request(.get, third).status == 200)
    }

    @Test("a frame that another process queued is found by looking")
    func otherProcess() async throws {
        let fixture = try await PushFixture {
            $0.holdTime = .seconds(60)
            $0.checkInterval = .milliseconds(20)
        }
        let device = try await fixture.device()
        let hash = PushHub.courierHash(Text(device.split(separator: "/")[1]))
        async let answer = fixture.server.request(.get, device)
        try await fixture.waitForPolls(1)
        try await fixture.server.storage.write { (transaction) throws(ServerError) in
            try transaction.enqueueFrame(courierHash: hash, Array("{\"ck\":1}".utf8), limit: 5)
        }
        #expect(try await answer.text == "{\"ck\":1}")
    }

    @Test("shutdown ends every poll with an empty answer, and later ones at once")
    func shutdown() async throws {
        let fixture = try await PushFixture { $0.holdTime = .seconds(60) }
        let device = try await fixture.device()
        async let answer = fixture.server.request(.get, device)
        try await fixture.waitForPolls(1)
        fixture.push.shutdown()
        let ended = try await answer
        #expect(ended.status == 200)
        #expect(ended.body == [])
        #expect(try await fixture.server.request(.get, device).body == [])
    }

    @Test("300 polls that wait ask the storage nothing, and only those concerned are woken")
    func idle() async throws {
        let storage = CountingStorage(try SQLiteStorage.open(path: nil))
        let fixture = try await PushFixture(storage: storage) {
            $0.holdTime = .seconds(60)
            $0.devicesPerUser = 400
        }
        let subscriber = try await fixture.device(as: .alice)
        var devices = [subscriber]
        for number in 0..<299 { devices.append(try await fixture.device(as: .bob, "\(number)")) }
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        try await withThrowingTaskGroup(of: (String, [UInt8]).self) { group in
            for device in devices {
                group.addTask {
                    (device, try await fixture.server.request(.get, device).body)
                }
            }
            try await fixture.waitForPolls(300)
            let before = try await settled(storage)
            for _ in 0..<2000 { await Task.yield() }
            #expect(storage.count == before)
            try await fixture.change("create", "a")
            let first = try #require(try await group.next())
            #expect(first.0 == subscriber)
            #expect(!first.1.isEmpty)
            #expect(fixture.push.statistics.waitingPolls == 299)
            fixture.push.shutdown()
            for try await (_, body) in group { #expect(body == []) }
        }
    }

    @Test("a change and its frame wait for the disk once")
    func disk() async throws {
        let storage = CountingStorage(try SQLiteStorage.open(path: nil))
        let fixture = try await PushFixture(storage: storage) { $0.holdTime = .seconds(60) }
        let device = try await fixture.device()
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        try await fixture.change("create", "first")
        #expect(try await fixture.frames(device).count == 1)
        async let frame = fixture.server.request(.get, device).body
        try await fixture.waitForPolls(1)
        let before = storage.durableCount
        try await fixture.change("create", "a")
        #expect(try await !frame.isEmpty)
        #expect(storage.durableCount == before + 1)
    }

    /// The count once every poll has asked for the last time before it waits.
    private func settled(_ storage: CountingStorage) async throws -> Int {
        var (last, rounds) = (storage.count, 0)
        while rounds < 200 {
            await Task.yield()
            _ = try await storage.read { (reader) throws(ServerError) in
                try reader.containers()
            }
            rounds = storage.count == last + 1 ? rounds + 1 : 0
            last = storage.count
        }
        return last
    }
}
