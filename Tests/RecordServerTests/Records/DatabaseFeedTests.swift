import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("changes/database and zones/changes", .everyTransport) struct DatabaseFeedTests {
    private struct Page {
        let json: JSONValue
        var token: JSONValue? { json["syncToken"] }
        /// A minus before zones that are gone.
        var names: [String] {
            (json["zones"]?.array ?? []).map { zone in
                let name = zone["zoneID"]?["zoneName"]?.string?.string ?? "?"
                return zone["deleted"] == true ? "-" + name : name
            }
        }
    }

    private func page(
        _ server: TestServer, since: JSONValue? = nil, limit: Int64? = nil,
        scope: DatabaseScope = .private, as person: TestServer.Person = .alice,
        _ extra: JSONValue = [:]
    ) async throws -> Page {
        var body = extra.object ?? []
        if let since { body.append(JSONMember(key: "syncToken", value: since)) }
        if let limit { body.append(JSONMember(key: "resultsLimit", value: JSONValue(limit))) }
        return Page(
            json: try await server.call(.changesDatabase, scope, as: person, .object(body)).json)
    }

    @Test("the token of a database of many zones is as short as that of one")
    func manyZones() async throws {
        let server = try await TestServer()
        try await server.makeZone("A")
        let few = try #require(try await page(server).token?.string)
        for group in 0..<3 {
            let operations = (0..<100).map { number -> JSONValue in
                [
                    "operationType": "create",
                    "zone": ["zoneID": ["zoneName": .string(Text("Z\(group)-\(number)"))]],
                ]
            }
            _ = try await server.call(.zonesModify, .private, ["operations": .array(operations)])
        }
        let second = try await page(server, since: .string(few))
        let third = try await page(server, since: second.token)
        #expect(second.names.count + third.names.count == 300)
        let many = try #require(third.token?.string)
        #expect(many.utf8.count <= few.utf8.count + 8)
        #expect(try await page(server, since: .string(many)).names.isEmpty)
    }

    @Test("zones that go while they are being fetched are told as gone")
    func goneBetweenPages() async throws {
        let server = try await TestServer { $0.service.tombstoneSeconds = 1_000 }
        try await server.makeZone("Y")
        try await server.deleteZone("Y")
        for zone in ["A", "B", "C", "D"] { try await server.makeZone(zone) }
        let first = try await page(server, limit: 2)
        #expect(first.names == ["A", "B"])
        for zone in ["B", "D"] { try await server.deleteZone(zone) }
        // What was gone before the fetch began is of no concern to it, however long ago.
        server.clock.advance(.seconds(500))
        await Maintenance(server.application).round()
        let second = try await page(server, since: first.token)
        #expect(second.names == ["C", "-B", "-D"])
        #expect(second.json["moreComing"] == false)
        #expect(try await page(server, since: second.token).names.isEmpty)
    }

    @Test("a zone that was made again and is gone for good is told as gone to who knew the first")
    func goneTwice() async throws {
        let server = try await TestServer()
        try await server.makeZone("A")
        let start = try await page(server)
        for _ in 0..<2 {
            try await server.deleteZone("A")
            try await server.makeZone("A")
        }
        let between = try await page(server, since: start.token)
        try await server.deleteZone("A")
        #expect(try await page(server, since: start.token).names == ["-A"])
        #expect(try await page(server, since: between.token).names == ["-A"])
    }

    @Test("a token that tells of a zone deleted too long ago has expired")
    func forgottenZone() async throws {
        let server = try await TestServer { $0.service.tombstoneSeconds = 1_000 }
        try await server.makeZone("Z")
        try await server.makeZone("Y")
        func feed(_ token: JSONValue?) async throws -> JSONValue {
            try await server.call(
                .changesDatabase, .private, token.map { ["syncToken": $0] } ?? [:]
            )
            .json
        }
        let start = try #require(try await feed(nil)["syncToken"])
        try await server.deleteZone("Z")
        await Maintenance(server.application).round()
        let told = try await feed(start)
        #expect(told["zones"]?.array?.first?["deleted"] == true)
        server.clock.advance(.seconds(1_001))
        await Maintenance(server.application).round()
        #expect(try await feed(start).code == "CHANGE_TOKEN_EXPIRED")
        // Who knows of it already goes on.
        #expect(try await feed(told["syncToken"]).code == nil)
    }

    @Test("zones that were made, changed or deleted since a token, and no others")
    func changes() async throws {
        let server = try await TestServer()
        for zone in ["A", "B", "C"] { try await server.makeZone(zone) }
        let start = try await page(server)
        #expect(start.names == ["A", "B", "C"])
        #expect(start.json["moreComing"] == false)
        #expect(try await page(server, since: start.token).names.isEmpty)
        try await server.modify("B", create("a"))
        try await server.makeZone("D")
        try await server.deleteZone("A")
        let next = try await page(server, since: start.token)
        #expect(next.names == ["B", "D", "-A"])
        #expect(try await page(server, since: next.token).names.isEmpty)
    }

    @Test("a zone that was deleted and made again is told as changed")
    func madeAgain() async throws {
        let server = try await TestServer()
        try await server.makeZone("A")
        let start = try await page(server)
        try await server.deleteZone("A")
        try await server.makeZone("A")
        #expect(try await page(server, since: start.token).names == ["A"])
    }

    /// Whoever has made it has asked before, and has to hear that somebody else has removed it.
    @Test("a zone that came and went between two fetches is told as gone")
    func cameAndWent() async throws {
        let server = try await TestServer()
        let start = try await page(server)
        try await server.makeZone("A")
        try await server.deleteZone("A")
        #expect(try await page(server, since: start.token).names == ["-A"])
        #expect(try await page(server).names.isEmpty)
    }

    @Test("pages join without gap, and changes in between are told")
    func pages() async throws {
        let server = try await TestServer()
        for zone in ["A", "B", "C", "D", "E"] { try await server.makeZone(zone) }
        let first = try await page(server, limit: 2)
        #expect(first.names == ["A", "B"])
        #expect(first.json["moreComing"] == true)
        try await server.modify("A", create("a"))
        let second = try await page(server, since: first.token, limit: 3)
        let third = try await page(server, since: second.token, limit: 3)
        #expect(second.names == ["C", "D", "E"])
        #expect(third.names == ["A"])
        #expect(third.json["moreComing"] == false)
        for zone in ["A", "B", "C"] { try await server.deleteZone(zone) }
        let fourth = try await page(server, since: third.token, limit: 2)
        #expect(fourth.json["moreComing"] == true)
        let fifth = try await page(server, since: fourth.token, limit: 2)
        #expect(Set(fourth.names + fifth.names) == ["-A", "-B", "-C"])
    }

    @Test("the reason of a deletion is there for who asks")
    func deletionReason() async throws {
        let server = try await TestServer()
        try await server.makeZone("A")
        let start = try await page(server)
        try await server.deleteZone("A")
        let plain = try await page(server, since: start.token)
        #expect(plain.json["zones"]?.array?.first?["deletionReason"] == nil)
        let asked = try await page(server, since: start.token, ["wantsDeletionReason": true])
        #expect(asked.json["zones"]?.array?.first?["deletionReason"] == "deleted")
    }

    @Test("a token of another user, scope or kind is expired")
    func foreignTokens() async throws {
        let server = try await TestServer()
        try await server.makeZone("A")
        let token = try await page(server).token
        let zone = try #require(try await server.changes("A").token)
        let pages = [
            try await page(server, since: token, as: .bob),
            try await page(server, since: token, scope: .shared),
            try await page(server, since: .string(zone)),
            try await page(server, since: "nonsense"),
        ]
        #expect(
            pages.map { $0.json["serverErrorCode"] }
                == pages.map { _ in "CHANGE_TOKEN_EXPIRED" })
    }

    @Test("zones/changes speaks of metaSyncToken, takes both names and answers with both")
    func legacy() async throws {
        let server = try await TestServer()
        try await server.makeZone("A")
        let first = try await server.call(.zonesChanges)
        let token = try #require(first.json["metaSyncToken"])
        #expect(first.json["syncToken"] == token)
        #expect(first.json["zones"]?.array?.count == 1)
        for key in ["metaSyncToken", "syncToken"] {
            let next = try await server.call(
                .zonesChanges, .private, .object([JSONMember(key: Text(key), value: token)]))
            #expect(next.json["zones"]?.array?.isEmpty == true)
        }
    }
}
