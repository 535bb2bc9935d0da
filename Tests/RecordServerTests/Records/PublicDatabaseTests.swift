import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Records of the public database", .everyTransport) struct PublicDatabaseTests {
    @Test("anybody reads, users create, and only the creator changes and deletes")
    func defaults() async throws {
        let server = try await TestServer()
        let made = try await server.modify(nil, scope: .public, create("a", ["t": text("1")]))
        #expect(made.results == ["saved"])
        #expect(made.records.first?["zoneID"]?["zoneName"] == "_defaultZone")
        #expect(try await server.lookup(nil, scope: .public, as: .bob, "a").results == ["saved"])
        #expect(
            try await server.lookup(nil, scope: .public, as: .anonymous, "a").results == ["saved"])
        #expect(
            try await server.modify(nil, scope: .public, as: .bob, force("a")).results
                == ["ACCESS_DENIED"])
        #expect(
            try await server.modify(nil, scope: .public, as: .bob, delete("a")).results
                == ["ACCESS_DENIED"])
        #expect(
            try await server.modify(nil, scope: .public, as: .anonymous, create("b")).code
                == "AUTHENTICATION_REQUIRED")
        #expect(
            try await server.modify(nil, scope: .public, delete("a")).results == ["deleted"])
    }

    @Test("the public database of each environment has a quota of its own, for all")
    func quota() async throws {
        let server = try await TestServer { $0.service.publicQuotaBytes = 2_000 }
        let long: JSONValue = ["t": text(String(repeating: "x", count: 1_500))]
        #expect(
            try await server.modify(nil, scope: .public, create("a", long)).results == ["saved"])
        let refused = try await server.modify(nil, scope: .public, as: .bob, create("b", long))
        #expect(refused.results == ["QUOTA_EXCEEDED"])
        #expect(!refused.text.contains("2000"))
        #expect(
            try await server.modify(nil, scope: .public, as: .bob, create("c")).results
                == ["saved"])
        #expect(
            try await server.modify(nil, scope: .private, as: .bob, create("b", long)).results
                == ["saved"])
        #expect(
            try await server.modify(nil, scope: .public, delete("a")).results == ["deleted"])
        #expect(
            try await server.modify(nil, scope: .public, as: .bob, create("b", long)).results
                == ["saved"])
    }

    @Test("there is no zone but the default one, and no feed")
    func noZones() async throws {
        let server = try await TestServer()
        try await server.makeZone("Z")
        #expect(
            try await server.modify("Z", scope: .public, create("a")).code == "ZONE_NOT_FOUND")
        let zones = try await server.call(.zonesList, .public)
        #expect(zones.json["zones"]?.array?.count == 1)
        for endpoint in [Endpoint.changesDatabase, .changesZone, .recordsChanges, .zonesChanges] {
            #expect(try await server.call(endpoint, .public).status == 400)
        }
    }

    @Test("shares are not for the public database nor for the default zone")
    func noShares() async throws {
        let server = try await TestServer()
        for scope in [DatabaseScope.public, .private] {
            let answer = try await server.modify(
                nil, scope: scope,
                operation("create", "cloudkit.zoneshare", type: "cloudkit.share", [:]))
            #expect(answer.results == ["BAD_REQUEST"])
        }
    }
}
