import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Conformance: URL space and transport", .serialized) struct ConformanceSection1 {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    static let rows = ConformanceRows.of(paths, methods, headers, extras, retries)

    private static let container = "iCloud.org.example.app"

    private static func post(_ s: ConformanceScene, _ path: String, _ body: String = "{}")
        async throws -> TestServer.Answer
    {
        try await s.server.request(
            .post, path + (try await s.server.query(as: .alice)), body: Array(body.utf8))
    }

    private static func zones(_ s: ConformanceScene) -> [UInt8] {
        let body: JSONValue = ["zones": [s.zoneID]]
        return body.serialized()
    }

    private static func paths(_ rows: inout ConformanceRows) {
        for endpoint in Endpoint.allCases {
            rows.row("/database/1/…/\(endpoint.rawValue): is there, where the table has it") {
                s in
                for scope in DatabaseScope.allCases {
                    let answer = try await post(
                        s,
                        "/database/1/\(container)/development/\(scope.rawValue)/"
                            + endpoint.rawValue)
                    #expect(answer.status != 404 && answer.status != 405, "\(answer.text)")
                    let isRefused = answer.text.contains("does not exist in the")
                    #expect(isRefused != endpoint.scopes.contains(scope), "\(answer.text)")
                }
            }
        }
        rows.row("/device/1/…/tokens/create and register") { s in
            for operation in ["create", "register"] {
                let path = "/device/1/\(container)/development/tokens/\(operation)"
                let answer = try await post(s, path, #"{"apnsEnvironment":"x"}"#)
                #expect(answer.status == 400, "\(answer.text)")
            }
        }
        rows.row("version: 1 and no other") { s async throws in
            for version in ["0", "2", "v1"] {
                let path = "/database/\(version)/\(container)/development/private/zones/list"
                #expect(try await post(s, path).status == 404)
            }
        }
        rows.row("container: case-sensitive, and must be the token's") { s async throws in
            for name in ["icloud.org.example.app", "iCloud.org.example.other"] {
                let path = "/database/1/\(name)/development/private/zones/list"
                #expect(try await post(s, path).code == "AUTHENTICATION_FAILED")
            }
        }
        rows.row("environment: development and production, with tokens of their own") { s in
            let both = try await s.server.call(.zonesList, environment: .production)
            #expect(both.status == 200)
            let other = "/database/1/\(container)/production/private/zones/list"
            #expect(try await post(s, other).status == 401)
            let none = "/database/1/\(container)/staging/private/zones/list"
            #expect(try await post(s, none).status == 400)
        }
        rows.row("database: public, private and shared") { s async throws in
            for scope in DatabaseScope.allCases {
                #expect(try await s.call(.zonesList, scope).status == 200)
            }
            let none = "/database/1/\(container)/development/secret/zones/list"
            #expect(try await post(s, none).status == 400)
        }
    }

    private static func methods(_ rows: inout ConformanceRows) {
        let gets: [Endpoint] = [
            .zonesList, .subscriptionsList, .usersCurrent, .usersCaller, .usersDiscover,
        ]
        for endpoint in gets {
            rows.row("\(endpoint.rawValue): GET and POST") { s in
                let scope: DatabaseScope = endpoint.scopes.contains(.private) ? .private : .public
                let path = try await s.path(endpoint, scope)
                #expect(try await s.server.request(.get, path).status == 200)
                #expect(try await s.call(endpoint, scope, ["lookupInfos": []]).status == 200)
            }
        }
        rows.row("the others: POST only, else 405") { s in
            for endpoint in Endpoint.allCases where !endpoint.acceptsGet && !endpoint.isDevice {
                let answer = try await s.server.request(.get, try await s.path(endpoint))
                #expect(answer.status == 405, "\(endpoint)")
            }
        }
        for type in ["application/json", "text/plain", "application/x-unknown", nil as String?] {
            rows.row("content type \(type ?? "none"): taken") { s in
                var headers: HTTPFields = [:]
                headers[.contentType] = type
                let answer = try await s.server.request(
                    .post, try await s.path(.zonesLookup), headers: headers, body: zones(s))
                #expect(answer.status == 200)
                #expect(answer.at("zones.0.zoneID.zoneName") == JSONValue(s.zone))
            }
        }
    }

    private static func headers(_ rows: inout ConformanceRows) {
        rows.row("x-apple-request-uuid: new with each answer") { s in
            let name = try #require(HTTPField.Name("x-apple-request-uuid"))
            let first = try await s.call(.zonesList).headers[name]
            #expect(first?.count == 36)
            #expect(try await s.call(.zonesList).headers[name] != first)
        }
        rows.row("x-apple-cloudkit-version: 1.0") { s in
            let name = try #require(HTTPField.Name("x-apple-cloudkit-version"))
            #expect(try await s.call(.zonesList).headers[name] == "1.0")
        }
        rows.row("access-control-expose-headers: uuid and web token") { s in
            let exposed = try await s.call(.zonesList).headers[.accessControlExposeHeaders] ?? ""
            #expect(exposed.lowercased().contains("x-apple-request-uuid"))
            #expect(exposed.lowercased().contains("x-apple-cloudkit-web-auth-token"))
        }
        rows.row("CORS: OPTIONS is answered 200 on every path") { s in
            for endpoint in Endpoint.allCases {
                let path = "/database/1/\(container)/development/public/\(endpoint.rawValue)"
                let answer = try await s.server.request(.options, path)
                #expect(answer.status == 200)
                #expect(answer.headers[.accessControlAllowOrigin] == "*")
                #expect(answer.headers[.accessControlAllowMethods]?.contains("POST") == true)
            }
        }
    }

    private static func extras(_ rows: inout ConformanceRows) {
        rows.row("unknown query parameters: ignored") { s in
            let path = try await s.path(
                .zonesList, .private, "&ckjsBuildVersion=1&ckjsVersion=2&clientId=a&x=y")
            #expect(try await s.server.request(.get, path).status == 200)
        }
        rows.row("remapEnums=true: the keys of iCloud's hosts") { s in
            let path = try await s.path(.zonesLookup, .private, "&remapEnums=true")
            let answer = try await s.server.request(
                .post, path, body: zones(s))
            #expect(answer.at("zones.0").keys == ["syncToken", "zoneID"])
        }
        rows.row("getCurrentSyncToken=true: a syncToken of query, lookup and modify") { s in
            try await s.modify(operation("create", s.name("a"), type: s.type, [:]))
            let bodies: [(Endpoint, JSONValue)] = [
                (.recordsQuery, ["query": ["recordType": JSONValue(s.type)]]),
                (.recordsLookup, ["records": [["recordName": s.json("a")]]]),
                (.recordsModify, ["operations": [force(s.name("b"))]]),
            ]
            for (endpoint, body) in bodies {
                let path = try await s.path(endpoint, .private, "&getCurrentSyncToken=true")
                let answer = try await s.server.request(
                    .post, path, body: body.with("zoneID", s.zoneID).serialized())
                #expect(answer.at("syncToken").string != nil, "\(endpoint): \(answer.text)")
            }
        }
    }

    private static func retries(_ rows: inout ConformanceRows) {
        rows.row("no idempotency key: a retried create meets CONFLICT") { s async throws in
            let operation = create(s.name("a"))
            #expect(try await s.modify(operation).results == ["saved"])
            #expect(try await s.modify(operation).results == ["CONFLICT"])
        }
        rows.row("no idempotency key: a retried update meets CONFLICT") { s in
            let made = try await s.modify(create(s.name("a")))
            let operation = update(s.name("a"), ["title": text("x")], tag: made.tag())
            #expect(try await s.modify(operation).results == ["saved"])
            #expect(try await s.modify(operation).results == ["CONFLICT"])
        }
    }
}
