import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("The sign-in page")
struct SignInPageTests {
    private static let aliceName = TestServer.Person.alice.user.map { $0.description }

    @Test("the redirect flow ends at the registered URL with a token that is good")
    func redirect() async throws {
        let server = try await TestServer.withPasswords()
        let visitor = Visitor(server)
        let page = try await visitor.get(try await server.signInPath())
        #expect(page.status == 200)
        #expect(page.text.contains("iCloud.org.example.app"))
        let answer = try await visitor.signIn(page)
        #expect(answer.status == 303)
        let location = try #require(answer.location)
        let prefix = "https://app.example.org/signed-in?ckWebAuthToken="
        #expect(location.hasPrefix(prefix))
        let caller = try await server.caller(String(location.dropFirst(prefix.count)))
        #expect(caller == Self.aliceName)
    }

    @Test("a wrong password and an unknown address get the same page and no session")
    func wrongPassword() async throws {
        let server = try await TestServer.withPasswords()
        let visitor = Visitor(server)
        var texts: Set<String> = []
        for (email, password) in [
            ("alice@example.org", "wrong horse"), ("nobody@example.org", "correct horse"),
            ("alice@example.org", ""),
        ] {
            let page = try await visitor.get("/sign-in")
            let answer = try await visitor.signIn(page, email, password)
            #expect(answer.status == 403)
            #expect(answer.location == nil)
            let alert = answer.text.firstMatch(of: /<p class="error"[^>]*>([^<]*)/)
            texts.insert(String(try #require(alert).output.1))
            #expect(visitor.cookies["recordfs-session"] == nil)
        }
        #expect(texts.count == 1)
    }

    @Test("staying signed in makes the token last for two weeks")
    func staySignedIn() async throws {
        let server = try await TestServer.withPasswords()
        var tokens: [String] = []
        for stay in [false, true] {
            let visitor = Visitor(server)
            let page = try await visitor.get(try await server.signInPath())
            let answer = try await visitor.signIn(page, staySignedIn: stay)
            tokens.append(String(try #require(answer.location?.split(separator: "=").last)))
            let cookie = try #require(answer.setCookies.first { $0.hasPrefix("recordfs-session=") })
            #expect(cookie.contains("Max-Age=1209600") == stay)
        }
        server.clock.advance(.seconds(13 * 86_400))
        #expect(try await server.caller(tokens[0]) == nil)
        #expect(try await server.caller(tokens[1]) == Self.aliceName)
    }

    @Test("a device stays signed in until somebody ends it on the page of sign-ins")
    func device() async throws {
        let server = try await TestServer.withPasswords()
        let (apiToken, _) = try await server.accounts.createAPIToken(
            TestServer.development, name: "recordfs", callbackURL: CallbackURL.loopback,
            now: server.clock.now)
        let visitor = Visitor(server)
        let path =
            try await server.signInPath(apiToken: apiToken)
            + "&callback=http%3A%2F%2F127.0.0.1%3A1%2Fin&device=tower"
        let page = try await visitor.get(path)
        #expect(page.text.contains("on <strong>tower</strong> until you end"))
        let answer = try await visitor.signIn(page)
        let token = String(try #require(answer.location?.split(separator: "=").last))
        server.clock.advance(.seconds(400 * 86_400))
        let sessions = try await server.accounts.sessions(of: "alice@example.org")
        let session = try #require(sessions.first { $0.isOfDevice })
        #expect(session.label.string.contains("recordfs on tower, from "))
        #expect(
            try await server.caller(token, apiToken: apiToken) == Self.aliceName)
        try await server.accounts.revokeSession(session.id)
        #expect(try await server.caller(token, apiToken: apiToken) == nil)
    }

    @Test("a program that sends the form by itself makes one sign-in, and none of a browser")
    func program() async throws {
        let server = try await TestServer.withPasswords()
        let visitor = Visitor(server)
        let page = try await visitor.get(try await server.signInPath())
        let answer = try await visitor.submit(
            page, to: "/sign-in",
            [
                ("email", "alice@example.org"), ("password", "correct horse"), ("stay", "1"),
                ("program", "1"),
            ])
        let token = String(try #require(answer.location?.split(separator: "=").last))
        #expect(try await server.caller(token) == Self.aliceName)
        #expect(visitor.cookies["recordfs-session"] == nil)
        #expect(try await server.accounts.sessions(of: "alice@example.org").count == 1)
    }

    @Test("a page on the web gets no sign-in of a device")
    func noDeviceElsewhere() async throws {
        let server = try await TestServer.withPasswords()
        let visitor = Visitor(server)
        let page = try await visitor.get(try await server.signInPath() + "&device=tower")
        _ = try await visitor.signIn(page)
        let sessions = try await server.accounts.sessions(of: "alice@example.org")
        #expect(sessions.allSatisfy { !$0.isOfDevice })
    }

    @Test("who is signed in in this browser continues without the password")
    func knownUser() async throws {
        let server = try await TestServer.withPasswords()
        let visitor = Visitor(server)
        _ = try await visitor.signIn(try await visitor.get("/sign-in"))
        let path = try await server.signInPath()
        let page = try await visitor.get(path)
        #expect(page.text.contains("alice@example.org"))
        #expect(!page.text.contains("type=\"password\""))
        let answer = try await visitor.submit(page, to: "/sign-in")
        let token = String(try #require(answer.location?.split(separator: "=").last))
        #expect(try await server.caller(token) == Self.aliceName)
        let other = try await visitor.get(path + "&other=1")
        #expect(other.text.contains("type=\"password\""))
    }

    @Test("many failures are answered with 429 and the time to wait")
    func throttle() async throws {
        let server = try await TestServer.withPasswords()
        let visitor = Visitor(server)
        let page = try await visitor.get("/sign-in")
        for _ in 0..<10 {
            #expect(
                try await visitor.signIn(page, "alice@example.org", "wrong horse").status == 403)
        }
        let answer = try await visitor.signIn(page)
        #expect(answer.status == 429)
        #expect(answer.headers[.retryAfter] == "60")
        server.clock.advance(.seconds(60))
        #expect(try await visitor.signIn(page).status == 303)
    }

    @Test("strangers who guess do not keep an owner out of the browser that is known")
    func knownDevice() async throws {
        let server = try await TestServer.withPasswords {
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
        }
        let owner = Visitor(server, from: "192.0.2.1")
        _ = try await owner.signIn(try await owner.get("/sign-in"))
        _ = try await owner.submit(try await owner.get("/sessions"), to: "/sign-out")
        #expect(owner.cookies["recordfs-device"] != nil)
        // From the owner's own address and from many others.
        for network in 1...26 {
            let stranger = Visitor(server, from: "192.0.2.\(network)")
            let page = try await stranger.get("/sign-in")
            for _ in 0..<10 {
                _ = try await stranger.signIn(page, "alice@example.org", "wrong horse")
            }
        }
        let page = try await owner.get("/sign-in")
        #expect(try await owner.signIn(page).status == 303)
        // Repeated guesses take nothing from who comes from a place that has not guessed.
        let fresh = Visitor(server, from: "198.51.100.1")
        #expect(try await fresh.signIn(try await fresh.get("/sign-in")).status == 303)
    }

    @Test("a page that opened the window gets the token only at its own origin")
    func message() async throws {
        let server = try await TestServer.withPasswords()
        let origins: [Text] = ["https://a.example.org", "https://b.example.org"]
        let token = try await server.accounts.createAPIToken(
            TestServer.development, name: "web", allowedOrigins: origins, now: server.clock.now
        ).token
        for (origin, expected) in [
            (nil, "https://a.example.org https://b.example.org"),
            ("https://b.example.org", "https://b.example.org"),
        ] {
            let visitor = Visitor(server)
            let path = try await server.signInPath(apiToken: token, origin: origin)
            let answer = try await visitor.signIn(try await visitor.get(path))
            #expect(answer.status == 200)
            #expect(answer.text.contains("data-origins=\"\(expected)\""))
            let shown = try #require(answer.text.firstMatch(of: /data-token="([^"]*)"/)).output.1
            #expect(try await server.caller(String(shown), apiToken: token) == Self.aliceName)
            #expect(answer.text.contains("\(shown)</textarea>"))
        }
    }

    @Test("an API token for any origin gives the token only to the origin that asked")
    func anyOrigin() async throws {
        let server = try await TestServer.withPasswords()
        let token = try await server.accounts.createAPIToken(
            TestServer.development, name: "web", now: server.clock.now
        ).token
        let visitor = Visitor(server)
        let path = try await server.signInPath(apiToken: token, origin: "https://c.example.org")
        let page = try await visitor.get(path)
        #expect(page.text.contains("https://c.example.org"))
        let answer = try await visitor.signIn(page)
        #expect(answer.text.contains("data-origins=\"https://c.example.org\""))
        let other = Visitor(server)
        let unasked = try await other.get(try await server.signInPath(apiToken: token))
        #expect(try await other.signIn(unasked).text.contains("data-origins=\"\""))
    }

    @Test("a program on the machine gets the token at the port that it asks for, or by copying")
    func loopback() async throws {
        let server = try await TestServer.withPasswords()
        let token = try await server.accounts.createAPIToken(
            TestServer.development, name: "program", callbackURL: CallbackURL.loopback,
            now: server.clock.now
        ).token
        let path = try await server.signInPath(apiToken: token)
        let visitor = Visitor(server)
        let page = try await visitor.get(
            path + "&callback=http%3A%2F%2F127.0.0.1%3A4567%2Fdone%3Fstate%3D7")
        #expect(page.headers[.contentSecurityPolicy]?.contains("http://127.0.0.1:4567") == true)
        let answer = try await visitor.signIn(page)
        let prefix = "http://127.0.0.1:4567/done?state=7&ckWebAuthToken="
        #expect(answer.location?.hasPrefix(prefix) == true)
        let copied = Visitor(server)
        let shown = try await copied.signIn(try await copied.get(path))
        #expect(shown.status == 200)
        #expect(shown.text.contains("data-origins=\"\""))
        for bad in [
            "http://127.0.0.1.evil.example:80/", "http://127.0.0.1@evil.example/",
            "http://127.0.0.1/", "http://localhost:80/", "https://127.0.0.1:80/",
            "http://127.0.0.1:80\\@evil.example/", "http://evil.example/", "javascript:alert(1)",
        ] {
            let query = "&callback=" + QueryEncoding.encode(Array(bad.utf8))
            let refused = try await Visitor(server).get(path + query)
            #expect(refused.status == 400, "\(bad)")
        }
    }
}
