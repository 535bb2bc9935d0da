import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Conformance: zones and changes", .serialized) struct ConformanceSection7 {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    static let rows = ConformanceRows.of(zones, database, zone, legacy, tokens)

    /// Names of zones, a minus before those that are gone.
    private static func names(_ answer: TestServer.Answer) -> [String] {
        (answer.json["zones"]?.array ?? []).map { zone in
            (zone["deleted"] == true ? "-" : "") + zone.at("zoneID.zoneName").words
        }
    }

    private static func zones(_ rows: inout ConformanceRows) {
        rows.row("zones/list by GET: every zone with a sync token") { s in
            let answer = try await s.server.request(.get, try await s.path(.zonesList))
            #expect(answer.status == 200)
            #expect(names(answer).contains(s.zone))
            #expect(names(answer).contains("_defaultZone"))
            let tokens = answer.at("zones").array ?? []
            #expect(tokens.allSatisfy { $0["syncToken"]?.string != nil })
        }
        rows.row("zones/lookup: a zone or an error for each, in order") { s in
            let answer = try await s.call(
                .zonesLookup, .private, ["zones": [["zoneName": "Nowhere"], s.zoneID]])
            #expect(answer.at("zones.0.serverErrorCode") == "ZONE_NOT_FOUND")
            #expect(answer.at("zones.1.zoneID.zoneName") == JSONValue(s.zone))
            #expect(answer.at("zones.1.syncToken").string != nil)
        }
        rows.row("zones/modify: all attempted in order, one operation for each zone") { s in
            func operation(_ type: String, _ name: String) -> JSONValue {
                ["operationType": JSONValue(type), "zone": ["zoneID": TestServer.zone(name)]]
            }
            let answer = try await s.call(
                .zonesModify, .private,
                [
                    "operations": [
                        operation("delete", s.name("none")), operation("create", s.name("A")),
                        operation("delete", s.name("A")), operation("create", s.name("B")),
                    ]
                ])
            #expect(answer.status == 200)
            #expect(answer.at("zones.0.serverErrorCode") == "ZONE_NOT_FOUND")
            #expect(answer.at("zones.1.atomic") == true)
            #expect(answer.at("zones.2.serverErrorCode") == "BAD_REQUEST")
            #expect(answer.at("zones.3.zoneID.zoneName") == s.json("B"))
        }
        rows.row("zones/modify: onlyEmpty refuses to delete a zone with records") { s in
            let zone = TestServer.zone(s.name("C"))
            func modify(_ operation: JSONValue) async throws -> TestServer.Answer {
                try await s.call(.zonesModify, .private, ["operations": [operation]])
            }
            let removal: JSONValue = [
                "operationType": "delete", "onlyEmpty": true, "zone": ["zoneID": zone],
            ]
            _ = try await modify(["operationType": "create", "zone": ["zoneID": zone]])
            _ = try await s.call(
                .recordsModify, .private,
                [
                    "zoneID": zone,
                    "operations": [
                        [
                            "operationType": "create",
                            "record": ["recordName": "r", "recordType": "Note", "fields": [:]],
                        ]
                    ],
                ])
            #expect(try await modify(removal).at("zones.0.serverErrorCode") == "CONFLICT")
            _ = try await s.call(
                .recordsModify, .private,
                [
                    "zoneID": zone,
                    "operations": [
                        ["operationType": "forceDelete", "record": ["recordName": "r"]]
                    ],
                ])
            #expect(try await modify(removal).at("zones.0.deleted") == true)
        }
        rows.row("zones/modify: creating an existing zone is harmless") { s in
            try await s.modify(create(s.name("a")))
            #expect(try await s.server.makeZone(s.zone).at("zones.0.atomic") == true)
            #expect(try await s.record(s.name("a")).at("recordName") == s.json("a"))
        }
        rows.row("custom zones are made in private only, public has the default zone") { s in
            let body: JSONValue = [
                "operations": [["operationType": "create", "zone": ["zoneID": s.zoneID]]]
            ]
            #expect(try await s.call(.zonesModify, .public, body).status == 400)
            let shared = try await s.call(.zonesModify, .shared, body)
            #expect(shared.at("zones.0.serverErrorCode") == "BAD_REQUEST")
            #expect(names(try await s.call(.zonesList, .public)) == ["_defaultZone"])
        }
        rows.row("deleting a zone deletes its records and its share") { s in
            try await s.modify(create(s.name("r")))
            try await s.server.share(s.zone, s.name("r"), with: [.bob: "READ_ONLY"])
            let deleted = try await s.server.deleteZone(s.zone)
            #expect(deleted.at("zones.0.deleted") == true)
            let bobs = try await s.server.lookup(s.zone, of: .alice, as: .bob, s.name("r"))
            #expect(bobs.code == "ZONE_NOT_FOUND")
            try await s.server.makeZone(s.zone)
            #expect(try await s.record(s.name("r")).at("serverErrorCode") == "NOT_FOUND")
            #expect(
                try await s.record("share-" + s.name("r")).at("serverErrorCode") == "NOT_FOUND")
        }
    }

    private static func database(_ rows: inout ConformanceRows) {
        rows.row("changes/database, syncToken: only what changed since, deletions as deleted") {
            s in
            try await s.server.makeZone(s.name("gone"))
            let start = try await s.call(.changesDatabase, .private, ["resultsLimit": 200])
            #expect(start.at("moreComing") == false)
            try await s.modify(create(s.name("a")))
            try await s.server.deleteZone(s.name("gone"))
            let token = start.at("syncToken")
            let next = try await s.call(.changesDatabase, .private, ["syncToken": token])
            // In the order of the changes.
            #expect(names(next) == [s.zone, "-" + s.name("gone")])
            let last = try await s.call(
                .changesDatabase, .private, ["syncToken": next.at("syncToken")])
            #expect(names(last) == [])
        }
        rows.row("changes/database, resultsLimit and moreComing: pages of zones") { s in
            let start = try await s.call(.changesDatabase).at("syncToken")
            for part in ["A", "B", "C"] { try await s.server.makeZone(s.name(part)) }
            let first = try await s.call(
                .changesDatabase, .private, ["syncToken": start, "resultsLimit": 2])
            #expect(first.at("moreComing") == true)
            let rest = try await s.call(
                .changesDatabase, .private, ["syncToken": first.at("syncToken")])
            #expect(names(first) + names(rest) == ["A", "B", "C"].map(s.name))
        }
        rows.row("changes/database, deletionReason: for who asks") { s in
            let start = try await s.call(.changesDatabase).at("syncToken")
            try await s.server.deleteZone(s.zone)
            let answer = try await s.call(
                .changesDatabase, .private, ["syncToken": start, "wantsDeletionReason": true])
            #expect(answer.at("zones.0.deletionReason") == "deleted")
        }
        rows.row("changes/database, private and shared, not public") { s async throws in
            #expect(try await s.call(.changesDatabase, .shared).status == 200)
            #expect(try await s.call(.changesDatabase, .public).status == 400)
        }
    }

    private static func zone(_ rows: inout ConformanceRows) {
        rows.row("changes/zone, zones: zoneID, syncToken, moreComing, records; an error for each") {
            s in
            try await s.modify(create(s.name("a")))
            let answer = try await s.call(
                .changesZone, .private,
                ["zones": [["zoneID": s.zoneID], ["zoneID": ["zoneName": "Nowhere"]]]])
            #expect(answer.status == 200)
            #expect(
                answer.at("zones.0").keys == ["moreComing", "records", "syncToken", "zoneID"])
            #expect(answer.at("zones.0.records.0.recordName") == s.json("a"))
            #expect(answer.at("zones.1.serverErrorCode") == "ZONE_NOT_FOUND")
            #expect(answer.at("zones.1.zoneID.zoneName") == "Nowhere")
            #expect(answer.at("zones.1.reason").string != nil)
        }
        rows.row("changes/zone, zoneID: required in each zone") { s in
            #expect(try await s.call(.changesZone).code == "BAD_REQUEST")
            let answer = try await s.call(.changesZone, .private, ["zones": [[:]]])
            #expect(answer.code == "BAD_REQUEST")
        }
        rows.row("changes/zone, a key of the zone wins over one at the top") { s in
            let fields: JSONValue = ["title": text("x"), "n": number(1)]
            try await s.modify(create(s.name("a"), fields), create(s.name("b"), fields))
            let answer = try await s.call(
                .changesZone, .private,
                [
                    "zones": [
                        ["zoneID": s.zoneID, "desiredKeys": ["title"], "resultsLimit": 1],
                        ["zoneID": s.zoneID],
                    ],
                    "desiredKeys": ["n"], "resultsLimit": 2, "numbersAsStrings": true,
                ])
            #expect(answer.at("zones.0.records").count == 1)
            #expect(answer.at("zones.0.moreComing") == true)
            #expect(answer.at("zones.0.records.0.fields").keys == ["title"])
            #expect(answer.at("zones.1.records").count == 2)
            #expect(answer.at("zones.1.records.0.fields.n.value") == "1")
        }
        rows.row("changes/zone, desiredRecordTypes: filters by record type") { s in
            try await s.modify(
                create(s.name("a")), create(s.name("b"), type: s.type), create(s.name("c")))
            let feed = try await s.server.changes(
                s.zone, ["desiredRecordTypes": [JSONValue(s.type)]])
            #expect(feed.names == [s.name("b")])
        }
        rows.row("changes/zone, reverse: newest first") { s in
            for part in ["a", "b"] { try await s.modify(create(s.name(part))) }
            let feed = try await s.server.changes(s.zone, ["reverse": true])
            #expect(feed.names == ["b", "a"].map(s.name))
        }
    }

    private static func legacy(_ rows: inout ConformanceRows) {
        rows.row("zones/changes: metaSyncToken in and out") { s in
            let start = try await s.call(.zonesChanges)
            #expect(names(start).contains(s.zone))
            try await s.modify(create(s.name("a")))
            let next = try await s.call(
                .zonesChanges, .private, ["metaSyncToken": start.at("metaSyncToken")])
            #expect(names(next) == [s.zone])
            #expect(next.at("metaSyncToken").string != nil)
        }
    }

    private static func tokens(_ rows: inout ConformanceRows) {
        rows.row("a token is of one zone, and expired elsewhere: per zone and at the top") {
            s in
            try await s.server.makeZone(s.name("Y"))
            let token = try #require(try await s.server.changes(s.zone).token)
            let other = try await s.server.changes(s.name("Y"), since: token)
            #expect(other.code == "CHANGE_TOKEN_EXPIRED")
            let top = try await s.call(
                .changesDatabase, .private, ["syncToken": .string(token)])
            #expect(top.status == 400)
            #expect(top.code == "CHANGE_TOKEN_EXPIRED")
        }
        rows.row("a token does not survive the recreation of its zone") { s in
            let token = try await s.server.changes(s.zone).token
            try await s.server.deleteZone(s.zone)
            try await s.server.makeZone(s.zone)
            #expect(
                try await s.server.changes(s.zone, since: token).code == "CHANGE_TOKEN_EXPIRED")
        }
        rows.row("the current token of zones/list, zones/lookup and getCurrentSyncToken") {
            s in
            try await s.modify(create(s.name("a")))
            let looked = try await s.call(.zonesLookup, .private, ["zones": [s.zoneID]])
            let records = try await s.call(
                .recordsLookup, .private,
                ["zoneID": s.zoneID, "records": [], "getCurrentSyncToken": true])
            let list = try await s.call(.zonesList).at("zones").array ?? []
            let listed = list.first { $0.at("zoneID.zoneName") == JSONValue(s.zone) }
            try await s.modify(create(s.name("b")))
            for token in [
                looked.at("zones.0.syncToken"), records.at("syncToken"),
                listed?.at("syncToken") ?? .null,
            ] {
                let feed = try await s.server.changes(s.zone, since: token.string)
                #expect(feed.names == [s.name("b")])
            }
        }
        rows.row("a record comes once in each fetch, at its latest state, in order of commit") {
            s in
            try await s.modify(create(s.name("a"), ["title": text("1")]))
            try await s.modify(create(s.name("b")))
            try await s.modify(force(s.name("a"), ["title": text("2")]))
            try await s.modify(create(s.name("c")))
            try await s.modify(delete(s.name("b")))
            let feed = try await s.server.changes(s.zone)
            let since = try await s.server.allChanges(s.zone, limit: 1)
            #expect(feed.names.filter { !$0.hasPrefix("-") } == ["a", "c"].map(s.name))
            #expect(since.names.filter { !$0.hasPrefix("-") } == ["a", "c"].map(s.name))
            #expect(feed.records.first?.at("fields.title") == text("2"))
        }
        rows.row("no feed of the public database") { s async throws in
            for endpoint in [Endpoint.changesZone, .recordsChanges, .zonesChanges] {
                #expect(try await s.call(endpoint, .public, ["zones": []]).status == 400)
            }
        }
    }
}
