import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Limits and quota of records", .everyTransport) struct LimitTests {
    @Test("saves make only so many record types")
    func types() async throws {
        // With the two that are always there.
        let server = try await TestServer { $0.service.typesPerContainer = 3 }
        #expect(try await server.modify(nil, create("a", type: "One")).results == ["saved"])
        #expect(
            try await server.modify(nil, create("b", type: "Two")).results == ["LIMIT_EXCEEDED"])
        #expect(try await server.modify(nil, create("c", type: "One")).results == ["saved"])
    }

    @Test("200 operations are one request, 201 are refused with the limit's name")
    func operations() async throws {
        let server = try await TestServer()
        try await server.makeZone("Z")
        func batch(_ count: Int) -> JSONValue {
            [
                "zoneID": TestServer.zone("Z"),
                "operations": .array((0..<count).map { create("n-\(count)-\($0)") }),
            ]
        }
        let full = try await server.call(.recordsModify, .private, batch(200))
        #expect(full.results.count == 200)
        #expect(Set(full.results) == ["saved"])
        let beyond = try await server.call(.recordsModify, .private, batch(201))
        #expect(beyond.status == 413)
        #expect(beyond.code == "LIMIT_EXCEEDED")
        #expect(beyond.text.contains("200"))
        #expect(try await server.lookup("Z", "n-201-0").results == ["NOT_FOUND"])
    }

    @Test("201 names of a lookup are refused")
    func lookups() async throws {
        let server = try await TestServer()
        let names = (0..<201).map {
            JSONValue.object([
                JSONMember(key: "recordName", value: JSONValue("n-\($0)"))
            ])
        }
        let answer = try await server.call(.recordsLookup, .private, ["records": .array(names)])
        #expect(answer.code == "LIMIT_EXCEEDED")
    }

    @Test("a record over the limit of bytes is refused alone, and named")
    func recordSize() async throws {
        let server = try await TestServer { $0.service.recordBytes = 1_000 }
        try await server.makeZone("Z")
        let long = String(repeating: "x", count: 600)
        let made = try await server.modify(
            "Z", atomic: false, create("a", ["t": text(long)]),
            create("b", ["t": text(long + long)]))
        #expect(made.results == ["saved", "LIMIT_EXCEEDED"])
        #expect(made.reasons.first?.contains("1000 bytes") == true)
        let grown = try await server.modify("Z", force("a", ["u": text(long)]))
        #expect(grown.results == ["LIMIT_EXCEEDED"])
        let replaced = try await server.modify(
            "Z", operation("forceReplace", "a", ["u": text(long)]))
        #expect(replaced.results == ["saved"])
    }

    @Test("a type has no more fields than the limit")
    func fieldsOfType() async throws {
        let server = try await TestServer { $0.service.fieldsPerType = 3 }
        try await server.makeZone("Z")
        let fields: JSONValue = ["a": number(1), "b": number(1), "c": number(1)]
        #expect(try await server.modify("Z", create("x", fields)).results == ["saved"])
        let answer = try await server.modify("Z", create("y", ["d": number(1)]))
        #expect(answer.results == ["LIMIT_EXCEEDED"])
        #expect(answer.reasons.first?.contains("3") == true)
    }

    @Test("a private database has no more zones than the limit")
    func zones() async throws {
        let server = try await TestServer { $0.service.zonesPerDatabase = 2 }
        try await server.makeZone("A")
        try await server.makeZone("B")
        let answer = try await server.makeZone("C")
        #expect(answer.json["zones"]?.array?.first?["serverErrorCode"] == "LIMIT_EXCEEDED")
        #expect(try await server.makeZone("A").json["zones"]?.array?.first?["atomic"] == true)
    }

    @Test("what does not fit the quota is refused with the usage; deleting makes room")
    func quota() async throws {
        let server = try await TestServer { $0.service.quotaBytes = 3_000 }
        try await server.makeZone("Z")
        let long = String(repeating: "x", count: 1_000)
        let made = try await server.modify(
            "Z", atomic: false, create("a", ["t": text(long)]), create("b", ["t": text(long)]),
            create("c", ["t": text(long)]))
        #expect(made.results == ["saved", "saved", "QUOTA_EXCEEDED"])
        #expect(made.reasons.first?.contains("of 3000 bytes") == true)
        #expect(
            try await server.modify("Z", create("c", ["t": text(long)])).results
                == ["QUOTA_EXCEEDED"])
        let swapped = try await server.modify(
            "Z", create("c", ["t": text(long)]), delete("a"))
        #expect(swapped.results == ["saved", "deleted"])
        #expect(
            try await server.modify("Z", force("b", ["t": text("short")])).results == ["saved"])
    }

    @Test("a user's own quota counts before the server's, over all zones and containers")
    func ownQuota() async throws {
        let server = try await TestServer { $0.service.quotaBytes = 10 }
        try await server.changeUser(.alice) { $0.quotaBytes = 1_500 }
        try await server.makeZone("Y")
        try await server.makeZone("Z")
        let long = String(repeating: "x", count: 1_000)
        #expect(
            try await server.modify("Y", create("a", ["t": text(long)])).results == ["saved"])
        #expect(
            try await server.modify("Z", create("a", ["t": text(long)])).results
                == ["QUOTA_EXCEEDED"])
    }
}
