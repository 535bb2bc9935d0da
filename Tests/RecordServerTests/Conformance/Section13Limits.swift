import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Conformance: limits", .serialized) struct ConformanceSection13 {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    static let rows = ConformanceRows.of(items, bytes, counts, times)

    @Test("the limits of the protocol are the defaults")
    func defaults() {
        let settings = ServiceSettings()
        #expect(settings.maximumItems == 200)
        #expect(settings.maximumResults == 200)
        #expect(settings.recordBytes == 1_000_000)
        #expect(settings.assetBytes >= 50_000_000)
        #expect(settings.deleteSelfSources == 750)
        #expect(settings.zonesPerDatabase == 1_000)
        #expect(settings.fieldsPerType == 256)
        #expect(settings.participantsPerShare == 100)
        #expect(settings.uploadURLSeconds == 15 * 60)
        #expect(AccountSettings().sessionSeconds == 30 * 60)
        #expect(AccountSettings().longSessionSeconds == 14 * 24 * 3600)
        #expect(AccountSettings().signedRequestSeconds == 10 * 60)
        #expect(HTTPLimits().bodyBytes >= 2_000_000)
    }

    /// Endpoints that take a list, the key of the list, and one element of it.
    private static let lists: [(Endpoint, DatabaseScope, String, @Sendable (Int) -> JSONValue)] = [
        (.recordsModify, .private, "operations", { create("limit-\($0)") }),
        (.recordsLookup, .private, "records", { ["recordName": JSONValue("n\($0)")] }),
        (
            .assetsUpload, .private, "tokens",
            { ["recordName": JSONValue("n\($0)"), "recordType": "Note", "fieldName": "photo"] }
        ),
        (
            .assetsRereference, .private, "assets",
            { ["recordName": JSONValue("n\($0)"), "fieldName": "photo"] }
        ),
        (.zonesLookup, .private, "zones", { ["zoneName": JSONValue("n\($0)")] }),
        (
            .zonesModify, .private, "operations",
            { ["operationType": "delete", "zone": ["zoneID": ["zoneName": JSONValue("n\($0)")]]] }
        ),
        (.changesZone, .private, "zones", { ["zoneID": ["zoneName": JSONValue("n\($0)")]] }),
        (
            .subscriptionsLookup, .private, "subscriptions",
            { ["subscriptionID": JSONValue("n\($0)")] }
        ),
        (
            .subscriptionsModify, .private, "operations",
            {
                [
                    "operationType": "delete",
                    "subscription": ["subscriptionID": JSONValue("n\($0)")],
                ]
            }
        ),
        (.recordsResolve, .public, "shortGUIDs", { ["value": JSONValue("n\($0)")] }),
        (.recordsAccept, .public, "shortGUIDs", { ["value": JSONValue("n\($0)")] }),
        (
            .usersDiscover, .public, "lookupInfos",
            { ["emailAddress": JSONValue("n\($0)@example.org")] }
        ),
    ]

    private static func items(_ rows: inout ConformanceRows) {
        for (endpoint, scope, key, element) in lists {
            rows.row("200 in \(endpoint.rawValue), 201 are LIMIT_EXCEEDED") { s in
                func body(_ count: Int) -> JSONValue {
                    let list = JSONValue.array((0..<count).map(element))
                    let zone: JSONValue = ["zoneID": s.zoneID]
                    return zone.with(key, list)
                }
                let full = try await s.call(endpoint, scope, body(200))
                #expect(full.status == 200, "\(full.text.prefix(500))")
                let over = try await s.call(endpoint, scope, body(201))
                #expect(over.status == 413)
                #expect(over.code == "LIMIT_EXCEEDED")
                #expect(over.at("reason").words.contains("200"))
                #expect(over.at("reason").words.contains(key))
            }
        }
    }

    private static func bytes(_ rows: inout ConformanceRows) {
        rows.row("record size: at the limit, and one byte above") { s in
            let server = try await s.own { $0.service.recordBytes = 1_000 }
            func save(_ size: Int) async throws -> TestServer.Answer {
                let title = String(repeating: "x", count: size)
                return try await server.modify(nil, create("n\(size)", ["title": text(title)]))
            }
            #expect(try await save(1_000).results == ["saved"])
            let over = try await save(1_001)
            #expect(over.results == ["LIMIT_EXCEEDED"])
            #expect(over.reasons.first?.contains("1000 bytes") == true)
        }
        rows.row("asset file: at the limit, and one byte above") { s in
            let server = try await s.own { $0.service.assetBytes = 1_000 }
            try await server.makeZone(s.zone)
            for (size, status) in [(1_000, 200), (1_001, 413)] {
                let url = try await ConformanceAsset.token(s, "a", on: server).at("tokens.0.url")
                let answer = try await server.request(
                    .post, try AssetFixture.path(url.string ?? ""),
                    body: [UInt8](repeating: 7, count: size))
                #expect(answer.status == status)
                if status == 413 { #expect(answer.at("reason").words.contains("1000 bytes")) }
            }
        }
        rows.row("request bytes: at the limit, and one byte above") { s in
            let server = try await s.own { $0.limits.bodyBytes = 1_000 }
            let path = try await server.target(.zonesList)
            for (size, status) in [(1_000, 200), (1_001, 413)] {
                let body = Array("{}".utf8) + [UInt8](repeating: 0x20, count: size - 2)
                let answer = try await server.request(.post, path, body: body)
                #expect(answer.status == status, "\(answer.text)")
                if status == 413 { #expect(answer.at("reason").words.contains("1000 bytes")) }
            }
        }
        rows.row("quota: what fits, and one byte above") { s in
            let empty = #"{"title":{"value":"","type":"STRING"}}"#.utf8.count
            let server = try await s.own { $0.service.quotaBytes = 1_000 }
            func save(_ size: Int) async throws -> TestServer.Answer {
                let title = String(repeating: "x", count: size - empty)
                return try await server.modify(nil, create("a", ["title": text(title)]))
            }
            let over = try await save(1_001)
            #expect(over.results == ["QUOTA_EXCEEDED"])
            #expect(over.reasons.first?.contains("1000 bytes") == true)
            #expect(try await save(1_000).results == ["saved"])
        }
    }

    private static func counts(_ rows: inout ConformanceRows) {
        rows.row("DELETE_SELF sources of one target") { s in
            let server = try await s.own { $0.service.deleteSelfSources = 2 }
            let source: JSONValue = ["r": reference("t", "DELETE_SELF")]
            let made = try await server.modify(
                nil, create("t"), create("a", source), create("b", source))
            #expect(made.results == ["saved", "saved", "saved"])
            let over = try await server.modify(nil, create("c", source))
            #expect(over.results == ["LIMIT_EXCEEDED"])
            #expect(over.reasons.first?.contains("at most 2 records") == true)
        }
        rows.row("record zones") { s in
            let server = try await s.own { $0.service.zonesPerDatabase = 2 }
            for name in ["A", "B"] {
                #expect(try await server.makeZone(name).at("zones.0.atomic") == true)
            }
            let over = try await server.makeZone("C")
            #expect(over.at("zones.0.serverErrorCode") == "LIMIT_EXCEEDED")
            #expect(over.at("zones.0.reason").words.contains("2 zones"))
        }
        rows.row("fields of a record type") { s in
            let server = try await s.own { $0.service.fieldsPerType = 2 }
            let made = try await server.modify(nil, create("a", ["x": number(1), "y": number(1)]))
            #expect(made.results == ["saved"])
            let over = try await server.modify(nil, create("b", ["z": number(1)]))
            #expect(over.results == ["LIMIT_EXCEEDED"])
            #expect(over.reasons.first?.contains("at most 2") == true)
        }
        rows.row("share participants, without the owner") { s in
            let server = try await s.own { $0.service.participantsPerShare = 1 }
            try await server.makeZone("Z")
            try await server.modify("Z", create("r"), create("q"))
            let made = try await server.modify(
                "Z", TestServer.shareOperation("r", with: [.bob: "READ_ONLY"]), force("r"))
            #expect(made.results == ["saved", "saved"])
            let people: [TestServer.Person: String] = [.bob: "READ_ONLY", .carol: "READ_ONLY"]
            let over = try await server.modify(
                "Z", TestServer.shareOperation("q", with: people), force("q"))
            #expect(over.results == ["TOO_MANY_PARTICIPANTS", "ATOMIC_ERROR"])
            #expect(over.reasons.first?.contains("1 participants") == true)
        }
        rows.row("request rate: THROTTLED with retryAfter") { s in
            let server = try await s.own {
                $0.rates.user = RateSettings.Bucket(perSecond: 0.5, burst: 2)
            }
            for status in [200, 200, 429] {
                #expect(try await server.call(.zonesList).status == status)
            }
            server.clock.advance(.seconds(2))
            #expect(try await server.call(.zonesList).status == 200)
        }
    }

    private static func times(_ rows: inout ConformanceRows) {
        for (stay, seconds) in [(false, 30 * 60), (true, 14 * 24 * 3600)] as [(Bool, Int)] {
            rows.row("web token life: \(seconds) seconds") { s in
                for (age, status) in [(seconds, 200), (seconds + 1, 421)] {
                    let server = try await s.own()
                    let token = try await server.authenticator.signIn(
                        TestServer.userName("a11ce"),
                        container: ContainerKey(
                            container: TestServer.container, environment: .development),
                        staySignedIn: stay, label: "test", now: server.clock.now)
                    let query = try await server.query(as: .anonymous)
                    let path =
                        "/database/1/\(TestServer.container)/development/private/zones/list"
                        + query + "&ckWebAuthToken=\(token)"
                    server.clock.advance(.seconds(age))
                    #expect(try await server.request(.get, path).status == status, "\(age)")
                }
            }
        }
        rows.row("upload URL life: 15 minutes") { s in
            for (age, isGood) in [(900, true), (901, false)] {
                let server = try await s.own()
                try await server.makeZone(s.zone)
                let url = try await ConformanceAsset.token(s, "a", on: server).at("tokens.0.url")
                server.clock.advance(.seconds(age))
                let answer = try await server.request(
                    .post, try AssetFixture.path(url.string ?? ""), body: [1])
                #expect((answer.status == 200) == isGood, "\(age): \(answer.text)")
            }
        }
        rows.row("signed-request age: 10 minutes, either way") { s in
            let signer = try await Signer(s)
            for (age, status) in [(600, 200), (601, 401), (-600, 200), (-601, 401)]
                as [(Int64, Int)]
            {
                let answer = try await signer.call(.zonesList, .public, [:], age: age)
                #expect(answer.status == status, "\(age): \(answer.text)")
            }
        }
    }
}
