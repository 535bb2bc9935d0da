import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordStore
import RecordStoreSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

@testable import RecordSync

/// The engine at a server that takes and answers only what Apple's reference has (`--profile cloudkit`).
@Suite struct DocumentedProtocolTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer { $0.service.isStrict = true }
        (a, b) = (try Self.replica(server), try Self.replica(server))
    }

    private static func replica(
        _ server: TestServer, change: (inout Exchange.Settings) -> Void = { _ in }
    ) throws -> Replica {
        try Replica(server) { settings in
            settings = Exchange.Settings(profile: .cloudkit)
            change(&settings)
        }
    }

    private func syncAll() async throws {
        for replica in [a, b, a] { try await replica.sync() }
    }

    private func expectDocumented(_ replica: Replica) -> [SyncOperation] {
        let requests = replica.wire.takeRequests()
        for (operation, body) in requests {
            #expect(
                DocumentedBody.problems(operation, body) == [],
                "\(String(decoding: body, as: UTF8.self))")
        }
        return requests.map(\.operation)
    }

    @Test("the profile's pages, requests and keys")
    func profile() {
        let cloudKit = Exchange.Settings(profile: .cloudkit)
        #expect(!cloudKit.hasExtensions && !cloudKit.readsAhead)
        #expect(cloudKit.pageRecords == 200 && cloudKit.claims.records == 200)
        let own = Exchange.Settings(profile: .recordfs)
        #expect(own.hasExtensions && own.readsAhead && own.pageRecords == 2_000)
        let account = Account(
            server: "https://s", container: "c", environment: .production, apiToken: "a+/=",
            webAuthToken: "", user: UserName("_u"), profile: .cloudkit)
        #expect(Exchange.Settings(account).environment == .production)
        #expect(Exchange.Settings(account).waitForMore != nil)
        #expect(
            account.url(of: .recordsModify, .private, webAuthToken: "w+/=")
                == "https://s/database/1/c/production/private/records/modify"
                + "?ckAPIToken=a%2B%2F%3D&ckWebAuthToken=w%2B%2F%3D")
        #expect(
            account.url(of: .tokensCreate, .private, webAuthToken: nil)
                == "https://s/device/1/c/production/tokens/create?ckAPIToken=a%2B%2F%3D")
    }

    @Test("every type of value goes with its tag, and arrives as it was written")
    func values() async throws {
        try a.save("x", "{}")
        try a.save(
            "v",
            """
            {"s":"text","i":9007199254740993,"d":0.5,"t":{"$timestamp":"2026-11-23T10:00:00.250Z"},\
            "y":{"$bytes":"AAEC"},"l":{"$location":{"latitude":52.5,"longitude":13.25}},\
            "r":{"$ref":"x"},"a":["p","q"],"e":"","n":[],"b":true,"$parent":"x"}
            """)
        try await syncAll()
        // What a file says, and not how it is written there.
        let there = try #require(try a.text("v")).replacing(#""b":true"#, with: #""b":1"#)
        #expect(try b.text("v") == there)
        try b.save("v", #"{"s":"text","i":1,"a":[],"n":["one"]}"#)
        try await b.sync()
        try await a.sync()
        #expect(try a.text("v") == b.text("v"))
        #expect(try a.outbox() == [] && b.outbox() == [])
        for replica in [a, b] { #expect(expectDocumented(replica).contains(.recordsModify)) }
    }

    @Test("nested JSON is refused with what to do, and goes when it is a text")
    func nested() async throws {
        try a.save("x", #"{"v":{"a":1},"w":1}"#)
        try a.save("y", #"{"w":2}"#)
        try await syncAll()
        let row = try #require(try a.store.syncState.outbox(limit: 10).first)
        #expect(row.error?.hasPrefix("Field v is nested JSON") == true, "\(row.error ?? "")")
        #expect(try b.tree() == ["y": #"{"w":2}"#])
        #expect(try a.text("x") == #"{"v":{"a":1},"w":1}"#)
        // The text is the same on both sides, and nobody looks into it.
        try a.save("x", #"{"v":"{\"a\":1}","w":1}"#)
        try await syncAll()
        #expect(try a.outbox() == [])
        for replica in [a, b] { #expect(try replica.text("x") == #"{"v":"{\"a\":1}","w":1}"#) }
        try b.save("x", #"{"v":"[true]","w":1}"#)
        for replica in [b, a, b] { try await replica.sync() }
        for replica in [a, b] { #expect(try replica.text("x") == #"{"v":"[true]","w":1}"#) }
        _ = expectDocumented(a)
    }

    @Test("a conflict without the server's record is looked up, and merged")
    func conflict() async throws {
        try a.save("x", #"{"p":1,"q":1}"#)
        try await syncAll()
        try a.save("x", #"{"p":2,"q":1}"#)
        try b.save("x", #"{"p":1,"q":2}"#)
        let other = a
        b.wire.plan(.recordsModify, .meanwhile { try await other.exchange.round() })
        _ = b.wire.takeSent()
        try await b.sync()
        try await a.sync()
        for replica in [a, b] { #expect(try replica.text("x") == #"{"p":2,"q":2}"#) }
        #expect(expectDocumented(b).contains(.recordsLookup))
    }

    @Test(
        "of a list of files, what the server has is rereferenced, and never sent as it was fetched")
    func lists() async throws {
        try a.save("x", #"{"title":"A"}"#)
        for index in 0..<2 {
            try a.attach([1, UInt8(index)], to: "x", "pages", index, fileExtension: "")
        }
        try await syncAll()
        try b.attach([9], to: "x", "pages", 2, fileExtension: "")
        try await b.sync()
        #expect(b.wire.uploadedBytes == 1)
        #expect(expectDocumented(b).contains(.assetsRereference))
        try await a.sync()
        let files: [String: [UInt8]?] = [
            "x@pages.0": [1, 0], "x@pages.1": [1, 1], "x@pages.2": [9],
        ]
        for replica in [a, b] { #expect(try replica.assets(of: "x") == files) }
        _ = a.wire.takeSent()
        try a.save("x", try #require(try a.text("x")).replacing(#""A""#, with: #""B""#))
        try await a.sync()
        #expect(!a.wire.takeBodies(of: .recordsModify).joined().contains("pages"))
    }

    @Test("the ending of a file's name stays where it was written")
    func endings() async throws {
        try a.save("x", #"{"title":"A"}"#)
        try a.attach([1], to: "x", fileExtension: "jpg")
        try await syncAll()
        #expect(try b.assets(of: "x") == ["x@photo": [1]])
        let text = try #require(try b.text("x"))
        try b.save("x", text.replacing(#""A""#, with: #""B""#))
        for replica in [b, a, b] { try await replica.sync() }
        #expect(try a.text("x")?.contains(#""B""#) == true)
        #expect(try a.assets(of: "x") == ["x@photo.jpg": [1]])
        #expect(try a.outbox() == [] && b.outbox() == [])
        #expect(try a.conflicts() == [] && b.conflicts() == [])
    }

    @Test("what the server calls a file says nothing of its bytes: they come with the record, once")
    func foreignChecksums() async throws {
        // As a service that makes up its names.
        let names: @Sendable (JSONValue) -> JSONValue = { $0.withForeignChecksums }
        let bytes: [UInt8] = [1, 2, 3]
        try a.save("x", #"{"title":"A"}"#)
        try a.attach(bytes, to: "x", fileExtension: "")
        try await a.sync()
        b.wire.plan(.zoneChanges, .altered(names))
        try await b.sync()
        #expect(try b.assets(of: "x") == ["x@photo": bytes])
        #expect(try b.text("x") == a.text("x"))
        try b.expectSound()
        // Known by now: it is not fetched again when the feed begins anew.
        let entry = try #require(try b.entry("x"))
        let hash = try #require(try b.store.assets.assets(of: entry.id).first?.hash)
        #expect(hash == SHA256.hash(bytes))
    }

    @Test("fields that nobody here can read stay on the server when others are changed")
    func unknownFields() async throws {
        try a.save("x", #"{"p":1,"q":"strange","r":[1]}"#)
        try await a.sync()
        b.wire.plan(
            .zoneChanges,
            .altered { answer in
                answer.replacing(["q", "type"], with: "MOON_PHASE")
                    .replacing(["r", "type"], with: "UNKNOWN_LIST")
            })
        try await b.sync()
        #expect(try b.text("x") == #"{"p":1,"r":[1]}"#)
        try b.save("x", #"{"p":2,"r":[1]}"#)
        try await b.sync()
        try await a.sync()
        #expect(try a.text("x") == #"{"p":2,"q":"strange","r":[1]}"#)
    }

    @Test("a feed whose token is called a bad request begins anew")
    func badToken() async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncAll()
        try b.save("y", #"{"p":1}"#)
        try await b.sync()
        for operation in [SyncOperation.databaseChanges, .zoneChanges] {
            a.wire.plan(operation, .refused(ServerError(.badRequest, "Invalid syncToken")))
        }
        try await a.sync()
        #expect(try a.names() == ["x", "y"])
    }

    @Test("requests hold 200 changes and 2 MB at most, and all arrive")
    func sizes() async throws {
        let long = String(repeating: #"\u0001é"#, count: 4_000)
        for number in 0..<70 { try a.save("large\(number)", #"{"t":"\#(long)"}"#) }
        for number in 0..<450 { try a.save("small\(number)", #"{"n":\#(number)}"#) }
        try await a.sync()
        let requests = a.wire.takeRequests().filter { $0.operation == .recordsModify }
        #expect(requests.count > 3)
        for (operation, body) in requests {
            #expect(DocumentedBody.problems(operation, body) == [])
        }
        #expect(try a.outbox() == [])
        try await b.sync()
        #expect(try b.names().count == 520)
    }

    @Test("a request that is larger than it may be goes in halves, without being sent")
    func halves() async throws {
        let small = try Self.replica(server) { $0.requestBytes = 500 }
        for number in 0..<9 { try small.save("x\(number)", #"{"n":\#(number)}"#) }
        try await small.sync()
        for body in small.wire.takeBodies(of: .recordsModify) { #expect(body.utf8.count <= 500) }
        #expect(try small.outbox() == [])
        try await b.sync()
        #expect(try b.names().count == 9)
    }

    @Test("a wait of more than a day is kept to, and the changes are kept")
    func longWait() async throws {
        var error = WireError(text: "THROTTLED", reason: "Slow down")
        error.retryAfter = 110_207
        let problem = SyncProblem.refused(error)
        #expect(problem.retryAfter == .seconds(110_207))
        var schedule = SyncSchedule()
        let begun = schedule.begin(at: .zero)
        let job = try #require(begun)
        schedule.end(
            job, .failed(retryAfter: problem.retryAfter, ofServer: problem.isOfServer), at: .zero,
            jitter: 0)
        schedule.changed(ZoneID(1), at: .seconds(1))
        // Nobody's impatience counts against what the server asked for.
        schedule.kick(at: .seconds(1))
        #expect(schedule.nextTime() == .seconds(110_207))
        try a.save("x", #"{"p":1}"#)
        a.wire.plan(.recordsModify, .refused(ServerError(.throttled, "Slow down")))
        await #expect(throws: SyncProblem.self) { try await a.exchange.round() }
        #expect(try a.outbox() == ["create x"])
        try await syncAll()
        #expect(try b.names() == ["x"])
    }

    @Test("push is set up with documented requests: a subscription to each zone")
    func push() async throws {
        try a.save("x", #"{"p":1}"#)
        try a.save("y", #"{"p":1}"#, zone: "Cup")
        try await a.sync()
        _ = a.wire.takeSent()
        for _ in 0..<2 {
            let (told, tell) = AsyncStream<Void>.makeStream()
            let listener = PushListener([a.exchange])
            let task = Task { try await listener.listen { _ in tell.yield() } }
            for await _ in told { break }
            task.cancel()
            _ = await task.result
            let operations = expectDocumented(a)
            #expect(operations == [.subscriptionsModify, .tokensCreate, .tokensRegister])
        }
        let list = try await server.call(.subscriptionsList)
        #expect(list.json["subscriptions"]?.array?.count == 2)
    }
}

extension JSONValue {
    /// With another value at the end of each such way.
    fileprivate func replacing(_ keys: [Text], with value: JSONValue) -> JSONValue {
        changed { members in
            guard let place = members.firstIndex(where: { $0.key == keys[0] }),
                case .object(let inner) = members[place].value
            else { return members }
            var members = members
            members[place] = JSONMember(
                key: keys[0],
                value: .object(
                    inner.map { $0.key == keys[1] ? JSONMember(key: $0.key, value: value) : $0 }))
            return members
        }
    }

    /// With names of assets that are no checksums of their bytes.
    fileprivate var withForeignChecksums: JSONValue {
        changed { members in
            members.map { member in
                guard member.key == "fileChecksum" else { return member }
                return JSONMember(
                    key: member.key,
                    value: .string(Text(utf8: Base64.encode([1] + Array(repeating: 7, count: 20)))))
            }
        }
    }

    /// Each object changed, from the inside out.
    private func changed(_ change: ([JSONMember]) -> [JSONMember]) -> JSONValue {
        switch self {
        case .object(let members):
            .object(
                change(members.map { JSONMember(key: $0.key, value: $0.value.changed(change)) }))
        case .array(let elements): .array(elements.map { $0.changed(change) })
        default: self
        }
    }
}
