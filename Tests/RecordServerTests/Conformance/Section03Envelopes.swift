import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Conformance: common envelopes", .serialized) struct ConformanceSection3 {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    static let rows = ConformanceRows.of(requests, items, keys)

    private static let item = ["reason", "serverErrorCode", "uuid"]

    private static func requests(_ rows: inout ConformanceRows) {
        rows.row("whole request: uuid, serverErrorCode, reason, and the status") { s in
            let answer = try await s.call(.zonesLookup, .private, ["zones": 7])
            #expect(answer.status == 400)
            #expect(answer.json.keys == item)
            #expect(answer.at("uuid").words.utf8.count == 36)
        }
        rows.row("whole request, redirectURL: where a user is missing") { s in
            let answer = try await s.call(.zonesList, .private, as: .anonymous)
            #expect(answer.json.keys == ["reason", "redirectURL", "serverErrorCode", "uuid"])
        }
        rows.row("whole request, throttled: retryAfter in seconds, error_code, message") { s in
            let server = try await s.own {
                $0.rates.user = RateSettings.Bucket(perSecond: 0.1, burst: 1)
            }
            _ = try await server.call(.zonesList)
            let answer = try await server.call(.zonesList)
            #expect(answer.status == 429)
            #expect(answer.at("retryAfter") == 10)
            #expect(answer.at("error_code") == "THROTTLED")
            #expect(answer.at("messageForDeveloper").string != nil)
        }
    }

    private static func items(_ rows: inout ConformanceRows) {
        rows.row("item error, records: recordName, reason, serverErrorCode, uuid, in order") { s in
            let answer = try await s.modify(
                atomic: false, create(s.name("b")), update(s.name("x"), tag: "1"),
                create(s.name("c")))
            #expect(answer.status == 200)
            #expect(answer.names == ["b", "x", "c"].map(s.name))
            #expect(answer.at("records.1").keys == (item + ["recordName"]).sorted())
        }
        for endpoint in [Endpoint.zonesLookup, .changesZone] {
            rows.row("item error, \(endpoint.rawValue): zoneID, reason, serverErrorCode") { s in
                let none: JSONValue = ["zoneID": ["zoneName": s.json("none")]]
                let answer = try await s.call(
                    endpoint, .private, ["zones": [none, ["zoneID": s.zoneID]]])
                #expect(answer.status == 200)
                #expect(answer.at("zones.0").keys == (item + ["zoneID"]).sorted())
                #expect(answer.at("zones.0.zoneID.zoneName") == s.json("none"))
                #expect(answer.at("zones.1.serverErrorCode") == .null)
            }
        }
        rows.row("item error, zones/modify: zoneID, reason, serverErrorCode") { s in
            let answer = try await s.server.deleteZone(s.name("none"))
            #expect(answer.status == 200)
            #expect(answer.at("zones.0").keys == (item + ["zoneID"]).sorted())
        }
        rows.row("item error, subscriptions: subscriptionID, reason, serverErrorCode") { s in
            let answer = try await s.call(
                .subscriptionsLookup, .private,
                ["subscriptions": [["subscriptionID": s.json("none")]]])
            #expect(answer.status == 200)
            #expect(answer.at("subscriptions.0").keys == (item + ["subscriptionID"]).sorted())
        }
        rows.row("item error, short GUIDs: reason, serverErrorCode") { s in
            let answer = try await s.call(
                .recordsResolve, .public, ["shortGUIDs": [["value": "none"]]])
            #expect(answer.status == 200)
            #expect(answer.at("results.0").keys == (item + ["shortGUID"]).sorted())
        }
    }

    private static func keys(_ rows: inout ConformanceRows) {
        rows.row("zoneID: the default zone when absent") { s in
            let made = try await s.server.modify(nil, create(s.name("a")))
            #expect(made.at("records.0.zoneID.zoneName") == "_defaultZone")
        }
        rows.row("desiredKeys: null is all fields, duplicates do no harm") { s in
            try await s.modify(create(s.name("a"), ["title": text("x"), "n": number(1)]))
            let all = try await s.record(s.name("a"), ["desiredKeys": .null])
            #expect(all.at("fields").keys == ["n", "title"])
            let twice = try await s.record(s.name("a"), ["desiredKeys": ["n", "n", "none"]])
            #expect(twice.at("fields").keys == ["n"])
            let none = try await s.record(s.name("a"), ["desiredKeys": []])
            #expect(none.at("fields") == [:])
        }
        rows.row("numbersAsStrings: false by default; numberAsStrings means it too") { s in
            try await s.modify(create(s.name("a"), ["n": number(1)]))
            #expect(try await s.record(s.name("a")).at("fields.n.value") == 1)
            for key in ["numbersAsStrings", "numberAsStrings"] {
                let extra: JSONValue = .object([JSONMember(key: Text(key), value: true)])
                let feed = try await s.server.changes(s.zone, extra)
                #expect(feed.records.first?.at("fields.n.value") == "1", "\(key)")
            }
        }
        rows.row("resultsLimit: 200 by default and at most") { s in
            for part in 0..<2 {
                let operations = (0..<101).map {
                    operation("create", s.name("\(part)-\($0)"), type: s.type, [:])
                }
                _ = try await s.call(
                    .recordsModify, .private,
                    ["zoneID": s.zoneID, "operations": .array(operations)])
            }
            #expect(try await s.query().names.count == 200)
            #expect(try await s.query(nil, ["resultsLimit": 1_000]).names.count == 200)
            #expect(try await s.server.changes(s.zone).names.count == 200)
            #expect(try await s.server.changes(s.zone, limit: 1_000).names.count == 200)
        }
        rows.row("resultsLimit: a negative one and one that is no number are refused") { s in
            for limit in [-1, "x"] as [JSONValue] {
                let answer = try await s.call(
                    .changesDatabase, .private, ["resultsLimit": limit])
                #expect(answer.code == "BAD_REQUEST")
            }
        }
    }
}
