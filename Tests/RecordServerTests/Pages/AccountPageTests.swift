import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// What people do with their own account, in a browser.
@Suite("The pages of one's account")
struct AccountPageTests {
    private static let new = "four tall green trees"

    private func signedIn(_ server: TestServer, from address: String? = nil) async throws -> Visitor
    {
        let visitor = Visitor(server, from: address)
        #expect(try await visitor.signIn(try await visitor.get("/sign-in")).status == 303)
        return visitor
    }

    private func change(
        _ visitor: Visitor, from current: String = "correct horse", to new: String = new,
        again: String? = nil, others: Bool = true
    ) async throws -> Visitor.Page {
        try await visitor.submit(
            try await visitor.get("/password"), to: "/password",
            [("current", current), ("new", new), ("again", again ?? new)]
                + (others ? [("others", "1")] : []))
    }

    private func isGood(_ password: String, _ server: TestServer) async throws -> Bool {
        let visitor = Visitor(server)
        let page = try await visitor.get("/sign-in")
        return try await visitor.signIn(page, "alice@example.org", password).status == 303
    }

    // MARK: The password

    @Test("a person changes the password with the old one, which ends all other sign-ins")
    func change() async throws {
        let server = try await TestServer.withPasswords()
        let token = try await server.token(of: .alice)
        let other = try await signedIn(server)
        let visitor = try await signedIn(server)
        #expect(try await visitor.get("/sessions").text.contains("href=\"/password\""))
        #expect(try await change(visitor, from: "wrong horse").status == 403)
        #expect(try await change(visitor, to: "short").status == 400)
        #expect(try await change(visitor, again: "four tall green bees").status == 400)
        let common = try await change(visitor, to: "Password1234")
        #expect(common.status == 400 && common.text.contains("easy to guess"))
        #expect(try await isGood("correct horse", server))
        #expect(try await server.caller(token.string) != nil)
        #expect(try await change(visitor).location == "/sessions")
        #expect(try await !isGood("correct horse", server))
        #expect(try await isGood(Self.new, server))
        #expect(try await server.caller(token.string) == nil)
        #expect(try await other.get("/sessions").location == "/sign-in")
        let page = try await visitor.get("/sessions")
        #expect(page.status == 200 && page.text.contains("Password changed"))
    }

    @Test("a person may keep the other sign-ins, and a stranger changes nothing")
    func keep() async throws {
        let server = try await TestServer.withPasswords()
        let token = try await server.token(of: .alice)
        let visitor = try await signedIn(server)
        #expect(try await change(visitor, others: false).location == "/sessions")
        #expect(try await server.caller(token.string) != nil)
        let stranger = Visitor(server)
        #expect(try await stranger.get("/password").location == "/sign-in?next=/password")
        let page = try await stranger.get("/sign-in?next=/password")
        let next = try await stranger.signIn(page, "bob@example.org")
        #expect(next.location == "/password")
        #expect(
            try await visitor.post(
                "/password", [("current", Self.new), ("new", "x"), ("again", "x")]
            ).status == 403)
    }

    @Test("guesses of the old password in a browser that is left open are slowed down")
    func guesses() async throws {
        let server = try await TestServer.withPasswords()
        let visitor = try await signedIn(server)
        for number in 0..<30 {
            #expect(try await change(visitor, from: "guess \(number)").status == 403)
        }
        let answer = try await change(visitor)
        #expect(answer.status == 429 && answer.headers[.retryAfter] != nil)
    }

    @Test("a link of the operator sets a password once, within a day, and ends all sign-ins")
    func reset() async throws {
        let server = try await TestServer.withPasswords()
        let token = try await server.token(of: .alice)
        func link() async throws -> String {
            try await server.accounts.makePasswordReset(
                of: "alice@example.org", now: server.clock.now
            ).url(baseURL: "")
        }
        func use(_ link: String, _ password: String = Self.new) async throws -> Int {
            let visitor = Visitor(server)
            return try await visitor.submit(
                try await visitor.get(link), to: "/reset",
                [("new", password), ("again", password)]
            ).status
        }
        let first = try await link()
        let second = try await link()
        #expect(try await use(first) == 404)
        #expect(try await use(second, "password1") == 400)
        #expect(try await use(second + "0") == 404)
        #expect(try await use("/reset?code=AAAA.BBBB") == 404)
        #expect(try await isGood("correct horse", server))
        #expect(try await use(second) == 200)
        #expect(try await use(second, "another long one") == 404)
        #expect(try await isGood(Self.new, server))
        #expect(try await server.caller(token.string) == nil)
        let late = try await link()
        server.clock.advance(.seconds(24 * 3600 + 1))
        #expect(try await use(late) == 404)
        // A password that was chosen since ends the link.
        let unused = try await link()
        _ = try await server.accounts.setPassword(
            of: "alice@example.org", to: Array("correct horse".utf8), cost: .quick)
        #expect(try await use(unused) == 404)
    }

    // MARK: Sign-ins

    @Test("a person signs out everywhere, programs too")
    func everywhere() async throws {
        let server = try await TestServer.withPasswords()
        let token = try await server.token(of: .alice)
        let stranger = try await server.token(of: .bob)
        let other = try await signedIn(server)
        let visitor = try await signedIn(server)
        let page = try await visitor.get("/sessions")
        #expect(
            try await visitor.submit(page, to: "/sign-out-everywhere").location == "/sign-in")
        for browser in [visitor, other] {
            #expect(try await browser.get("/sessions").location == "/sign-in")
        }
        #expect(try await server.caller(token.string) == nil)
        #expect(try await server.caller(stranger.string) != nil)
        let again = try await signedIn(server)
        #expect(try await again.get("/sessions").text.contains("Signed out everywhere"))
    }

    @Test("a sign-in from a new place is at the top of the page, one from a known place is not")
    func newPlace() async throws {
        let server = try await TestServer.withPasswords {
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
        }
        let home = try await signedIn(server, from: "192.0.2.1")
        server.clock.advance(.seconds(15 * 86_400))
        _ = try await home.signIn(try await home.get("/sign-in"))
        let quiet = try await home.get("/sessions")
        #expect(!quiet.text.contains("from a new place:"))
        #expect(quiet.text.contains("What happened to your account"))
        // Another browser at the address is no new place.
        let second = try await signedIn(server, from: "192.0.2.1")
        #expect(try await !second.get("/sessions").text.contains("from a new place:"))
        _ = try await signedIn(server, from: "203.0.113.9")
        let told = try await home.get("/sessions")
        #expect(told.text.contains("from a new place:"))
        #expect(told.text.contains("203.0.113.9"))
        let others = try await server.accounts.events(of: "bob@example.org")
        #expect(!others.contains { $0.kind == .signedIn })
    }

    @Test(
        "the log has who signs in from where and how it ended, nothing typed; the metrics count it")
    func log() async throws {
        let log = LogCollector()
        let server = try await TestServer(logger: log.logger) {
            $0.accounts.passwordCost = .quick
            $0.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
        }
        _ = try await server.accounts.setPassword(
            of: "alice@example.org", to: Array("correct horse".utf8), cost: .quick)
        let visitor = Visitor(server, from: "203.0.113.9")
        let page = try await visitor.get("/sign-in")
        for _ in 0..<10 { _ = try await visitor.signIn(page, "alice@example.org", "my secret one") }
        _ = try await visitor.signIn(page, "my other secret", "correct horse")
        #expect(try await visitor.signIn(page).status == 429)
        let other = Visitor(server, from: "203.0.113.10")
        _ = try await other.signIn(try await other.get("/sign-in"))
        let alice = try #require(TestServer.Person.alice.user).description
        let lines = log.lines.filter { $0.hasPrefix("sign-in ") }
        #expect(lines.count == 13)
        for (outcome, count) in [("wrong", 11), ("throttled", 1), ("ok", 1)] {
            #expect(lines.count { $0.contains("outcome=\(outcome)") } == count)
        }
        #expect(lines.count { $0.contains("user=\(alice)") } == 12)
        #expect(lines.count { $0.contains("address=203.0.113.9 ") } == 12)
        for secret in ["secret", "alice@example.org", "correct"] {
            #expect(!log.text.contains(secret))
        }
        let metrics = try await server.request(.get, "/metrics").text
        for line in ["wrong\"} 11", "throttled\"} 1", "ok\"} 1", "busy\"} 0"] {
            #expect(metrics.contains("recordfs_sign_ins_total{outcome=\"\(line)"))
        }
    }

    // MARK: Other sites

    @Test(
        "a form that a browser says is of another site is refused, before anybody's password is looked at",
        arguments: [
            ("Origin", "https://evil.example.org", 403), ("Origin", "http://127.0.0.1:1", 403),
            ("Sec-Fetch-Site", "cross-site", 403), ("Sec-Fetch-Site", "same-site", 403),
            ("Origin", "null", 303), ("Origin", "HTTPS://records.example.org:443", 303),
            ("Sec-Fetch-Site", "same-origin", 303),
        ])
    func origins(_ header: String, _ value: String, _ status: Int) async throws {
        let server = try await TestServer.withPasswords {
            $0.publicURL = "https://records.example.org"
        }
        let visitor = Visitor(server)
        let page = try await visitor.get("/sign-in")
        let form = try #require(Visitor.forms(of: page).first { $0.action == "/sign-in" })
        let name = try #require(HTTPField.Name(header))
        let answer = try await visitor.post(
            "/sign-in",
            form.hidden + [("email", "alice@example.org"), ("password", "correct horse")],
            [name: value])
        #expect(answer.status == status, "\(answer.text)")
    }
}
