import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// One fact of the protocol and what a server has to do for it. The name says the fact, so that a
/// failure says which one is not kept.
struct ConformanceRow: Sendable, CustomTestStringConvertible {
    typealias Check = @Sendable (ConformanceScene) async throws -> Void
    let name: String
    let check: Check

    var testDescription: String { name }

    /// Runs the check with the server that the suite has for this transport.
    func run(_ transport: TestServer.Transport, _ servers: ConformanceServers) async throws {
        try await check(try await servers.scene(transport))
    }
}

/// The rows of a suite, in the order in which they are added.
struct ConformanceRows {
    private(set) var list: [ConformanceRow] = []

    mutating func row(_ name: String, _ check: @escaping ConformanceRow.Check) {
        list.append(ConformanceRow(name: name, check: check))
    }

    static func of(_ parts: (inout ConformanceRows) -> Void...) -> [ConformanceRow] {
        var rows = ConformanceRows()
        for part in parts { part(&rows) }
        return rows.list
    }
}

/// The servers of a suite: one for each transport, made when the first row needs it.
actor ConformanceServers {
    private var servers: [TestServer.Transport: Task<TestServer, any Error>] = [:]
    private var count = 0

    func scene(_ transport: TestServer.Transport) async throws -> ConformanceScene {
        let task =
            servers[transport]
            ?? Task { try await TestServer(transport) { $0.push.holdTime = .milliseconds(50) } }
        servers[transport] = task
        count += 1
        let scene = ConformanceScene(server: try await task.value, number: count)
        try await scene.server.makeZone(scene.zone)
        return scene
    }
}

/// What a row has: the server of its suite, and names that no other row uses.
struct ConformanceScene: Sendable {
    let server: TestServer
    let number: Int

    var transport: TestServer.Transport { server.transport }
    /// A custom zone of alice, which is there and empty.
    var zone: String { "Z\(number)" }
    var zoneID: JSONValue { TestServer.zone(zone) }
    /// A record type that no other row uses.
    var type: String { "T\(number)" }

    /// A name of a record, zone or subscription.
    func name(_ part: String) -> String { "\(part)-\(number)" }
    func json(_ part: String) -> JSONValue { JSONValue(name(part)) }

    /// A server of its own, for rows that change limits or the clock.
    func own(_ configure: (inout ServerConfiguration) -> Void = { _ in }) async throws -> TestServer
    {
        try await TestServer(transport) {
            $0.push.holdTime = .milliseconds(50)
            configure(&$0)
        }
    }

    static func user(_ person: TestServer.Person) -> JSONValue {
        .string(Text(utf8: person.user?.bytes ?? []))
    }

    // MARK: Calls

    func call(
        _ endpoint: Endpoint, _ scope: DatabaseScope = .private,
        as person: TestServer.Person = .alice, _ body: JSONValue = [:]
    ) async throws -> TestServer.Answer {
        try await server.call(endpoint, scope, as: person, body)
    }

    /// records/modify in the zone of the row.
    @discardableResult
    func modify(atomic: Bool? = nil, _ operations: JSONValue...) async throws -> TestServer.Answer {
        var body: JSONValue = ["zoneID": zoneID, "operations": .array(operations)]
        if let atomic { body = body.with("atomic", .bool(atomic)) }
        return try await call(.recordsModify, .private, body)
    }

    /// A record as records/lookup has it.
    func record(_ name: String, _ extra: JSONValue = [:]) async throws -> JSONValue {
        let body: JSONValue = [
            "zoneID": zoneID, "records": [["recordName": JSONValue(name)]],
        ]
        let answer = try await call(.recordsLookup, .private, body.with(extra))
        return answer.json.at("records.0")
    }

    /// records/query in the zone of the row for the type of the row.
    func query(
        _ filter: JSONValue? = nil, sort: JSONValue? = nil, _ extra: JSONValue = [:]
    ) async throws -> TestServer.Answer {
        var query: JSONValue = ["recordType": JSONValue(type)]
        if let filter { query = query.with("filterBy", [filter]) }
        if let sort { query = query.with("sortBy", [sort]) }
        let body: JSONValue = ["zoneID": zoneID, "query": query]
        return try await call(.recordsQuery, .private, body.with(extra))
    }

    /// A path of `/database/1/...` with the credentials of alice and more of a query.
    func path(_ endpoint: Endpoint, _ scope: DatabaseScope = .private, _ query: String = "")
        async throws -> String
    {
        try await server.target(endpoint, scope) + query
    }
}

extension JSONValue {
    static func fraction(_ value: Double) -> JSONValue {
        JSONNumber(value).map { .number($0) } ?? .null
    }

    func with(_ key: String, _ value: JSONValue) -> JSONValue {
        .object((object ?? []) + [JSONMember(key: Text(key), value: value)])
    }

    func with(_ extra: JSONValue) -> JSONValue {
        .object((object ?? []) + (extra.object ?? []))
    }

    /// The keys of an object, in alphabetic order.
    var keys: [String] { (object ?? []).map(\.key.string).sorted() }
    var count: Int? { array?.count }
    var words: String { string?.string ?? "" }
}

extension TestServer.Answer {
    func at(_ path: String) -> JSONValue { json.at(path) }

    var names: [String] { records.compactMap { $0["recordName"]?.string?.string } }
}
