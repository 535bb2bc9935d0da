import RecordModel
import RecordServer
import RecordWire
import Testing

@Suite("Batches and operation identifiers", .everyTransport) struct AtomicTests {
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
        #expect(answer.results == ["ATOMIC_ERROR", "EXISTS", "ATOMIC_ERROR"])
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
        #expect(answer.results == ["saved", "EXISTS"])
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
        #expect(answer.results == ["ATOMIC_ERROR", "EXISTS"])
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

    @Test("a retry with the same operationID gets the same bytes and has no second effect")
    func operationIdentifier() async throws {
        let server = try await server()
        let first = try await server.modify(
            "Z", atomic: false, operationID: "op-1", create("a", ["n": number(1)]),
            update("b", tag: "1"))
        #expect(first.results == ["saved", "NOT_FOUND"])
        try await server.modify("Z", force("a", ["n": number(2)]))
        server.clock.advance(.seconds(60))
        let second = try await server.modify(
            "Z", atomic: false, operationID: "op-1", create("a", ["n": number(1)]),
            update("b", tag: "1"))
        #expect(second.body == first.body)
        #expect(
            try await server.lookup("Z", "a").records.first?["fields"] == ["n": number(2)])
    }

    @Test("a request that changed nothing is not remembered: its retry may succeed")
    func forgetsFailures() async throws {
        let server = try await server()
        let first = try await server.modify("Z", operationID: "op-1", update("a", tag: "1"))
        #expect(first.results == ["NOT_FOUND"])
        try await server.modify("Z", create("a"))
        let second = try await server.modify("Z", operationID: "op-1", update("a", tag: "1"))
        #expect(second.results == ["saved"])
    }

    @Test("an operationID of another user, zone or incarnation of a zone is another")
    func operationIdentifiersApart() async throws {
        let server = try await server()
        try await server.makeZone("Y")
        try await server.makeZone("Z", as: .bob)
        #expect(
            try await server.modify("Z", operationID: "op", create("a")).results == ["saved"])
        #expect(
            try await server.modify("Y", operationID: "op", create("b")).results == ["saved"])
        #expect(
            try await server.modify("Z", as: .bob, operationID: "op", create("c")).results
                == ["saved"])
        #expect(try await server.lookup("Y", "b").results == ["saved"])
        #expect(try await server.lookup("Z", as: .bob, "c").results == ["saved"])
        try await server.deleteZone("Z")
        try await server.makeZone("Z")
        #expect(
            try await server.modify("Z", operationID: "op", create("a")).results == ["saved"])
        #expect(try await server.lookup("Z", "a").results == ["saved"])
    }

    @Test("of ten concurrent requests with one operationID exactly one has an effect")
    func concurrentRetries() async throws {
        let server = try await server()
        let answers = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<10 {
                group.addTask {
                    try await server.modify("Z", operationID: "op", create(nil)).body
                }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(answers.count == 1)
        #expect(try await server.changes("Z").names.count == 1)
    }
}
