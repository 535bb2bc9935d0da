import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Conformance: who may call what", .serialized) struct ConformanceSection2 {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    static let rows = ConformanceRows.of(anonymous, user, key)

    private static func anonymous(_ rows: inout ConformanceRows) {
        rows.row("API token only, public: what _world is granted, which is to read") { s in
            try await s.server.modify(
                nil, scope: .public, operation("create", s.name("a"), type: s.type, [:]))
            let found = try await s.server.lookup(
                nil, scope: .public, as: .anonymous, s.name("a"))
            #expect(found.results == ["saved"])
            let queried = try await s.call(
                .recordsQuery, .public, as: .anonymous,
                ["query": ["recordType": JSONValue(s.type)]])
            #expect(queried.names == [s.name("a")])
            let write = try await s.server.modify(
                nil, scope: .public, as: .anonymous, create(s.name("b")))
            #expect(write.status == 421)
        }
        for scope in [DatabaseScope.private, .shared] {
            rows.row("API token only, \(scope.rawValue): no") { s in
                for endpoint in Endpoint.allCases where endpoint.scopes.contains(scope) {
                    let answer = try await s.call(endpoint, scope, as: .anonymous)
                    #expect(answer.status == 421, "\(endpoint): \(answer.text)")
                }
            }
        }
        rows.row("API token only, users/*: no, 421 with redirectURL") { s in
            for endpoint in Endpoint.allCases where endpoint.rawValue.hasPrefix("users/") {
                let answer = try await s.call(endpoint, .public, as: .anonymous)
                #expect(answer.status == 421)
                #expect(answer.at("redirectURL").words.hasPrefix("http://"))
            }
        }
        rows.row("no credentials: nothing at all") { s async throws in
            for scope in DatabaseScope.allCases {
                #expect(try await s.call(.zonesList, scope, as: .nobody).status == 401)
            }
        }
    }

    private static func user(_ rows: inout ConformanceRows) {
        rows.row("API token and web auth token: public, private, shared and users/*") { s in
            for scope in DatabaseScope.allCases {
                #expect(try await s.call(.zonesList, scope).status == 200)
            }
            #expect(try await s.call(.usersCaller, .public).status == 200)
            let made = try await s.server.modify(nil, scope: .public, create(s.name("a")))
            #expect(made.results == ["saved"])
            #expect(
                made.at("records.0.created.userRecordName") == ConformanceScene.user(.alice))
        }
    }

    private static func key(_ rows: inout ConformanceRows) {
        rows.row("server-to-server key, public: yes, acts as who made the key") { s in
            let signer = try await Signer(s)
            let made = try await signer.call(
                .recordsModify, .public, ["operations": [create(s.name("a"))]])
            #expect(made.results == ["saved"], "\(made.text)")
            #expect(made.at("records.0.created.userRecordName") == ConformanceScene.user(.bob))
        }
        for scope in [DatabaseScope.private, .shared] {
            rows.row("server-to-server key, \(scope.rawValue): rejected") { s in
                let answer = try await Signer(s).call(.zonesList, scope, [:])
                #expect(answer.status == 403)
                #expect(answer.code == "ACCESS_DENIED")
            }
        }
        // Where Apple's text and the clients that exist differ, the clients are served.
        rows.row("server-to-server key, users/*: as its user, in the public database") { s in
            let signer = try await Signer(s)
            for endpoint in [Endpoint.usersCaller, .usersCurrent] {
                let answer = try await signer.call(endpoint, .public, [:])
                #expect(answer.at("userRecordName") == ConformanceScene.user(.bob))
            }
            for endpoint in Endpoint.allCases where endpoint.rawValue.hasPrefix("users/") {
                #expect(try await signer.call(endpoint, .private, [:]).status == 403)
                #expect(try await signer.call(endpoint, .public, [:]).code != "ACCESS_DENIED")
            }
        }
        rows.row("API token and signature must not be mixed") { s in
            let answer = try await Signer(s).call(
                .zonesList, .public, [:], query: try await s.server.query(as: .alice))
            #expect(answer.status == 401)
            #expect(answer.code == "AUTHENTICATION_FAILED")
        }
    }
}

/// Signs requests with a new key of bob's (CloudKit Web Services Reference,
/// Composing Web Service Requests).
struct Signer {
    private let server: TestServer
    private let key: SigningKey
    private let keyID: Text

    init(_ s: ConformanceScene) async throws { try await self.init(s.server) }

    init(_ server: TestServer) async throws {
        self.server = server
        key = try SigningKey()
        keyID = Text(SecureRandom.hex128() + SecureRandom.hex128())
        let row = ServerKeyRow(
            keyID: keyID,
            container: ContainerKey(container: TestServer.container, environment: .development),
            publicKeyPEM: try key.publicPEM, name: "test",
            user: TestServer.userName("b0b"), createdMilliseconds: 0)
        try await server.storage.write { (transaction) throws(ServerError) in
            try transaction.putServerKey(row)
        }
    }

    /// `age` is how many seconds ago the request was signed.
    func call(
        _ endpoint: Endpoint, _ scope: DatabaseScope, _ body: JSONValue, age: Int64 = 0,
        query: String = ""
    ) async throws -> TestServer.Answer {
        let path =
            "/database/1/\(TestServer.container)/development/\(scope.rawValue)/"
            + endpoint.rawValue
        let bytes = body.serialized()
        let seconds = server.clock.now.nanoseconds / 1_000_000_000 - age
        let printed = ISO8601.print(milliseconds: seconds * 1000)
        let date = printed.prefix { $0 != "." && $0 != "Z" } + "Z"
        let hash = Base64.encode(SHA256.digest(of: bytes))
        let message = "\(date):\(String(decoding: hash, as: UTF8.self)):\(path)"
        let signature = try key.signature(for: Array(message.utf8))
        var headers: HTTPFields = [:]
        for (name, value) in [
            ("KeyID", keyID.string), ("ISO8601Date", String(date)),
            (
                "SignatureV1",
                String(decoding: Base64.encode(signature), as: UTF8.self)
            ),
        ] {
            headers[try #require(HTTPField.Name("X-Apple-CloudKit-Request-" + name))] = value
        }
        return try await server.request(.post, path + query, headers: headers, body: bytes)
    }
}
