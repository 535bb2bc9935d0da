import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Parents and references", .everyTransport) struct ReferenceTests {
    private func server() async throws -> TestServer {
        let server = try await TestServer()
        try await server.makeZone("Z")
        return server
    }

    private let gone = "VALIDATING_REFERENCE_ERROR"

    @Test("a child may come before its parent in one batch")
    func childFirst() async throws {
        let server = try await server()
        let answer = try await server.modify(
            "Z", create("c", parent: "b"), create("b", parent: "a"), create("a"))
        #expect(answer.results == ["saved", "saved", "saved"])
        #expect(answer.records.first?["parent"] == ["recordName": "b"])
    }

    @Test("a parent that is neither stored nor in the batch is refused")
    func noParent() async throws {
        let server = try await server()
        let answer = try await server.modify(
            "Z", atomic: false, create("c", parent: "b"), create("d", parent: "c"), create("e"))
        #expect(answer.results == [gone, gone, "saved"])
    }

    @Test("a child of a parent that fails in the batch fails too, in whatever order they come")
    func failedParent() async throws {
        let server = try await server()
        try await server.modify("Z", create("x"))
        let answer = try await server.modify(
            "Z", atomic: false, create("c", parent: "b"), create("b", parent: "nobody"),
            update("x", tag: "stale", parent: "c"))
        #expect(answer.results == [gone, gone, "CONFLICT"])
    }

    @Test("no record is its own ancestor")
    func cycles() async throws {
        let server = try await server()
        #expect(try await server.modify("Z", create("a", parent: "a")).results == [gone])
        try await server.modify(
            "Z", create("a"), create("b", parent: "a"), create("c", parent: "b"))
        #expect(try await server.modify("Z", force("a", parent: "c")).results == [gone])
        let both = try await server.modify(
            "Z", create("x", parent: "y"), create("y", parent: "x"))
        #expect(both.results.contains(gone))
        #expect(try await server.lookup("Z", "x", "y").results == ["NOT_FOUND", "NOT_FOUND"])
    }

    @Test("a parent can be taken away and changed; without the key it stays")
    func changesParent() async throws {
        let server = try await server()
        try await server.modify("Z", create("a"), create("b"), create("c", parent: "a"))
        let kept = try await server.modify("Z", force("c"))
        #expect(kept.records.first?["parent"] == ["recordName": "a"])
        let moved = try await server.modify("Z", force("c", parent: "b"))
        #expect(moved.records.first?["parent"] == ["recordName": "b"])
        let cleared = try await server.modify(
            "Z", operation("forceUpdate", "c", nil, ["parent": .null]))
        #expect(cleared.records.first?["parent"] == nil)
    }

    @Test("a record with children outside of the batch cannot be deleted")
    func keepsParents() async throws {
        let server = try await server()
        try await server.modify("Z", create("a"), create("b", parent: "a"))
        #expect(try await server.modify("Z", delete("a")).results == [gone])
        #expect(try await server.lookup("Z", "a").results == ["saved"])
    }

    @Test("a parent goes when the batch deletes or moves its children, in whatever order")
    func deletesTogether() async throws {
        let server = try await server()
        try await server.modify(
            "Z", create("a"), create("b", parent: "a"), create("c", parent: "a"), create("x"))
        let answer = try await server.modify(
            "Z", delete("a"), delete("b"), force("c", parent: "x"))
        #expect(answer.results == ["deleted", "deleted", "saved"])
    }

    @Test("a child that comes with the deletion of its parent fails, and the parent goes")
    func childOfDeleted() async throws {
        let server = try await server()
        try await server.modify("Z", create("a"))
        let answer = try await server.modify(
            "Z", atomic: false, delete("a"), create("b", parent: "a"))
        #expect(answer.results == ["deleted", gone])
    }

    @Test("when a move of a child fails, its parent stays as well")
    func failedMove() async throws {
        let server = try await server()
        try await server.modify("Z", create("a"), create("b", parent: "a"))
        let answer = try await server.modify(
            "Z", atomic: false, delete("a"), force("b", parent: "nobody"))
        #expect(answer.results == [gone, gone])
    }

    @Test("saving a child leaves the tag of its parent alone")
    func noTouch() async throws {
        let server = try await server()
        let made = try await server.modify("Z", create("a"))
        try await server.modify("Z", create("b", parent: "a"))
        #expect(try await server.lookup("Z", "a").tag() == made.tag())
    }

    @Test("DELETE_SELF sources go with their target, and theirs with them")
    func cascades() async throws {
        let server = try await server()
        let list: JSONValue = [
            "value": [["recordName": "b", "action": "DELETE_SELF"]], "type": "REFERENCE_LIST",
        ]
        try await server.modify(
            "Z", create("a"), create("b", ["r": reference("a", "DELETE_SELF")]),
            create("c", ["list": list]),
            create("d", ["r": reference("a", "NONE")]))
        let start = try await server.changes("Z")
        #expect(try await server.modify("Z", delete("a")).results == ["deleted"])
        let feed = try await server.changes("Z", since: start.token)
        #expect(Set(feed.names) == ["-a", "-b", "-c"])
        #expect(try await server.lookup("Z", "d").results == ["saved"])
    }

    @Test("a source that the batch frees of its reference stays; one that keeps it fails")
    func freedSources() async throws {
        let server = try await server()
        for name in ["b", "c"] {
            try await server.modify(
                "Z", force("a"), create(name, ["r": reference("a", "DELETE_SELF")]))
        }
        let freed = try await server.modify(
            "Z", atomic: false, delete("a"), force("b", ["r": ["value": .null]]),
            force("c", ["x": text("edited")]))
        #expect(freed.results == ["deleted", "saved", gone])
        #expect(try await server.lookup("Z", "b", "c").results == ["saved", "NOT_FOUND"])
    }

    @Test("a cascade stops at a record with children of its own")
    func cascadeMeetsChildren() async throws {
        let server = try await server()
        try await server.modify(
            "Z", create("a"), create("b", ["r": reference("a", "DELETE_SELF")]),
            create("c", parent: "b"))
        #expect(try await server.modify("Z", delete("a")).results == [gone])
        #expect(try await server.lookup("Z", "a", "b", "c").results == ["saved", "saved", "saved"])
    }

    @Test("a DELETE_SELF ring goes as a whole")
    func rings() async throws {
        let server = try await server()
        try await server.modify("Z", create("a"), create("b", ["r": reference("a", "DELETE_SELF")]))
        try await server.modify("Z", force("a", ["r": reference("b", "DELETE_SELF")]))
        #expect(try await server.modify("Z", delete("b")).results == ["deleted"])
        #expect(try await server.changes("Z").names.isEmpty)
    }

    @Test("VALIDATE needs its target at save time, and keeps it from being deleted")
    func validates() async throws {
        let server = try await server()
        #expect(
            try await server.modify("Z", create("b", ["r": reference("a", "VALIDATE")])).results
                == [gone])
        let together = try await server.modify(
            "Z", create("b", ["r": reference("a", "VALIDATE")]), create("a"))
        #expect(together.results == ["saved", "saved"])
        #expect(try await server.modify("Z", delete("a")).results == [gone])
        #expect(
            try await server.modify("Z", delete("a"), delete("b")).results
                == ["deleted", "deleted"])
    }

    @Test("references with consequences do not lead into other zones; NONE may")
    func acrossZones() async throws {
        let server = try await server()
        try await server.makeZone("Y")
        for action in ["DELETE_SELF", "VALIDATE"] {
            let answer = try await server.modify(
                "Z", create("b", ["r": reference("a", action, zone: ["zoneName": "Y"])]))
            #expect(answer.results == ["BAD_REQUEST"])
            #expect(answer.reasons.first?.contains("operations[0].record.fields.r") == true)
        }
        let answer = try await server.modify(
            "Z", create("b", ["r": reference("a", "NONE", zone: ["zoneName": "Y"])]),
            create("a"), create("c", ["r": reference("a", "VALIDATE", zone: ["zoneName": "Z"])]))
        #expect(answer.results == ["saved", "saved", "saved"])
    }

    @Test("at most so many records may go with one")
    func sourceLimit() async throws {
        let server = try await TestServer { $0.service.deleteSelfSources = 3 }
        try await server.makeZone("Z")
        try await server.modify("Z", create("a"))
        for name in ["b", "c"] {
            try await server.modify("Z", create(name, ["r": reference("a", "DELETE_SELF")]))
        }
        let answer = try await server.modify(
            "Z", atomic: false, create("d", ["r": reference("a", "DELETE_SELF")]),
            create("e", ["r": reference("a", "DELETE_SELF")]))
        #expect(answer.results == ["saved", "LIMIT_EXCEEDED"])
        #expect(answer.reasons.first?.contains("3") == true)
        let swapped = try await server.modify(
            "Z", delete("d"), create("e", ["r": reference("a", "DELETE_SELF")]))
        #expect(swapped.results == ["deleted", "saved"])
    }
}
