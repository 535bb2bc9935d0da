import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Conformance: Apple's text against the live server", .serialized)
struct ConformanceSection16 {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    static let rows = ConformanceRows.of(names, tags, rules)

    private static func names(_ rows: inout ConformanceRows) {
        for type in ["cloudkit.share", "cloudKit.share", "cloudKit.shared", "CLOUDKIT.SHARE"] {
            rows.row("share type: \(type) is taken, cloudkit.share is answered") { s in
                try await s.modify(create(s.name("r")))
                let made = try await s.modify(
                    operation(
                        "create", s.name("s"), type: type, [:],
                        ["forRecord": ["recordName": s.json("r")]]), force(s.name("r")))
                #expect(made.at("records.0.recordType") == "cloudkit.share", "\(made.text)")
            }
        }
        for key in ["metaSyncToken", "syncToken"] {
            rows.row("zones/changes token: \(key) is taken, both are answered") { s in
                let start = try await s.call(.zonesChanges)
                #expect(start.at("syncToken") == start.at("metaSyncToken"))
                let next = try await s.call(
                    .zonesChanges, .private,
                    .object([JSONMember(key: Text(key), value: start.at("syncToken"))]))
                #expect(next.at("zones") == [])
            }
        }
        for path in ["device", "database"] {
            rows.row("tokens/* path: under /\(path)/1") { s in
                let query = try await s.server.query(as: .alice)
                let answer = try await s.server.request(
                    .post,
                    "/\(path)/1/\(TestServer.container)/development/tokens/create\(query)",
                    body: Array(#"{"apnsEnvironment":"development"}"#.utf8))
                #expect(answer.status == 200, "\(answer.text)")
            }
        }
        for key in ["ownerRecordName", "ownerName"] {
            rows.row("zone owner key: \(key) is taken, ownerRecordName is answered") { s in
                let zone = s.zoneID.with(key, ConformanceScene.user(.alice))
                let answer = try await s.call(.zonesLookup, .private, ["zones": [zone]])
                #expect(
                    answer.at("zones.0.zoneID").keys
                        == ["ownerRecordName", "zoneName", "zoneType"])
            }
        }
        rows.row("users/caller shape: an array and the same at the top") { s in
            let answer = try await s.call(.usersCaller, .public)
            #expect(answer.at("users").count == 1)
            #expect(answer.at("userRecordName") == answer.at("users.0.userRecordName"))
        }
    }

    private static func tags(_ rows: inout ConformanceRows) {
        rows.row("asset type tag: ASSET is taken, ASSETID is answered") { s in
            let asset = try await ConformanceAsset.upload(s, s.name("a"), [1])
            let field: JSONValue = ["value": asset, "type": "ASSET"]
            let made = try await s.modify(create(s.name("a"), type: s.type, ["photo": field]))
            #expect(made.at("records.0.fields.photo.type") == "ASSETID", "\(made.text)")
        }
        for isPlain in [false, true] {
            rows.row("list tag: \(isPlain ? "LIST with the switch" : "X_LIST")") { s in
                let server = try await s.own { $0.service.plainListTags = isPlain }
                let field: JSONValue = ["value": ["a"], "type": "STRING_LIST"]
                let made = try await server.modify(nil, create("a", ["list": field]))
                let tag = made.at("records.0.fields.list.type")
                #expect(tag == (isPlain ? "LIST" : "STRING_LIST"))
            }
        }
        rows.row("asset max: 50 MB or more by default, configurable") { s in
            #expect(ServiceSettings().assetBytes >= 50_000_000)
            let server = try await s.own { $0.service.assetBytes = 2 }
            try await server.makeZone(s.zone)
            let url = try await ConformanceAsset.token(s, "a", on: server).at("tokens.0.url")
            let path = try AssetFixture.path(url.string ?? "")
            #expect(try await server.request(.post, path, body: [1, 2, 3]).status == 413)
        }
    }

    private static func rules(_ rows: inout ConformanceRows) {
        rows.row("web token: the one before is good for the grace window") { s in
            let server = try await s.own { $0.accounts.graceSeconds = 120 }
            let path = try await server.target(.zonesList)
            // The first call shows the successor, the second one uses it.
            for _ in 0..<2 { #expect(try await server.call(.zonesList).status == 200) }
            server.clock.advance(.seconds(119))
            #expect(try await server.request(.get, path).status == 200)
            server.clock.advance(.seconds(2))
            #expect(try await server.request(.get, path).status == 421)
        }
        rows.row("web token: single use without a grace window") { s in
            let server = try await s.own { $0.accounts.graceSeconds = 0 }
            let path = try await server.target(.zonesList)
            let name = try #require(HTTPField.Name("X-Apple-CloudKit-Web-Auth-Token"))
            let first = try await server.request(.get, path)
            #expect(first.status == 200)
            #expect(first.headers[name] != nil)
            #expect(try await server.request(.get, path).status == 421)
        }
        for isStrict in [false, true] {
            let result = isStrict ? "BAD_REQUEST" : "deleted"
            rows.row("delete without a tag: \(isStrict ? "strict" : "usual"), \(result)") { s in
                let server = try await s.own { $0.service.isStrict = isStrict }
                try await server.modify(nil, create("a"))
                let answer = try await server.modify(nil, operation("delete", "a", type: nil))
                #expect(answer.results == [result])
            }
        }
        rows.row("subscription zoneID: taken for type zone, and not needed") { s in
            let zone: JSONValue = ["subscriptionType": "zone", "zoneID": s.zoneID]
            let made = try await ConformancePush.create(s, zone)
            #expect(made.at("zoneID.zoneName") == JSONValue(s.zone))
            let without = try await ConformancePush.create(s, ["subscriptionType": "zone"])
            #expect(without.at("serverErrorCode") == .null)
            #expect(without.at("subscriptionType") == "zone")
        }
        for key in ["numberAsStrings", "numbersAsStrings"] {
            rows.row("\(key): taken") { s in
                try await s.modify(create(s.name("a"), ["n": number(1)]))
                let extra: JSONValue = .object([JSONMember(key: Text(key), value: true)])
                let feed = try await s.server.changes(s.zone, extra)
                #expect(feed.records.first?.at("fields.n.value") == "1")
            }
        }
        rows.row("desiredRecordTypes: types, not names") { s in
            try await s.modify(create(s.name("a")), create(s.name("b"), type: s.type))
            let byType = try await s.server.changes(
                s.zone, ["desiredRecordTypes": [JSONValue(s.type)]])
            #expect(byType.names == [s.name("b")])
            let byName = try await s.server.changes(s.zone, ["desiredRecordTypes": ["Other"]])
            #expect(byName.names == [])
        }
    }
}
