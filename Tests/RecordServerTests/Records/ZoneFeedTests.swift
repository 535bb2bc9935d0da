import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("changes/zone and records/changes", .everyTransport) struct ZoneFeedTests {
    private func server(_ count: Int = 0) async throws -> TestServer {
        let server = try await TestServer()
        try await server.makeZone("Z")
        for index in 0..<count { try await server.modify("Z", create("n-\(index)")) }
        return server
    }

    @Test("a fetch from nothing gives every record once, at its latest state")
    func everything() async throws {
        let server = try await server(3)
        try await server.modify("Z", force("n-0", ["t": text("new")]))
        try await server.modify("Z", delete("n-1"))
        let feed = try await server.changes("Z")
        #expect(feed.names == ["n-2", "n-0"])
        #expect(feed.records.last?["fields"] == ["t": text("new")])
        #expect(!feed.moreComing)
        #expect(feed.json["zoneID"]?["zoneName"] == "Z")
        #expect(feed.json["total"] == nil)
    }

    @Test("a fetch with a token gives what changed since, in the order of commits")
    func increments() async throws {
        let server = try await server(3)
        let start = try await server.changes("Z")
        #expect(try await server.changes("Z", since: start.token).names.isEmpty)
        try await server.modify("Z", delete("n-1"))
        try await server.modify("Z", create("x"), force("n-0"))
        let feed = try await server.changes("Z", since: start.token)
        #expect(feed.names == ["-n-1", "x", "n-0"])
        #expect(feed.records.first == ["recordName": "n-1", "deleted": true])
        #expect(try await server.changes("Z", since: feed.token).names.isEmpty)
    }

    @Test("pages of small and large records, forwards and in reverse, leave nothing out")
    func smallAndLargeRecords() async throws {
        let server = try await server()
        let long = String(repeating: "x", count: 600_000)
        var names: [String] = []
        for index in 0..<30 {
            names.append("n-\(index)")
            let field: JSONValue = index % 3 == 0 ? text(long) : text("short")
            try await server.modify("Z", create("n-\(index)", ["t": field]))
        }
        var feed = try await server.changes("Z")
        var found = feed.names
        #expect(feed.moreComing == (found.count < 30))
        while feed.moreComing {
            feed = try await server.changes("Z", since: feed.token)
            found += feed.names
        }
        #expect(found == names)
        let newest = try await server.changes("Z", ["reverse": true])
        #expect(!newest.names.isEmpty)
        #expect(newest.names == Array(names.reversed().prefix(newest.names.count)))
        #expect(newest.moreComing)
        var rest: [String] = []
        feed = newest
        while feed.moreComing {
            feed = try await server.changes("Z", since: feed.token)
            rest += feed.names
        }
        #expect(Set(rest + newest.names) == Set(names))
    }

    @Test("the same token gives the same page again")
    func repeats() async throws {
        let server = try await server(5)
        let first = try await server.changes("Z", limit: 2)
        let second = try await server.changes("Z", since: first.token, limit: 2)
        let again = try await server.changes("Z", since: first.token, limit: 2)
        #expect(second.json == again.json)
    }

    @Test("pages end with moreComing and join without gap or repetition", arguments: [1, 2, 3, 7])
    func pages(limit: Int64) async throws {
        let server = try await server(7)
        var feed = try await server.changes("Z", limit: limit)
        var names = feed.names
        while feed.moreComing {
            #expect(feed.names.count == Int(limit))
            feed = try await server.changes("Z", since: feed.token, limit: limit)
            names += feed.names
        }
        #expect(names == (0..<7).map { "n-\($0)" })
    }

    @Test("a record that changes between two pages comes later, a deleted one as gone")
    func changesBetweenPages() async throws {
        let server = try await server(4)
        let first = try await server.changes("Z", limit: 2)
        try await server.modify("Z", force("n-0"), delete("n-1"), force("n-2"))
        let rest = try await server.allChanges("Z", since: first.token, limit: 2)
        #expect(rest.names == ["n-3", "n-0", "-n-1", "n-2"])
    }

    @Test("who starts from nothing hears nothing of what was deleted before")
    func noOldTombstones() async throws {
        let server = try await server(3)
        try await server.modify("Z", delete("n-0"))
        try await server.modify("Z", delete("n-1"))
        #expect(try await server.allChanges("Z", limit: 1).names == ["n-2"])
    }

    @Test("reverse gives the newest first; the pages after it leave nothing out")
    func reverse() async throws {
        let server = try await server(5)
        let first = try await server.changes("Z", limit: 2, ["reverse": true])
        #expect(first.names == ["n-4", "n-3"])
        #expect(first.moreComing)
        #expect(first.json["reverse"] == true)
        let rest = try await server.changes("Z", since: first.token, ["reverse": true])
        #expect(rest.names == ["n-0", "n-1", "n-2", "n-3", "n-4"])
        #expect(!rest.moreComing)
        let whole = try await server.changes("Z", limit: 5, ["reverse": true])
        #expect(whole.names.count == 5)
        #expect(!whole.moreComing)
        #expect(try await server.changes("Z", since: whole.token).names.isEmpty)
    }

    @Test("desiredRecordTypes and desiredKeys limit what comes, tombstones come anyway")
    func projections() async throws {
        let server = try await server()
        let start = try await server.changes("Z")
        try await server.modify(
            "Z", create("a", type: "A", ["x": number(1), "y": number(2)]), create("b", type: "B"),
            create("c", type: "B"))
        try await server.modify("Z", delete("c"))
        let feed = try await server.changes(
            "Z", since: start.token,
            ["desiredRecordTypes": ["A"], "desiredKeys": ["y"], "numberAsStrings": true])
        #expect(feed.names == ["a", "-c"])
        #expect(feed.records.first?["fields"] == ["y": ["value": "2", "type": "INT64"]])
    }

    @Test("what a zone says of itself wins over the top of the request")
    func defaults() async throws {
        let server = try await server(3)
        let answer = try await server.call(
            .changesZone, .private,
            [
                "resultsLimit": 1,
                "zones": [
                    ["zoneID": TestServer.zone("Z")],
                    ["zoneID": TestServer.zone("Z"), "resultsLimit": 2],
                ],
            ])
        let zones = answer.json["zones"]?.array ?? []
        #expect(zones.map { $0["records"]?.array?.count } == [1, 2])
    }

    @Test("a zone that is not there fails alone")
    func unknownZone() async throws {
        let server = try await server(1)
        let answer = try await server.call(
            .changesZone, .private,
            [
                "zones": [
                    ["zoneID": TestServer.zone("Nowhere")], ["zoneID": TestServer.zone("Z")],
                    ["zoneID": TestServer.zone("Z", of: .bob)],
                ]
            ])
        #expect(answer.status == 200)
        let zones = answer.json["zones"]?.array ?? []
        #expect(
            zones.map { $0["serverErrorCode"] } == ["ZONE_NOT_FOUND", nil, "ZONE_NOT_FOUND"])
        #expect(zones.first?["zoneID"]?["zoneName"] == "Nowhere")
    }

    @Test("a token of another zone, user, server or kind is expired, per zone and at the top")
    func foreignTokens() async throws {
        let server = try await server(2)
        try await server.makeZone("Y")
        try await server.makeZone("Z", as: .bob)
        let token = try #require(try await server.changes("Z").token)
        let other = try await TestServer { _ in }
        try await other.makeZone("Z")
        let database = try await server.call(.changesDatabase).json["syncToken"]?.string
        var flipped = token.utf8
        flipped[3] = flipped[3] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        let feeds = [
            try await server.changes("Y", since: token),
            try await server.changes("Z", as: .bob, since: token),
            try await other.changes("Z", since: token),
            try await server.changes("Z", since: Text(utf8: flipped)),
            try await server.changes("Z", since: database),
            try await server.changes("Z", since: "nonsense"),
        ]
        #expect(feeds.map(\.code) == feeds.map { _ in "CHANGE_TOKEN_EXPIRED" })
        let legacy = try await server.call(
            .recordsChanges, .private,
            ["zoneID": TestServer.zone("Y"), "syncToken": .string(token)])
        #expect(legacy.status == 400)
        #expect(legacy.code == "CHANGE_TOKEN_EXPIRED")
    }

    @Test("a token from before the horizon is expired; pages of a fetch from nothing stay good")
    func horizon() async throws {
        let server = try await TestServer { $0.service.tombstoneSeconds = 60 }
        try await server.makeZone("Z")
        for index in 0..<6 { try await server.modify("Z", create("n-\(index)")) }
        let old = try #require(try await server.changes("Z", limit: 1).token)
        let stale = try #require(
            try await server.changes("Z", since: try await server.changes("Z").token).token)
        try await server.modify("Z", delete("n-0"))
        let fresh = try await server.changes("Z", limit: 1)
        server.clock.advance(.seconds(120))
        await Maintenance(server.application).round()
        #expect(try await server.changes("Z", since: old).code == "CHANGE_TOKEN_EXPIRED")
        #expect(try await server.changes("Z", since: stale).code == "CHANGE_TOKEN_EXPIRED")
        let rest = try await server.allChanges("Z", since: fresh.token, limit: 1)
        #expect(rest.code == nil)
        #expect(fresh.names + rest.names == (1..<6).map { "n-\($0)" })
        #expect(try await server.allChanges("Z").names == (1..<6).map { "n-\($0)" })
    }

    @Test("records/changes is the feed of one zone at the top of the answer")
    func legacy() async throws {
        let server = try await server(3)
        let answer = try await server.call(
            .recordsChanges, .private, ["zoneID": TestServer.zone("Z"), "resultsLimit": 2])
        #expect(answer.records.count == 2)
        #expect(answer.json["moreComing"] == true)
        let token = try #require(answer.json["syncToken"])
        let rest = try await server.call(
            .recordsChanges, .private, ["zoneID": TestServer.zone("Z"), "syncToken": token])
        #expect(rest.records.count == 1)
        #expect(rest.json["moreComing"] == false)
        let unknown = try await server.call(
            .recordsChanges, .private, ["zoneID": TestServer.zone("Nowhere")])
        #expect(unknown.code == "ZONE_NOT_FOUND")
    }

    @Test("tokens of zones/list and of lookups are places in the feed")
    func currentTokens() async throws {
        let server = try await server(2)
        let list = try await server.call(.zonesList)
        let zones = list.json["zones"]?.array ?? []
        let token = zones.first { $0["zoneID"]?["zoneName"] == "Z" }?["syncToken"]?.string
        let looked = try await server.call(
            .recordsLookup, .private,
            [
                "zoneID": TestServer.zone("Z"), "records": [["recordName": "n-0"]],
                "getCurrentSyncToken": true,
            ])
        #expect(looked.json["syncToken"]?.string == token)
        let saved = try await server.call(
            .recordsModify, .private,
            [
                "zoneID": TestServer.zone("Z"), "operations": [force("n-0")],
                "getCurrentSyncToken": true,
            ])
        #expect(try await server.changes("Z", since: token).names == ["n-0"])
        let after = saved.json["syncToken"]?.string
        #expect(after != nil)
        #expect(try await server.changes("Z", since: after).names.isEmpty)
    }

    @Test("a page has 200 records at most, and more only where extended limits are asked for")
    func extendedLimits() async throws {
        let server = try await server()
        for part in 0..<2 {
            let operations = (0..<150).map { create("n-\(part)-\($0)") }
            _ = try await server.call(
                .recordsModify, .private,
                ["zoneID": TestServer.zone("Z"), "operations": .array(operations)])
        }
        #expect(try await server.changes("Z", limit: 1_000).names.count == 200)
        #expect(
            try await server.changes("Z", limit: 1_000, ["extendedLimits": true]).names.count
                == 300)
    }

    @Test("the total is there for who asks, and counts what is left")
    func totals() async throws {
        let server = try await server(5)
        let first = try await server.changes("Z", limit: 2, ["wantsTotal": true])
        #expect(first.json["total"] == 5)
        let second = try await server.changes("Z", since: first.token, ["wantsTotal": true])
        #expect(second.json["total"] == 3)
        try await server.modify("Z", delete("n-0"))
        #expect(try await server.changes("Z", ["wantsTotal": true]).json["total"] == 4)
    }

    @Test("large records make shorter pages, and none is left out")
    func largeRecords() async throws {
        let server = try await server()
        let long = String(repeating: "x", count: 900_000)
        for index in 0..<12 {
            try await server.modify("Z", create("n-\(index)", ["t": text(long)]))
        }
        let first = try await server.changes("Z")
        #expect(first.moreComing)
        #expect(first.names.count < 12)
        #expect(
            try await server.allChanges("Z").names == (0..<12).map { "n-\($0)" })
    }

    @Test("the default zone has a feed, also from before its first record")
    func defaultZone() async throws {
        let server = try await TestServer()
        let empty = try await server.changes("_defaultZone")
        #expect(empty.names.isEmpty)
        #expect(!empty.moreComing)
        try await server.modify(nil, create("a"))
        #expect(try await server.changes("_defaultZone", since: empty.token).names == ["a"])
    }
}
