import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Conformance: record endpoints", .serialized) struct ConformanceSection6 {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    static let rows = ConformanceRows.of(
        query, queryPages, lookup, creates, updates, forces, deletes, batches, changes, guids)

    private static func query(_ rows: inout ConformanceRows) {
        rows.row("query, query: required") { s in
            let answer = try await s.call(.recordsQuery, .private, ["zoneID": s.zoneID])
            #expect(answer.status == 400)
            #expect(answer.code == "BAD_REQUEST")
            #expect(answer.at("reason").words.contains("query"))
        }
        rows.row("query, query: in the public, private and shared database") { s in
            let body: JSONValue = ["query": ["recordType": JSONValue(s.type)]]
            let create = operation("create", s.name("a"), type: s.type, [:])
            try await s.server.modify(nil, scope: .public, create)
            #expect(try await s.call(.recordsQuery, .public, body).names == [s.name("a")])
            #expect(try await s.call(.recordsQuery, .private, body).names == [])
            let shared = try await s.call(
                .recordsQuery, .shared, body.with("zoneWide", true))
            #expect(shared.status == 200)
            #expect(shared.names == [])
        }
        rows.row("query, zoneID and zoneWide: the zone, all zones, the default zone") { s in
            try await s.modify(operation("create", s.name("a"), type: s.type, [:]))
            try await s.server.modify(nil, operation("create", s.name("d"), type: s.type, [:]))
            let query: JSONValue = ["query": ["recordType": JSONValue(s.type)]]
            let zone = query.with("zoneID", s.zoneID)
            #expect(try await s.call(.recordsQuery, .private, zone).names == [s.name("a")])
            let ignored = zone.with("zoneWide", true)
            #expect(try await s.call(.recordsQuery, .private, ignored).names == [s.name("a")])
            let all = try await s.call(.recordsQuery, .private, query.with("zoneWide", true))
            #expect(Set(all.names) == [s.name("a"), s.name("d")])
            #expect(try await s.call(.recordsQuery, .private, query).names == [s.name("d")])
        }
    }

    private static func queryPages(_ rows: inout ConformanceRows) {
        rows.row("query, resultsLimit and continuationMarker: pages until there is no marker") {
            s in
            for part in ["a", "b", "c"] {
                try await s.modify(operation("create", s.name(part), type: s.type, [:]))
            }
            var names: [String] = []
            var extra: JSONValue = ["resultsLimit": 2]
            for _ in 0..<3 {
                let page = try await s.query(nil, extra)
                names += page.names
                guard let marker = page.json["continuationMarker"] else { break }
                #expect(marker.string != nil)
                extra = ["resultsLimit": 2, "continuationMarker": marker]
            }
            #expect(names.sorted() == ["a", "b", "c"].map(s.name))
        }
        rows.row("query, desiredKeys and numbersAsStrings: what is answered of the fields") { s in
            try await s.modify(
                operation("create", s.name("a"), type: s.type, ["n": number(7), "t": text("x")]))
            let answer = try await s.query(nil, ["desiredKeys": ["n"], "numbersAsStrings": true])
            #expect(answer.at("records.0.fields").keys == ["n"])
            #expect(answer.at("records.0.fields.n.value") == "7")
        }
        rows.row("query, syncToken: with getCurrentSyncToken only") { s in
            try await s.modify(operation("create", s.name("a"), type: s.type, [:]))
            #expect(try await s.query().json["syncToken"] == nil)
            let asked = try await s.query(nil, ["getCurrentSyncToken": true])
            let feed = try await s.server.changes(s.zone, since: asked.at("syncToken").string)
            #expect(feed.names == [])
        }
    }

    private static func lookup(_ rows: inout ConformanceRows) {
        rows.row("lookup, records: required, with recordName in each") { s in
            #expect(try await s.call(.recordsLookup).code == "BAD_REQUEST")
            let answer = try await s.call(.recordsLookup, .private, ["records": [[:]]])
            #expect(answer.code == "BAD_REQUEST")
            #expect(answer.at("reason").words.contains("records[0]"))
        }
        rows.row("lookup, records: an item for each, in order, NOT_FOUND for a missing one") { s in
            try await s.modify(create(s.name("b")), create(s.name("a")))
            let answer = try await s.server.lookup(
                s.zone, s.name("a"), s.name("none"), s.name("b"))
            #expect(answer.status == 200)
            #expect(answer.names == ["a", "none", "b"].map(s.name))
            #expect(answer.results == ["saved", "NOT_FOUND", "saved"])
        }
        rows.row("lookup, zoneID: the default zone without it") { s in
            try await s.modify(create(s.name("a")))
            #expect(try await s.server.lookup(nil, s.name("a")).results == ["NOT_FOUND"])
        }
        rows.row("lookup, desiredKeys: of the request, and of one record before it") { s in
            let fields: JSONValue = ["title": text("x"), "n": number(1)]
            try await s.modify(create(s.name("a"), fields), create(s.name("b"), fields))
            let answer = try await s.call(
                .recordsLookup, .private,
                [
                    "zoneID": s.zoneID, "desiredKeys": ["n"], "numbersAsStrings": true,
                    "records": [
                        ["recordName": s.json("a"), "desiredKeys": ["title"]],
                        ["recordName": s.json("b")],
                    ],
                ])
            #expect(answer.at("records.0.fields").keys == ["title"])
            #expect(answer.at("records.1.fields") == ["n": ["value": "1", "type": "INT64"]])
        }
    }

    private static func creates(_ rows: inout ConformanceRows) {
        rows.row("modify, create: a new record, with recordType") { s in
            let made = try await s.modify(create(s.name("a"), ["title": text("x")]))
            #expect(made.results == ["saved"])
            #expect(made.at("records.0.fields") == ["title": text("x")])
            let without = try await s.modify(operation("create", s.name("b"), type: nil))
            #expect(without.results == ["BAD_REQUEST"])
            #expect(without.reasons.first?.contains("recordType") == true)
        }
        rows.row("modify, create: CONFLICT if the name is taken, with the record") { s in
            try await s.modify(create(s.name("a"), ["title": text("x")]))
            let again = try await s.modify(create(s.name("a"), ["title": text("y")]))
            #expect(again.status == 200)
            #expect(again.results == ["CONFLICT"])
            #expect(again.at("records.0.serverRecord.fields.title") == text("x"))
            #expect(try await s.record(s.name("a")).at("fields.title") == text("x"))
        }
    }

    private static func updates(_ rows: inout ConformanceRows) {
        for (type, title) in [("update", "old"), ("replace", nil as String?)] {
            rows.row("modify, \(type): omitted fields \(title == nil ? "become null" : "stay")") {
                s in
                let fields: JSONValue = ["title": text("old"), "n": number(1)]
                let made = try await s.modify(create(s.name("a"), fields))
                let answer = try await s.modify(
                    operation(type, s.name("a"), type: nil, ["n": number(2)], tag: made.tag()))
                #expect(answer.results == ["saved"])
                #expect(answer.at("records.0.fields.n") == number(2))
                let now = try await s.record(s.name("a"))
                #expect(now.at("fields")["title"] == title.map { text($0) })
                #expect(now.at("recordChangeTag").words != made.tag())
            }
            rows.row("modify, \(type): CONFLICT with serverRecord on a tag mismatch") { s in
                let made = try await s.modify(create(s.name("a")))
                let now = try await s.modify(force(s.name("a"), ["title": text("x")]))
                let answer = try await s.modify(
                    operation(type, s.name("a"), type: nil, [:], tag: made.tag()))
                #expect(answer.results == ["CONFLICT"])
                #expect(answer.at("records.0.serverRecord") == now.at("records.0"))
                #expect(try await s.record(s.name("a")) == now.at("records.0"))
            }
            rows.row("modify, \(type): CONFLICT without a tag") { s in
                try await s.modify(create(s.name("a")))
                let answer = try await s.modify(operation(type, s.name("a"), type: nil, [:]))
                #expect(answer.results == ["CONFLICT"])
            }
            rows.row("modify, \(type): NOT_FOUND if the record is gone") { s in
                let made = try await s.modify(create(s.name("a")))
                try await s.modify(delete(s.name("a")))
                let answer = try await s.modify(
                    operation(type, s.name("a"), type: nil, [:], tag: made.tag()))
                #expect(answer.results == ["NOT_FOUND"])
            }
        }
    }

    private static func forces(_ rows: inout ConformanceRows) {
        for (type, kept) in [("forceUpdate", true), ("forceReplace", false)] {
            rows.row("modify, \(type): creates if absent, with recordType") { s in
                let made = try await s.modify(
                    operation(type, s.name("a"), ["title": text("x")]))
                #expect(made.results == ["saved"])
                let without = try await s.modify(operation(type, s.name("b"), type: nil))
                #expect(without.results == ["BAD_REQUEST"])
            }
            rows.row("modify, \(type): ignores conflicts") { s in
                try await s.modify(create(s.name("a"), ["title": text("x")]))
                let answer = try await s.modify(
                    operation(type, s.name("a"), ["n": number(1)], tag: "stale"))
                #expect(answer.results == ["saved"])
                let fields = answer.at("records.0.fields").keys
                #expect(fields == (kept ? ["n", "title"] : ["n"]))
            }
        }
    }

    private static func deletes(_ rows: inout ConformanceRows) {
        rows.row("modify, delete: with its tag, acknowledged by recordName and deleted") { s in
            let made = try await s.modify(create(s.name("a")))
            let gone = try await s.modify(
                operation("delete", s.name("a"), type: nil, tag: made.tag()))
            #expect(gone.at("records.0") == ["recordName": s.json("a"), "deleted": true])
            #expect(try await s.record(s.name("a")).at("serverErrorCode") == "NOT_FOUND")
        }
        rows.row("modify, delete: CONFLICT on a tag mismatch, NOT_FOUND if gone") { s in
            let made = try await s.modify(create(s.name("a")))
            try await s.modify(force(s.name("a"), ["title": text("x")]))
            let stale = operation("delete", s.name("a"), type: nil, tag: made.tag())
            #expect(try await s.modify(stale).results == ["CONFLICT"])
            try await s.modify(delete(s.name("a")))
            #expect(try await s.modify(stale).results == ["NOT_FOUND"])
        }
        rows.row("modify, forceDelete: by name alone, also of what is not there") { s in
            try await s.modify(create(s.name("a")))
            #expect(try await s.modify(delete(s.name("a"))).results == ["deleted"])
            #expect(try await s.modify(delete(s.name("a"))).results == ["deleted"])
        }
    }

    private static func batches(_ rows: inout ConformanceRows) {
        rows.row("modify, operations: required, one for each record, in array order") { s in
            #expect(try await s.call(.recordsModify).code == "BAD_REQUEST")
            let answer = try await s.modify(
                atomic: false, create(s.name("a")), force(s.name("a")), create(s.name("b")))
            #expect(answer.results == ["saved", "BAD_REQUEST", "saved"])
            #expect(answer.names == ["a", "a", "b"].map(s.name))
        }
        rows.row("modify, operationType: an unknown one is refused") { s in
            let answer = try await s.modify(operation("upsert", s.name("a")))
            #expect(answer.results == ["BAD_REQUEST"])
        }
        rows.row("modify, atomic: by default in a custom zone, the others ATOMIC_ERROR") { s in
            try await s.modify(create(s.name("a")))
            for atomic in [nil, true] {
                let answer = try await s.modify(
                    atomic: atomic, create(s.name("b")), create(s.name("a")))
                #expect(answer.status == 200)
                #expect(answer.results == ["ATOMIC_ERROR", "CONFLICT"])
            }
            #expect(try await s.record(s.name("b")).at("serverErrorCode") == "NOT_FOUND")
        }
        rows.row("modify, atomic: false saves the others") { s in
            try await s.modify(create(s.name("a")))
            let answer = try await s.modify(
                atomic: false, create(s.name("b")), create(s.name("a")))
            #expect(answer.results == ["saved", "CONFLICT"])
        }
        rows.row("modify, atomic: no effect in the default zone and the public database") { s in
            for scope in [DatabaseScope.private, .public] {
                try await s.server.modify(nil, scope: scope, create(s.name("a")))
                let answer = try await s.server.modify(
                    nil, scope: scope, create(s.name("b")), create(s.name("a")))
                #expect(answer.results == ["saved", "CONFLICT"])
            }
        }
        rows.row("modify, desiredKeys and numbersAsStrings: what is echoed, not saved") { s in
            let fields: JSONValue = ["title": text("x"), "n": number(1)]
            let answer = try await s.call(
                .recordsModify, .private,
                [
                    "zoneID": s.zoneID, "operations": [create(s.name("a"), fields)],
                    "desiredKeys": ["n"], "numbersAsStrings": true,
                ])
            #expect(answer.at("records.0.fields") == ["n": ["value": "1", "type": "INT64"]])
            #expect(try await s.record(s.name("a")).at("fields") == fields)
        }
        rows.row("modify, zoneID: an unknown zone is ZONE_NOT_FOUND") { s in
            let answer = try await s.server.modify(s.name("none"), create(s.name("a")))
            #expect(answer.status == 404)
            #expect(answer.code == "ZONE_NOT_FOUND")
        }
    }

    private static func changes(_ rows: inout ConformanceRows) {
        rows.row("records/changes: zoneID, required; records, moreComing, syncToken") { s in
            #expect(try await s.call(.recordsChanges).code == "BAD_REQUEST")
            for part in ["a", "b", "c"] { try await s.modify(create(s.name(part))) }
            let body: JSONValue = ["zoneID": s.zoneID, "resultsLimit": 2]
            let first = try await s.call(.recordsChanges, .private, body)
            #expect(first.names == ["a", "b"].map(s.name))
            #expect(first.at("moreComing") == true)
            let rest = try await s.call(
                .recordsChanges, .private, body.with("syncToken", first.at("syncToken")))
            #expect(rest.names == [s.name("c")])
            #expect(rest.at("moreComing") == false)
        }
        rows.row("records/changes, desiredKeys, numbersAsStrings and reverse") { s in
            let fields: JSONValue = ["title": text("x"), "n": number(1)]
            try await s.modify(create(s.name("a"), fields))
            try await s.modify(create(s.name("b"), fields))
            let answer = try await s.call(
                .recordsChanges, .private,
                [
                    "zoneID": s.zoneID, "desiredKeys": ["n"], "numbersAsStrings": true,
                    "reverse": true,
                ])
            #expect(answer.names == ["b", "a"].map(s.name))
            #expect(answer.at("records.0.fields") == ["n": ["value": "1", "type": "INT64"]])
        }
        rows.row("records/changes, private and shared only") { s in
            let answer = try await s.call(.recordsChanges, .public, ["zoneID": s.zoneID])
            #expect(answer.status == 400)
        }
    }

    private static func guids(_ rows: inout ConformanceRows) {
        rows.row("resolve previews and accept joins: the zone appears in shared") { s in
            try await s.modify(create(s.name("r")))
            let made = try await s.modify(
                TestServer.shareOperation(s.name("r"), with: [.bob: "READ_WRITE"]),
                force(s.name("r")))
            let body: JSONValue = ["shortGUIDs": [["value": made.at("records.0.shortGUID")]]]
            let zone: JSONValue = ["zones": [TestServer.zone(s.zone, of: .alice)]]
            let preview = try await s.call(.recordsResolve, .public, as: .bob, body)
            #expect(preview.at("results.0.participantStatus") == "INVITED")
            let before = try await s.call(.zonesLookup, .shared, as: .bob, zone)
            #expect(before.at("zones.0.serverErrorCode") == "ZONE_NOT_FOUND")
            let joined = try await s.call(.recordsAccept, .public, as: .bob, body)
            #expect(joined.at("results.0.participantStatus") == "ACCEPTED")
            let after = try await s.call(.zonesLookup, .shared, as: .bob, zone)
            #expect(after.at("zones.0.zoneID.zoneName") == JSONValue(s.zone))
        }
        rows.row("resolve and accept: under public only, for a user only") { s async throws in
            let body: JSONValue = ["shortGUIDs": [["value": "x"]]]
            for endpoint in [Endpoint.recordsResolve, .recordsAccept] {
                #expect(try await s.call(endpoint, .private, body).status == 400)
                #expect(try await s.call(endpoint, .public, as: .anonymous, body).status == 421)
            }
        }
    }
}
