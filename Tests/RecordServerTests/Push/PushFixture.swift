import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// A test server with a zone `Work` of alice, and short ways to subscribe, change and poll.
struct PushFixture {
    let server: TestServer

    init(
        _ transport: TestServer.Transport = .router, storage: (any Storage)? = nil,
        configure: (inout PushSettings) -> Void = { _ in }
    ) async throws {
        server = try await TestServer(transport, storage: storage) { configuration in
            configuration.push.holdTime = .milliseconds(100)
            configuration.push.checkInterval = .seconds(600)
            configure(&configuration.push)
        }
        try await makeZone("Work")
        // A type that the schema does not know cannot be asked for.
        try await change("create", "seed", title: "x")
    }

    var push: PushHub { server.service.push }
    static let alice = TestServer.userName("a11ce")

    func makeZone(_ name: String, as person: TestServer.Person = .alice) async throws {
        let answer = try await server.call(
            .zonesModify, .private, as: person,
            [
                "operations": [
                    [
                        "operationType": "create",
                        "zone": ["zoneID": ["zoneName": JSONValue(name)]],
                    ]
                ]
            ])
        #expect(answer.json["zones"]?.array?.first?["serverErrorCode"] == nil, "\(answer.text)")
        await server.waitUntilDelivered()
    }

    static let work: JSONValue = ["zoneName": "Work"]
    static let sharedWork: JSONValue = [
        "zoneName": "Work", "ownerRecordName": .string(Text("\(alice)")),
    ]

    // MARK: Subscriptions

    static func zoneSubscription(_ id: JSONValue, _ zone: JSONValue = work) -> JSONValue {
        ["subscriptionID": id, "subscriptionType": "zone", "zoneID": zone]
    }

    static func querySubscription(
        _ id: JSONValue, firesOn: [JSONValue] = ["create", "update", "delete"],
        _ extra: [(Text, JSONValue)] = []
    ) -> JSONValue {
        let members: [(Text, JSONValue)] = [
            ("subscriptionID", id), ("subscriptionType", "query"),
            ("query", ["recordType": "Note"]), ("firesOn", .array(firesOn)),
        ]
        return .object((members + extra).map { JSONMember(key: $0.0, value: $0.1) })
    }

    /// The items of the answer.
    func modify(
        _ operations: [(String, JSONValue)], _ scope: DatabaseScope = .private,
        as person: TestServer.Person = .alice
    ) async throws -> [JSONValue] {
        let list = operations.map { kind, subscription -> JSONValue in
            ["operationType": JSONValue(kind), "subscription": subscription]
        }
        let answer = try await server.call(
            .subscriptionsModify, scope, as: person, ["operations": .array(list)])
        return answer.json["subscriptions"]?.array ?? [answer.json]
    }

    func subscribe(
        _ subscription: JSONValue, _ scope: DatabaseScope = .private,
        as person: TestServer.Person = .alice
    ) async throws {
        let items = try await modify([("create", subscription)], scope, as: person)
        #expect(items.first?["serverErrorCode"] == nil, "\(items)")
    }

    // MARK: Changes

    /// One operation of records/modify.
    func change(
        _ operation: String, _ record: String, type: String = "Note", title: String? = nil,
        _ scope: DatabaseScope = .private, as person: TestServer.Person = .alice,
        zone: JSONValue = work
    ) async throws {
        var members: [JSONMember] = [
            JSONMember(key: "recordName", value: JSONValue(record)),
            JSONMember(key: "recordType", value: JSONValue(type)),
        ]
        if let title {
            members.append(JSONMember(key: "fields", value: ["title": ["value": JSONValue(title)]]))
        }
        let answer = try await server.call(
            .recordsModify, scope, as: person,
            [
                "zoneID": zone,
                "operations": [
                    ["operationType": JSONValue(operation), "record": .object(members)]
                ],
            ])
        #expect(
            answer.json["records"]?.array?.first?["serverErrorCode"] == nil
                && answer.status == 200, "\(answer.text)")
        await server.waitUntilDelivered()
    }

    // MARK: Couriers

    /// The path of the courier of a new device.
    func device(as person: TestServer.Person = .alice, _ name: String = "d") async throws -> String
    {
        let answer = try await server.call(
            .tokensCreate, .public, as: person,
            ["apnsEnvironment": "development", "clientId": JSONValue(name)])
        let url = try #require(answer.json["webcourierURL"]?.string, "\(answer.text)").string
        let rest = url.trimmingPrefix("http://")
        return String(rest[try #require(rest.firstIndex(of: "/"))...])
    }

    /// All frames that wait for a device.
    func frames(_ path: String) async throws -> [JSONValue] {
        var frames: [JSONValue] = []
        while true {
            let answer = try await server.request(.get, path)
            #expect(answer.status == 200, "\(answer.text)")
            guard !answer.body.isEmpty else { return frames }
            frames.append(answer.json)
        }
    }

    /// Returns when so many polls wait.
    func waitForPolls(_ count: Int) async throws {
        let deadline = Deadline(seconds: 20)
        while server.waitingPolls != count {
            try #require(!deadline.isOver, "\(push.statistics)")
            await Task.yield()
        }
    }
}

/// A storage that counts what it is asked.
final class CountingStorage: Storage {
    private let storage: any Storage
    private let counter = Counter()
    private let durable = Counter()
    init(_ storage: any Storage) { self.storage = storage }

    var count: Int { counter.value }
    /// The number of writes that wait for the disk.
    var durableCount: Int { durable.value }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        counter.add()
        return try await storage.read(body)
    }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageTransaction) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        counter.add()
        durable.add()
        return try await storage.write(body)
    }

    func writeHint<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageTransaction) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        counter.add()
        return try await storage.writeHint(body)
    }
}
