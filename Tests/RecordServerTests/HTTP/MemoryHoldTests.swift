import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// What operations hold while they read and print: each is asked with little memory, and again with
/// enough.
@Suite("Memory of operations") struct MemoryHoldTests {
    private static let count = 10

    /// Ten records of 100 kB, and one with a list of many small numbers, whose values take far more
    /// than their text.
    private func server() async throws -> TestServer {
        let server = try await TestServer(.router)
        try await server.makeZone("Z")
        let long = String(repeating: "x", count: 100_000)
        for index in 0..<Self.count {
            let made = try await server.modify(
                "Z", create("r\(index)", type: "Long", ["t": text(long), "n": number(1)]))
            #expect(made.results == ["saved"])
        }
        let numbers = [JSONValue](repeating: 1, count: 20_000)
        let list: JSONValue = ["value": .array(numbers), "type": "INT64_LIST"]
        let made = try await server.modify("Z", create("list", ["l": list, "n": number(1)]))
        #expect(made.results == ["saved"])
        return server
    }

    /// The answer, or the code of what is refused, when the request may hold so many bytes.
    private func answer(
        _ server: TestServer, _ endpoint: Endpoint, _ body: [JSONMember], holding bytes: Int
    ) async throws -> String {
        let alice = try #require(TestServer.Person.alice.user)
        let user = try await server.storage.read { (reader) throws(ServerError) in
            try reader.user(alice)
        }
        var context = OperationContext(
            endpoint: endpoint,
            container: ContainerKey(container: TestServer.container, environment: .development),
            scope: .private, caller: .user(try #require(user)), requestID: "r",
            now: server.clock.now, baseURL: "http://localhost")
        context.memory = MemoryHold(MemoryBudget(bytes: bytes))
        let zone = JSONMember(key: "zoneID", value: TestServer.zone("Z"))
        do {
            return String(
                decoding: try await server.service.answer(.object(body + [zone]), context),
                as: UTF8.self)
        } catch {
            return error.code.rawValue
        }
    }

    private func expectHeld(
        _ endpoint: Endpoint, _ body: JSONValue, few: Int, enough: Int
    ) async throws {
        let server = try await server()
        let body = body.object ?? []
        let refused = try await answer(server, endpoint, body, holding: few)
        #expect(refused.contains("LIMIT_EXCEEDED"), "\(endpoint) with \(few)")
        let given = try await answer(server, endpoint, body, holding: enough)
        #expect(!given.contains("LIMIT_EXCEEDED"), "\(endpoint) with \(enough)")
        #expect(given.contains("recordName"))
    }

    private static let names = JSONValue.array(
        (0..<count).map { ["recordName": JSONValue("r\($0)")] })
    private static let list: JSONValue = [["recordName": "list"]]

    @Test("what is printed is held while it is being printed")
    func printing() async throws {
        try await expectHeld(
            .recordsLookup, ["records": Self.names], few: 500_000, enough: 2_000_000)
        try await expectHeld(
            .recordsQuery, ["query": ["recordType": "Long"]], few: 500_000, enough: 2_000_000)
        try await expectHeld(
            .recordsChanges, [:], few: 500_000, enough: 2_000_000)
    }

    @Test("values that a query looks at are held")
    func filters() async throws {
        let filter: JSONValue = [
            "fieldName": "n", "comparator": "NOT_EQUALS", "fieldValue": number(2),
        ]
        try await expectHeld(
            .recordsQuery, ["query": ["recordType": "Note", "filterBy": [filter]]], few: 300_000,
            enough: 2_000_000)
    }

    @Test("values of records that are not printed as they are stored are held")
    func projections() async throws {
        try await expectHeld(
            .recordsLookup, ["records": Self.list, "desiredKeys": ["n"]], few: 300_000,
            enough: 2_000_000)
    }

    @Test("stored records that a batch changes are held, with what becomes of them")
    func changes() async throws {
        let changes = JSONValue.array(
            (0..<Self.count).map {
                operation("forceUpdate", "r\($0)", type: "Long", ["n": number(2)])
            })
        // As they are stored they would fit.
        try await expectHeld(
            .recordsModify, ["operations": changes, "atomic": false], few: 1_500_000,
            enough: 5_000_000)
        try await expectHeld(
            .recordsModify, ["operations": [force("list", ["n": number(2)])]], few: 300_000,
            enough: 2_000_000)
        let creates = JSONValue.array(
            (0..<Self.count).map { create("r\($0)", type: "Long", [:]) })
        try await expectHeld(
            .recordsModify, ["operations": creates, "atomic": false], few: 1_500_000,
            enough: 5_000_000)
    }
}
