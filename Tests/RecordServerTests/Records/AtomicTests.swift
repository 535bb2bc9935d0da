import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Batches", .everyTransport) struct AtomicTests {
    private func server() async throws -> TestServer {
        let server = try await TestServer()
        try await server.makeZone("Z")
        return server
    }

    @Test("a custom zone is atomic unless the request says otherwise: innocents get ATOMIC_ERROR")
    func atomic() async throws {
        let server = try await server()
        try await server.modify("Z", create("taken"))
        let before = try await server.changes("Z")
        let answer = try await server.modify("Z", create("a"), create("taken"), delete("taken2"))
        #expect(answer.status == 200)
        #expect(answer.results == ["ATOMIC_ERROR", "CONFLICT", "ATOMIC_ERROR"])
        #expect(try await server.lookup("Z", "a").results == ["NOT_FOUND"])
        let after = try await server.changes("Z", since: before.token)
        #expect(after.names.isEmpty)
        #expect(after.token == before.token)
    }

    @Test("without atomic the others are saved")
    func notAtomic() async throws {
        let server = try await server()
        try await server.modify("Z", create("taken"))
        let answer = try await server.modify("Z", atomic: false, create("a"), create("taken"))
        #expect(answer.results == ["saved", "CONFLICT"])
        #expect(try await server.lookup("Z", "a").results == ["saved"])
    }

    @Test("the default zone and the public database are never atomic")
    func neverAtomic() async throws {
        let server = try await server()
        for scope in [DatabaseScope.private, .public] {
            let answer = try await server.modify(
                nil, scope: scope, atomic: true, create("a"), update("b", tag: "1"))
            #expect(answer.results == ["saved", "NOT_FOUND"])
        }
    }

    @Test("a failed atomic batch leaves no type or field in the schema")
    func schemaRollsBack() async throws {
        let server = try await server()
        try await server.modify("Z", create("taken"))
        let answer = try await server.modify(
            "Z", create("a", type: "Fresh", ["x": number(1)]), create("taken"))
        #expect(answer.results == ["ATOMIC_ERROR", "CONFLICT"])
        let again = try await server.modify("Z", create("a", type: "Fresh", ["x": text("s")]))
        #expect(again.results == ["saved"])
    }

    @Test("a failed operation leaves no field in the schema, while the others do")
    func schemaOfSurvivors() async throws {
        let server = try await server()
        let answer = try await server.modify(
            "Z", atomic: false, create("a", type: "Fresh", ["x": number(1)], parent: "nobody"),
            create("b", type: "Fresh", ["y": number(1)]))
        #expect(answer.results == ["VALIDATING_REFERENCE_ERROR", "saved"])
        let again = try await server.modify(
            "Z", atomic: false, create("c", type: "Fresh", ["x": text("s")]),
            create("d", type: "Fresh", ["y": text("s")]))
        #expect(again.results == ["saved", "BAD_REQUEST"])
    }
}
