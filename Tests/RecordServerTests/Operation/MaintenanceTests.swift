import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Maintenance") struct MaintenanceTests {
    private let zone: JSONValue = ["zoneName": "Work"]

    private func modify(
        _ server: TestServer, _ operation: String, _ name: String
    ) async throws {
        let answer = try await server.call(
            .recordsModify, .private,
            [
                "zoneID": zone,
                "operations": [
                    [
                        "operationType": .string(Text(operation)),
                        "record": ["recordName": .string(Text(name)), "recordType": "Note"],
                    ]
                ],
            ])
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.json["records"]?.array?.first?["serverErrorCode"] == nil, "\(answer.text)")
    }

    private func changes(_ server: TestServer, since token: Text?) async throws -> JSONValue {
        var item: [JSONMember] = [JSONMember(key: "zoneID", value: zone)]
        if let token { item.append(JSONMember(key: "syncToken", value: .string(token))) }
        let answer = try await server.call(
            .changesZone, .private, ["zones": .array([.object(item)])])
        return try #require(answer.json["zones"]?.array?.first, "\(answer.text)")
    }

    @Test("a deletion is told for as long as the horizon, and then older tokens expire")
    func horizon() async throws {
        let server = try await TestServer { $0.service.tombstoneSeconds = 1_000 }
        _ = try await server.call(
            .zonesModify, .private,
            ["operations": [["operationType": "create", "zone": ["zoneID": zone]]]])
        for name in ["a", "b", "c"] { try await modify(server, "create", name) }
        let old = try #require(try await changes(server, since: nil)["syncToken"]?.string)
        try await modify(server, "forceDelete", "a")
        server.clock.advance(.seconds(600))
        try await modify(server, "forceDelete", "b")
        let recent = try #require(try await changes(server, since: old)["syncToken"]?.string)
        let maintenance = Maintenance(server.application)

        await maintenance.round()
        #expect(try await changes(server, since: old)["records"]?.array?.count == 2)

        server.clock.advance(.seconds(600))
        await maintenance.round()
        #expect(
            try await changes(server, since: old)["serverErrorCode"]?.string
                == "CHANGE_TOKEN_EXPIRED")
        #expect(try await changes(server, since: recent)["records"]?.array?.isEmpty == true)
        #expect(try await hasTombstones(server))

        server.clock.advance(.seconds(600))
        await maintenance.round()
        #expect(try await !hasTombstones(server))
        let rest = try await changes(server, since: nil)["records"]?.array
        #expect(rest?.compactMap { $0["recordName"]?.string } == ["c"])
    }

    @Test("a zone keeps so many tombstones; whoever missed more of them begins anew")
    func manyTombstones() async throws {
        let server = try await TestServer { $0.service.tombstonesPerZone = 2 }
        try await server.makeZone("Work")
        for name in ["a", "b", "c", "d", "e"] { try await modify(server, "create", name) }
        let old = try #require(try await changes(server, since: nil)["syncToken"]?.string)
        for name in ["a", "b", "c"] { try await modify(server, "forceDelete", name) }
        let recent = try #require(
            try await changes(server, since: old)["syncToken"]?.string)
        try await modify(server, "forceDelete", "d")
        await Maintenance(server.application).round()
        #expect(
            try await changes(server, since: old)["serverErrorCode"]?.string
                == "CHANGE_TOKEN_EXPIRED")
        #expect(try await changes(server, since: recent)["records"]?.array?.count == 1)
        #expect(try await hasTombstones(server))
    }

    private func hasTombstones(_ server: TestServer) async throws -> Bool {
        try await server.storage.read { (reader) throws(ServerError) in
            try reader.zoneWithTombstones(after: nil) != nil
        }
    }

    @Test("zones that were deleted are swept, and living ones stay as they are")
    func deletedZones() async throws {
        let server = try await TestServer()
        for name in ["Work", "Home"] {
            _ = try await server.call(
                .zonesModify, .private,
                [
                    "operations": [
                        [
                            "operationType": "create",
                            "zone": ["zoneID": ["zoneName": .string(Text(name))]],
                        ]
                    ]
                ])
        }
        try await modify(server, "create", "a")
        _ = try await server.call(
            .zonesModify, .private,
            [
                "operations": [
                    ["operationType": "delete", "zone": ["zoneID": ["zoneName": "Home"]]]
                ]
            ])
        await Maintenance(server.application).round()
        let isMore = try await server.storage.write { (transaction) throws(ServerError) in
            try transaction.sweepDeletedZones(limit: 1)
        }
        #expect(!isMore)
        #expect(try await changes(server, since: nil)["records"]?.array?.count == 1)
    }

    @Test("sessions that have ended are forgotten")
    func sessions() async throws {
        let server = try await TestServer { $0.accounts.maximumSessionSeconds = 1_000 }
        _ = try await server.call(.zonesList)
        let alice = try #require(TestServer.Person.alice.user)
        server.clock.advance(.seconds(1_001))
        await Maintenance(server.application).round()
        let rest = try await server.storage.read { (reader) throws(ServerError) in
            try reader.sessions(alice)
        }
        #expect(rest.isEmpty)
    }
}
