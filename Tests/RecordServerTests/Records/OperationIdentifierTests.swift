import RecordModel
import RecordSQL
import RecordServerCore
import RecordServerSQLite
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Operation identifiers", .everyTransport) struct OperationIdentifierTests {
    private func server() async throws -> TestServer {
        let server = try await TestServer()
        try await server.makeZone("Z")
        return server
    }

    @Test("the retry of a request whose records are as it left them gets the same bytes")
    func sameBytes() async throws {
        let server = try await server()
        try await server.modify("Z", create("b"), create("gone"))
        func request() async throws -> TestServer.Answer {
            try await server.modify(
                "Z", atomic: false, operationID: "op", create("a", ["n": number(1)]),
                create(nil, ["n": number(2)]), update("b", tag: "x"), delete("gone"),
                operation("create", "c", type: "No type", [:]))
        }
        let first = try await request()
        #expect(first.results.prefix(4) == ["saved", "saved", "CONFLICT", "deleted"])
        #expect(first.records[2]["serverRecord"] != nil)
        let second = try await request()
        #expect(
            second.text
                == first.text.replacing(
                    first.json.at("records.2.uuid").words,
                    with: second.json.at("records.2.uuid").words))
    }

    @Test("a retry has the outcome of the first request and no second effect")
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
        #expect(second.results == first.results)
        #expect(second.reasons == first.reasons)
        // Somebody has changed it since: the tag it had then, and nothing of what it is now.
        #expect(second.tag() == first.tag())
        #expect(second.records.first?["fields"] == nil)
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

    @Test("another request with an operationID that was used is refused and changes nothing")
    func otherRequest() async throws {
        let server = try await server()
        let first = try await server.modify("Z", operationID: "op", create("a", ["n": number(1)]))
        #expect(first.results == ["saved"])
        let others: [JSONValue] = [
            create("b"), create("a", ["n": number(2)]), update("a", ["n": number(2)], tag: "1"),
        ]
        for other in others {
            let answer = try await server.modify("Z", operationID: "op", other)
            #expect(answer.status == 400)
            #expect(answer.code == "BAD_REQUEST", "\(answer.text)")
            #expect(answer.json["reason"]?.string?.string.contains("operationID") == true)
            #expect(answer.json["records"] == nil)
        }
        #expect(try await server.changes("Z").names == ["a"])
        #expect(try await server.lookup("Z", "a").tag() == first.tag())
    }

    @Test("a retry shows nothing that the caller may no longer see")
    func lostShare() async throws {
        let server = try await server()
        try await server.modify(
            "Z", create("r1", ["s": text("one")]), create("r2", ["s": text("two")]))
        try await server.share("Z", "r1", with: [.bob: "READ_WRITE"])
        let share = try await server.share("Z", "r2", with: [.bob: "READ_WRITE"])
        func request() async throws -> TestServer.Answer {
            try await server.modify(
                "Z", of: .alice, as: .bob, atomic: false, operationID: "op",
                force("r1", ["n": number(1)]), force("r2", ["n": number(1)]),
                update("r2-copy", tag: "1"))
        }
        let first = try await request()
        #expect(first.results == ["saved", "saved", "NOT_FOUND"], "\(first.text)")
        #expect(first.text.contains("two"))
        let removed = try await server.modify("Z", delete("share-r2"))
        #expect(removed.results == ["deleted"], "\(share.text) \(removed.text)")
        let second = try await request()
        #expect(second.results == ["saved", "deleted", "NOT_FOUND"], "\(second.text)")
        #expect(!second.text.contains("two"))
        #expect(second.text.contains("one"))
        try await server.modify("Z", delete("share-r1"))
        #expect(try await request().code == "ZONE_NOT_FOUND")
    }

    @Test("what conflicted is shown in a retry as it is by then, or not at all")
    func conflicts() async throws {
        let server = try await server()
        try await server.modify("Z", create("old", ["n": number(1)]))
        func request() async throws -> TestServer.Answer {
            try await server.modify(
                "Z", atomic: false, operationID: "op", force("a"), update("old", tag: "x"))
        }
        _ = try await request()
        try await server.modify("Z", force("old", ["n": number(2)]))
        let later = try await request()
        #expect(later.results == ["saved", "CONFLICT"])
        #expect(later.records[1].at("serverRecord.fields") == ["n": number(2)])
        try await server.modify("Z", delete("old"))
        let last = try await request()
        #expect(last.results == ["saved", "CONFLICT"])
        #expect(last.records[1]["serverRecord"] == nil)
    }

    @Test("what is kept of requests is bounded, whatever they bring")
    func bounded() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/records.sqlite"
        let server = try await TestServer(storage: SQLiteStorage.open(path: path))
        try await server.makeZone("Z")
        let large = text(String(repeating: "x", count: 10_000))
        for number in 0..<3 {
            let operations = (0..<100).map { force("r-\(number)-\($0)", ["s": large]) }
            let wrong = (0..<100).map {
                update(String(repeating: "n", count: 200) + "-\($0)", tag: "1")
            }
            let answer = try await server.call(
                .recordsModify, .private,
                [
                    "zoneID": TestServer.zone("Z"), "atomic": false,
                    "operationID": JSONValue("op-\(number)"),
                    "operations": .array(operations + wrong),
                ])
            #expect(answer.results.count == 200, "\(answer.text.prefix(200))")
        }
        for number in 0..<210 {
            try await server.modify("Z", operationID: "small-\(number)", force("a"))
        }
        let queue = try SQLQueue(path: path)
        let sums = try queue.read { connection throws(RecordError) in
            try connection.first(
                "SELECT COUNT(*), SUM(LENGTH(result)), MAX(LENGTH(result)) FROM operations"
            ) { [$0.int64(0), $0.int64(1), $0.int64(2)] }
        }
        queue.close()
        let (count, bytes, largest) = (sums?[0], sums?[1], sums?[2])
        #expect(count == 200)
        #expect(bytes ?? .max < 200 * 20_000)
        #expect(largest ?? .max < 20_000)
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
