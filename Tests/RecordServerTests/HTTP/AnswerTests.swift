import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// What all answers have in common.
@Suite("Answers", .serialized) struct AnswerTests {
    private func name(_ text: String) throws -> HTTPField.Name {
        try #require(HTTPField.Name(text))
    }

    @Test(
        "an answer carries request id, version, CORS and a successor token",
        arguments: TestServer.Transport.allCases)
    func headers(transport: TestServer.Transport) async throws {
        let server = try await TestServer(transport)
        let first = try await server.token(of: .alice)
        let answer = try await server.call(.zonesList)
        #expect(answer.status == 200)
        #expect(answer.headers[.contentType] == "application/json; charset=utf-8")
        #expect(answer.headers[try name("x-apple-request-uuid")]?.count == 36)
        #expect(answer.headers[try name("x-apple-cloudkit-version")] == "1.0")
        #expect(answer.headers[.accessControlAllowOrigin] == "*")
        #expect(
            answer.headers[.accessControlExposeHeaders]?.contains(
                "X-Apple-CloudKit-Web-Auth-Token") == true)
        #expect(answer.headers[.cacheControl] == "no-store")
        #expect(answer.headers[.xContentTypeOptions] == "nosniff")
        #expect(answer.headers[.date] == "Fri, 15 Jan 2027 08:00:00 GMT")
        let next = answer.headers[try name("X-Apple-CloudKit-Web-Auth-Token")]
        #expect(next != nil && next != first.string)
    }

    @Test("an operation that fails carries the successor token as well")
    func successorOfFailure() async throws {
        let server = try await TestServer()
        let answer = try await server.call(.recordsQuery, .private, ["query": 7])
        #expect(answer.status == 400)
        #expect(answer.headers[try name("X-Apple-CloudKit-Web-Auth-Token")] != nil)
    }

    @Test("an error's body has uuid, code and reason, and the uuid of the header")
    func errorBody() async throws {
        let server = try await TestServer()
        let answer = try await server.call(.zonesList, .private, as: .nobody)
        #expect(answer.status == 401)
        #expect(answer.code == "AUTHENTICATION_FAILED")
        #expect(
            answer.json["uuid"]?.string?.string
                == answer.headers[try name("x-apple-request-uuid")])
        #expect(answer.json["reason"]?.string?.isEmpty == false)
    }

    @Test("without a user a private operation is answered 421 with the address of sign-in")
    func signIn() async throws {
        let server = try await TestServer()
        let answer = try await server.call(.zonesList, .private, as: .anonymous)
        #expect(answer.status == 421)
        #expect(answer.code == "AUTHENTICATION_REQUIRED")
        #expect(
            answer.json["redirectURL"]?.string?.string.hasPrefix("http://127.0.0.1:8080/") == true)
    }

    @Test(
        "OPTIONS is answered 200 on every path",
        arguments: [
            "/database/1/iCloud.org.example.app/development/private/records/query",
            "/device/1/iCloud.org.example.app/development/tokens/create", "/assets/up/x",
            "/courier/x", "/nothing",
        ])
    func preflight(path: String) async throws {
        let server = try await TestServer()
        let answer = try await server.request(.options, path)
        #expect(answer.status == 200)
        #expect(answer.body.isEmpty)
        #expect(
            answer.headers[.accessControlAllowMethods]?.contains("POST") == true
                || path == "/nothing")
        #expect(
            answer.headers[.accessControlAllowHeaders]?.contains(
                "X-Apple-CloudKit-Request-SignatureV1") == true)
    }

    @Test("a page for people has no CORS headers")
    func pages() async throws {
        let server = try await TestServer()
        let answer = try await server.request(.get, "/signed-out")
        #expect(answer.status == 200)
        #expect(answer.headers[.accessControlAllowOrigin] == nil)
    }

    @Test(
        "HEAD has the headers of GET and no body", arguments: TestServer.Transport.allCases)
    func head(transport: TestServer.Transport) async throws {
        let server = try await TestServer(transport)
        let get = try await server.request(.get, "/health")
        let head = try await server.request(.head, "/health")
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        #expect(head.headers[.contentLength] == get.headers[.contentLength])
    }

    @Test("a wrong method is answered 405 with those that are right")
    func methods() async throws {
        let server = try await TestServer()
        let query = "/database/1/iCloud.org.example.app/development/public/records/query"
        let post = try await server.request(.get, query)
        #expect(post.status == 405)
        #expect(post.headers[.allow] == "OPTIONS, POST")
        let list = "/database/1/iCloud.org.example.app/development/private/zones/list"
        let both = try await server.request(.delete, list)
        #expect(both.headers[.allow] == "GET, HEAD, OPTIONS, POST")
    }

    @Test("every operation that the table says takes GET takes it", arguments: Endpoint.allCases)
    func get(endpoint: Endpoint) async throws {
        let server = try await TestServer()
        let scope = try #require(endpoint.scopes.min { $0.rawValue < $1.rawValue })
        let target =
            "/database/1/iCloud.org.example.app/development/\(scope.rawValue)/"
            + endpoint.rawValue + (try await server.query(as: .alice))
        let answer = try await server.request(.get, target)
        #expect((answer.status != 405) == endpoint.acceptsGet)
    }

    @Test("device operations are answered under both paths, with and without a database")
    func device() async throws {
        let server = try await TestServer()
        let query = try await server.query(as: .alice)
        let body = Array(#"{"apnsEnvironment":"development"}"#.utf8)
        for path in [
            "/device/1/iCloud.org.example.app/development/tokens/create",
            "/database/1/iCloud.org.example.app/development/tokens/create",
            "/database/1/iCloud.org.example.app/development/private/tokens/create",
        ] {
            let answer = try await server.request(.post, path + query, body: body)
            #expect(answer.status == 200, "\(path): \(answer.text)")
        }
    }

    @Test(
        "a body that is not one strict object of JSON is refused with its place",
        arguments: [
            #"{"zones":[],"zones":[]}"#, "[]", "nul", "{", "{} {}", #"{"a":1,}"#,
            "{\"a\":\"\u{1}\"}",
            #"{"a":"\ud800"}"#, #"{"a":01}"#, String(repeating: "[", count: 5_000),
        ])
    func strictBodies(text: String) async throws {
        let server = try await TestServer()
        let answer = try await server.request(
            .post, try await server.target(.zonesLookup), body: Array(text.utf8))
        #expect(answer.status == 400, "\(answer.text)")
        #expect(answer.code == "BAD_REQUEST")
    }

    @Test("X-Forwarded headers count from trusted proxies only")
    func proxies() async throws {
        let server = try await TestServer {
            $0.trustedProxies = [AddressRange("10.0.0.0/8"), AddressRange("::1")].compactMap { $0 }
        }
        let target = try await server.target(.zonesList, .private, as: .anonymous)
        let headers: HTTPFields = [
            try name("X-Forwarded-Proto"): "https",
            try name("X-Forwarded-Host"): "cloud.example.org",
            try name("X-Forwarded-For"): "198.51.100.7, 10.1.1.1",
        ]
        for (peer, expected) in [
            ("10.0.0.3", "https://cloud.example.org/"), ("::1", "https://cloud.example.org/"),
            ("192.0.2.1", "http://127.0.0.1:8080/"), ("11.0.0.3", "http://127.0.0.1:8080/"),
        ] {
            let answer = try await server.application.respond(
                .post, target, headers: headers, peer: peer)
            let url = try JSONParser.parse(answer.body)["redirectURL"]?.string?.string
            #expect(url?.hasPrefix(expected) == true, "\(peer): \(url ?? "")")
        }
    }

    @Test("the address of a client is the last one that no trusted proxy wrote")
    func clientAddress() async throws {
        let server = try await TestServer {
            $0.trustedProxies = [AddressRange("10.0.0.0/8")].compactMap { $0 }
            $0.rates.address = RateSettings.Bucket(perSecond: 1, burst: 1)
        }
        let target = try await server.target(.zonesList, .public, as: .nobody)
        for (peer, forwarded, status) in [
            ("10.0.0.1", "198.51.100.1", 401), ("10.0.0.1", "198.51.100.1", 429),
            // What the client itself sent before proves nothing.
            ("10.0.0.1", "203.0.113.1, 198.51.100.1", 429),
            ("10.0.0.1", "203.0.113.1, 198.51.100.1, 10.2.3.4", 429),
            ("10.0.0.1", "198.51.100.2", 401), ("10.0.0.1", "nonsense", 401),
            ("10.0.0.1", "nonsense", 429), ("192.0.2.1", "198.51.100.3", 401),
            ("192.0.2.1", "198.51.100.4", 429),
        ] {
            let answer = try await server.application.respond(
                .post, target, headers: [try name("X-Forwarded-For"): forwarded], peer: peer)
            #expect(answer.status == status, "\(peer) \(forwarded)")
        }
    }

    @Test("the public URL of the configuration is used whatever a request says")
    func publicURL() async throws {
        let server = try await TestServer {
            $0.publicURL = "https://records.example.org"
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
        }
        let answer = try await server.request(
            .post, try await server.target(.zonesList, .private, as: .anonymous),
            headers: [try name("X-Forwarded-Host"): "evil.example.org"])
        #expect(
            answer.json["redirectURL"]?.string?.string.hasPrefix("https://records.example.org/")
                == true)
    }

    @Test("the Host of a request is believed where it names this machine, and nowhere else")
    func hosts() async throws {
        let server = try await TestServer(.socket)
        let target = try await server.target(.zonesList, .private, as: .anonymous)
        for (host, expected) in [
            ("localhost:\(server.port)", "http://localhost:\(server.port)/"),
            ("[::1]:7", "http://[::1]:7/"), ("127.0.0.1", "http://127.0.0.1/"),
            ("evil.example.org", "http://127.0.0.1:0/"),
            ("localhost.evil.example.org", "http://127.0.0.1:0/"),
            ("127.0.0.1.evil.example.org:80", "http://127.0.0.1:0/"),
        ] {
            let answer = try await server.raw { port in
                let connection = try RawConnection(port: port)
                try connection.send(
                    "POST \(target) HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 0\r\n\r\n")
                return try connection.readAnswer()
            }
            let url = try JSONParser.parse(answer?.body ?? [])["redirectURL"]?.string?.string
            #expect(url?.hasPrefix(expected) == true, "\(host): \(url ?? "")")
        }
    }

    @Test("plain HTTP is taken from this machine and from proxies, else with a word only")
    func plainHTTP() async throws {
        for isInsecure in [false, true] {
            let server = try await TestServer {
                $0.isInsecure = isInsecure
                $0.trustedProxies = [AddressRange("10.0.0.0/8")].compactMap { $0 }
            }
            for (peer, isSafe) in [
                ("127.0.0.1", true), ("::1", true), ("10.1.2.3", true), ("192.0.2.1", false),
                ("", false),
            ] {
                for path in ["/health", "/sign-in"] {
                    let answer = try await server.application.respond(.get, path, peer: peer)
                    #expect(answer.status == (isSafe || isInsecure ? 200 : 403), "\(peer)")
                }
            }
        }
    }

    @Test("who came by https is told to come by nothing else, unless the operator minds")
    func transportSecurity() async throws {
        for (publicURL, seconds, expected) in [
            ("https://records.example.org", 31_536_000, "max-age=31536000"),
            ("https://records.example.org", 0, nil), ("http://records.example.org", 60, nil),
        ] as [(String, Int, String?)] {
            let server = try await TestServer {
                $0.publicURL = publicURL
                $0.hstsSeconds = seconds
            }
            for path in ["/health", "/sign-in", "/nothing"] {
                let answer = try await server.request(.get, path)
                #expect(answer.headers[.strictTransportSecurity] == expected)
            }
        }
    }
}
