import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("zones/*", .everyTransport) struct ZoneTests {
    private func names(_ answer: TestServer.Answer) -> [String] {
        (answer.json["zones"]?.array ?? []).map { zone in
            zone["serverErrorCode"]?.string?.string
                ?? zone["zoneID"]?["zoneName"]?.string?.string ?? "?"
        }
    }

    @Test("a change tag of a zone that was deleted means nothing in the zone that is made again")
    func tagsOfTheOneBefore() async throws {
        let server = try await TestServer()
        try await server.makeZone("A")
        let old = try await server.modify("A", create("a"))
        let tag = old.json["records"]?.array?.first?["recordChangeTag"]
        try await server.deleteZone("A")
        try await server.makeZone("A")
        let new = try await server.modify("A", create("a"))
        #expect(tag != nil && new.json["records"]?.array?.first?["recordChangeTag"] != tag)
    }

    @Test("the default zone is there from the start and is not atomic; custom zones are")
    func lists() async throws {
        let server = try await TestServer()
        try await server.makeZone("B")
        try await server.makeZone("A")
        let answer = try await server.call(.zonesList)
        #expect(names(answer) == ["_defaultZone", "A", "B"])
        let zones = answer.json["zones"]?.array ?? []
        #expect(zones.map { $0["atomic"] } == [false, true, true])
        #expect(zones.allSatisfy { $0["syncToken"]?.string != nil })
        #expect(names(try await server.call(.zonesList, as: .bob)) == ["_defaultZone"])
    }

    @Test("creating a zone that is there is harmless; a name with a leading _ is refused")
    func creates() async throws {
        let server = try await TestServer()
        try await server.makeZone("A")
        try await server.modify("A", create("a"))
        #expect(names(try await server.makeZone("A")) == ["A"])
        #expect(try await server.lookup("A", "a").results == ["saved"])
        #expect(try await server.makeZone("_A").status == 400)
    }

    @Test("all operations are attempted; one for each zone")
    func attemptsAll() async throws {
        let server = try await TestServer()
        func operation(_ type: String, _ zone: String) -> JSONValue {
            ["operationType": JSONValue(type), "zone": ["zoneID": TestServer.zone(zone)]]
        }
        let answer = try await server.call(
            .zonesModify, .private,
            [
                "operations": [
                    operation("delete", "Nowhere"), operation("create", "A"),
                    operation("delete", "A"), operation("delete", "_defaultZone"),
                    operation("create", "B"),
                ]
            ])
        #expect(answer.status == 200)
        #expect(names(answer) == ["ZONE_NOT_FOUND", "A", "BAD_REQUEST", "BAD_REQUEST", "B"])
        #expect(names(try await server.call(.zonesList)) == ["_defaultZone", "A", "B"])
    }

    @Test("a deleted zone takes its records along; a later one of the name begins empty")
    func deletes() async throws {
        let server = try await TestServer()
        try await server.makeZone("A")
        try await server.modify("A", create("a"))
        let token = try await server.changes("A").token
        let answer = try await server.deleteZone("A")
        #expect(answer.json["zones"]?.array?.first?["deleted"] == true)
        #expect(try await server.lookup("A", "a").code == "ZONE_NOT_FOUND")
        #expect(try await server.modify("A", create("b")).code == "ZONE_NOT_FOUND")
        #expect(try await server.changes("A", since: token).code == "ZONE_NOT_FOUND")
        try await server.makeZone("A")
        #expect(try await server.lookup("A", "a").results == ["NOT_FOUND"])
        #expect(try await server.changes("A", since: token).code == "CHANGE_TOKEN_EXPIRED")
    }

    @Test("a zone that is not there and somebody else's give the same answer")
    func looksUp() async throws {
        let server = try await TestServer()
        try await server.makeZone("A")
        try await server.makeZone("B", as: .bob)
        let answer = try await server.call(
            .zonesLookup, .private,
            [
                "zones": [
                    TestServer.zone("A"), ["zoneID": TestServer.zone("A")],
                    TestServer.zone("B"), TestServer.zone("B", of: .bob), TestServer.zone("C"),
                ]
            ])
        #expect(
            names(answer)
                == ["A", "A", "ZONE_NOT_FOUND", "ZONE_NOT_FOUND", "ZONE_NOT_FOUND"])
    }

    @Test("zones are neither made in the shared nor in somebody else's database")
    func notElsewhere() async throws {
        let server = try await TestServer()
        let body: JSONValue = [
            "operations": [
                [
                    "operationType": "create",
                    "zone": ["zoneID": TestServer.zone("A", of: .bob)],
                ]
            ]
        ]
        #expect(names(try await server.call(.zonesModify, .shared, body)) == ["BAD_REQUEST"])
        #expect(names(try await server.call(.zonesModify, .private, body)) == ["ZONE_NOT_FOUND"])
        #expect(names(try await server.call(.zonesList, as: .bob)) == ["_defaultZone"])
    }
}
