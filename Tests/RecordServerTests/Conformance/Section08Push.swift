import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// Subscriptions and couriers, for rows that need them.
enum ConformancePush {
    static func body(_ operations: [(String, JSONValue)]) -> JSONValue {
        let list = operations.map { kind, subscription -> JSONValue in
            ["operationType": JSONValue(kind), "subscription": subscription]
        }
        return ["operations": .array(list)]
    }

    /// The item of the answer.
    static func create(_ s: ConformanceScene, _ subscription: JSONValue) async throws -> JSONValue {
        let answer = try await s.call(
            .subscriptionsModify, .private, body([("create", subscription)]))
        return answer.at("subscriptions.0")
    }

    /// The path of the courier of a new device.
    static func device(_ server: TestServer) async throws -> String {
        let answer = try await server.call(
            .tokensCreate, .public, ["apnsEnvironment": "development", "clientId": "7c"])
        let url = try #require(answer.at("webcourierURL").string, "\(answer.text)")
        return try AssetFixture.path(url)
    }

    /// All frames that wait for a device.
    static func frames(_ server: TestServer, _ path: String) async throws -> [JSONValue] {
        await server.waitUntilDelivered()
        var frames: [JSONValue] = []
        while true {
            let answer = try await server.request(.get, path)
            #expect(answer.status == 200, "\(answer.text)")
            guard !answer.body.isEmpty else { return frames }
            frames.append(answer.json)
        }
    }
}

@Suite("Conformance: subscriptions, tokens, push", .serialized) struct ConformanceSection8 {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    static let rows = ConformanceRows.of(subscriptions, unique, tokens, courier, frames)

    private static func zone(_ s: ConformanceScene, _ id: String = "z") -> JSONValue {
        ["subscriptionID": s.json(id), "subscriptionType": "zone", "zoneID": s.zoneID]
    }

    private static func query(
        _ s: ConformanceScene, _ id: String, _ firesOn: JSONValue = ["create", "update", "delete"]
    ) -> JSONValue {
        [
            "subscriptionID": s.json(id), "subscriptionType": "query", "zoneID": s.zoneID,
            "query": ["recordType": JSONValue(s.type)], "firesOn": firesOn,
        ]
    }

    private static func subscriptions(_ rows: inout ConformanceRows) {
        rows.row("subscriptions/list by GET") { s in
            let made = try await ConformancePush.create(s, zone(s))
            let answer = try await s.server.request(.get, try await s.path(.subscriptionsList))
            #expect(answer.at("subscriptions").array?.contains(made) == true)
        }
        rows.row("subscriptions/lookup: one or an error for each") { s in
            let made = try await ConformancePush.create(s, zone(s))
            let answer = try await s.call(
                .subscriptionsLookup, .private,
                [
                    "subscriptions": [
                        ["subscriptionID": s.json("z")], ["subscriptionID": s.json("none")],
                    ]
                ])
            #expect(answer.at("subscriptions.0") == made)
            #expect(answer.at("subscriptions.1.serverErrorCode") == "NOT_FOUND")
        }
        rows.row("subscriptions/modify: create, update and delete, which gives the ID alone") {
            s in
            try await s.modify(operation("create", s.name("a"), type: s.type, [:]))
            let answer = try await s.call(
                .subscriptionsModify, .private,
                ConformancePush.body([
                    ("create", query(s, "q", ["create"])), ("update", query(s, "q", ["delete"])),
                    ("delete", ["subscriptionID": s.json("q")]),
                ]))
            #expect(answer.at("subscriptions.0.firesOn") == ["create"], "\(answer.text)")
            #expect(answer.at("subscriptions.1.firesOn") == ["delete"])
            #expect(answer.at("subscriptions.2") == ["subscriptionID": s.json("q")])
        }
    }

    private static func unique(_ rows: inout ConformanceRows) {
        rows.row("a second subscription for the same changes is EXISTS") { s in
            _ = try await ConformancePush.create(s, zone(s))
            let again = try await ConformancePush.create(s, zone(s, "z2"))
            #expect(again.at("serverErrorCode") == "EXISTS")
        }
        rows.row("another set of firesOn is another subscription") { s in
            try await s.modify(operation("create", s.name("a"), type: s.type, [:]))
            for (id, events) in [("1", ["create"]), ("2", ["update"])] as [(String, JSONValue)] {
                let made = try await ConformancePush.create(s, query(s, id, events))
                #expect(made.at("serverErrorCode") == .null, "\(made)")
            }
        }
    }

    private static func tokens(_ rows: inout ConformanceRows) {
        for environment in ["development", "production"] {
            rows.row("tokens/create and tokens/register: \(environment)") { s in
                let body: JSONValue = [
                    "apnsEnvironment": JSONValue(environment), "clientId": s.json("c"),
                ]
                let made = try await s.call(.tokensCreate, .public, body)
                #expect(made.json.keys == ["apnsEnvironment", "apnsToken", "webcourierURL"])
                #expect(made.at("apnsEnvironment") == JSONValue(environment))
                #expect(Base64.decode(made.at("apnsToken").string?.utf8 ?? []) != nil)
                let registered = try await s.call(
                    .tokensRegister, .public, body.with("apnsToken", made.at("apnsToken")))
                #expect(registered.status == 200)
            }
        }
    }

    private static func courier(_ rows: inout ConformanceRows) {
        rows.row("webcourierURL: one frame for each poll, consumed; empty when there is none") {
            s in
            let server = try await s.own()
            try await server.makeZone("Z")
            // A notice of before finds the subscriptions that are there when it is delivered.
            await server.waitUntilDelivered()
            let device = try await ConformancePush.device(server)
            let subscription: JSONValue = [
                "subscriptionID": "z", "subscriptionType": "zone", "zoneID": ["zoneName": "Z"],
            ]
            _ = try await server.call(
                .subscriptionsModify, .private, ConformancePush.body([("create", subscription)]))
            try await server.modify("Z", create("a"))
            #expect(try await ConformancePush.frames(server, device).count == 1)
            #expect(try await ConformancePush.frames(server, device) == [])
        }
        rows.row("webcourierURL: an unknown one is not 2xx") { s async throws in
            #expect(try await s.server.request(.get, "/courier/guess").status == 404)
        }
    }

    private static func frames(_ rows: inout ConformanceRows) {
        rows.row("frame: ce, cid, nid, ckuserid, aux; qry, fet and met with one nid") { s in
            let server = try await s.own()
            let own = ConformanceScene(server: server, number: s.number)
            try await server.makeZone(own.zone)
            try await own.modify(operation("create", "a", type: own.type, [:]))
            // A notice of before finds the subscriptions that are there when it is delivered.
            await server.waitUntilDelivered()
            let made = try await own.call(
                .subscriptionsModify, .private,
                ConformancePush.body([
                    ("create", query(own, "q")), ("create", zone(own)),
                    ("create", ["subscriptionID": "d", "subscriptionType": "database"]),
                ]))
            #expect(!made.text.contains("serverErrorCode"), "\(made.text)")
            let device = try await ConformancePush.device(server)
            try await own.modify(operation("forceUpdate", "a", type: own.type, [:]))
            let frames = try await ConformancePush.frames(server, device).map { $0.at("ck") }
            #expect(frames.count == 3)
            for ck in frames {
                #expect(ck.at("ce") == 2)
                #expect(ck.at("cid") == .string(TestServer.container))
                #expect(ck.at("ckuserid") == ConformanceScene.user(.alice))
                #expect(ck.at("aux") == [:])
            }
            #expect(Set(frames.map { $0.at("nid") }).count == 1)
            #expect(frames.contains { $0.at("met") == ["sid": "d", "dbs": 2] })
            #expect(frames.contains { $0.at("fet.sid") == own.json("z") })
            let query = frames.map { $0.at("qry") }.first { $0 != .null } ?? .null
            #expect(query.keys == ["dbs", "fo", "rid", "sid", "zid", "zoid"])
            #expect(query.at("rid") == "a")
        }
        for (number, type) in [(1, "create"), (2, "forceUpdate"), (3, "forceDelete")] {
            rows.row("frame, fo \(number): \(type)") { s in
                let server = try await s.own()
                let own = ConformanceScene(server: server, number: s.number)
                try await server.makeZone(own.zone)
                try await own.modify(operation("create", "seed", type: own.type, [:]))
                if number > 1 {
                    try await own.modify(operation("create", "a", type: own.type, [:]))
                }
                await server.waitUntilDelivered()
                _ = try await ConformancePush.create(own, query(own, "q"))
                let device = try await ConformancePush.device(server)
                try await own.modify(operation(type, "a", type: own.type, [:]))
                let frames = try await ConformancePush.frames(server, device)
                #expect(frames.map { $0.at("ck.qry.fo") } == [JSONValue(Int64(number))])
            }
        }
    }
}
