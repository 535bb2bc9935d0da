import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("The page of one's sign-ins")
struct SessionsPageTests {
    @Test("a person sees the own sign-ins and ends one, which counts at once")
    func revoke() async throws {
        let server = try await TestServer.withPasswords()
        let token = try await server.token(of: .alice)
        let stranger = try await server.token(of: .bob)
        let visitor = Visitor(server)
        #expect(try await visitor.get("/sessions").location == "/sign-in")
        _ = try await visitor.signIn(try await visitor.get("/sign-in"))
        let page = try await visitor.get("/sessions")
        #expect(page.text.contains("This browser"))
        #expect(page.text.contains("iCloud.org.example.app (development)"))
        let forms = Visitor.forms(of: page).filter { $0.action == "/sessions" }
        #expect(forms.count == 2)
        // Of the two, the one of the program.
        let sessions = try await server.accounts.sessions(of: "alice@example.org")
        let program = try #require(sessions.first { $0.label == "test" }?.id.string)
        let form = try #require(forms.first { $0.hidden.contains { $0.1 == program } })
        let answer = try await visitor.post("/sessions", form.hidden)
        #expect(answer.location == "/sessions")
        #expect(try await server.caller(token.string) == nil)
        #expect(try await server.caller(stranger.string) != nil)
        let after = try await visitor.get("/sessions")
        #expect(Visitor.forms(of: after).count { $0.action == "/sessions" } == 1)
    }

    @Test("a session of somebody else cannot be ended")
    func othersSession() async throws {
        let server = try await TestServer.withPasswords()
        let token = try await server.token(of: .bob)
        let bobs = try #require(try await server.accounts.sessions(of: "bob@example.org").first)
        let visitor = Visitor(server)
        _ = try await visitor.signIn(try await visitor.get("/sign-in"))
        let page = try await visitor.get("/sessions")
        let form = try #require(Visitor.forms(of: page).first { $0.action == "/sessions" })
        let fields = form.hidden.map { $0.0 == "session" ? ("session", bobs.id.string) : $0 }
        #expect(try await visitor.post("/sessions", fields).status == 404)
        #expect(try await server.caller(token.string) != nil)
    }

    @Test("a person agrees to be found, and takes it back")
    func discoverable() async throws {
        let server = try await TestServer.withPasswords()
        try await server.changeUser(.alice) { $0.isDiscoverable = false }
        let visitor = Visitor(server)
        _ = try await visitor.signIn(try await visitor.get("/sign-in"))
        // Another site cannot agree for a person.
        #expect(
            try await visitor.post("/discoverable", [("discoverable", "yes")]).status == 403)
        func isFound() async throws -> Bool {
            try await server.call(.usersLookupContacts, .public, as: .bob).text
                .contains(try #require(TestServer.Person.alice.user).description)
        }
        #expect(try await !isFound())
        let page = try await visitor.get("/sessions")
        #expect(page.text.contains("do not find you"))
        #expect(try await visitor.submit(page, to: "/discoverable").location == "/sessions")
        #expect(try await isFound())
        let after = try await visitor.get("/sessions")
        #expect(try await visitor.submit(after, to: "/discoverable").location == "/sessions")
        #expect(try await !isFound())
    }

    @Test("signing out ends the session of the browser, also for a copy of its cookie")
    func signOut() async throws {
        let server = try await TestServer.withPasswords()
        let visitor = Visitor(server)
        _ = try await visitor.signIn(try await visitor.get("/sign-in"))
        let cookie = try #require(visitor.cookies["recordfs-session"])
        let page = try await visitor.get("/sessions")
        // Another site cannot sign a person out.
        #expect(try await visitor.post("/sign-out", []).status == 403)
        let answer = try await visitor.submit(page, to: "/sign-out")
        #expect(answer.location == "/signed-out")
        #expect(visitor.cookies["recordfs-session"] == nil)
        #expect(try await visitor.get("/signed-out").status == 200)
        visitor.setCookie("recordfs-session", cookie)
        #expect(try await visitor.get("/sessions").location == "/sign-in")
    }

    @Test("a program ends its own sign-in with its token, and no other one")
    func programSignsOut() async throws {
        let server = try await TestServer.withPasswords()
        let visitor = Visitor(server)
        _ = try await visitor.signIn(try await visitor.get("/sign-in"))
        let others = try await server.token(of: .bob).string
        let token = try await server.token(of: .alice).string
        // An address with a token is in logs, and does not count. The visitor's cookie alone does
        // not either.
        let query = "/sign-out?ckWebAuthToken=\(QueryEncoding.encode(Array(token.utf8)))"
        #expect(try await visitor.post(query, []).status == 403)
        #expect(try await server.caller(token) != nil)
        let program = Visitor(server)
        for forged in ["", "x", String(token.dropLast(4)) + "AAAA"] {
            let answer = try await program.post("/sign-out", [("ckWebAuthToken", forged)])
            #expect(answer.status == 404)
        }
        #expect(try await server.caller(token) != nil)
        // Again too, as after a lost answer.
        for _ in 0..<2 {
            let answer = try await program.post("/sign-out", [("ckWebAuthToken", token)])
            #expect(answer.status == 200)
            #expect(try await server.caller(token) == nil)
        }
        #expect(try await server.caller(others) != nil)
        #expect(try await visitor.get("/sessions").status == 200)
    }

    @Test("each sign-in that its user ends is a line of the log, once, with user and address")
    func signOutLog() async throws {
        let log = LogCollector()
        let server = try await TestServer(logger: log.logger) {
            $0.accounts.passwordCost = .quick
        }
        _ = try await server.accounts.setPassword(
            of: "alice@example.org", to: Array("correct horse".utf8), cost: .quick)
        let token = try await server.token(of: .alice).string
        let visitor = Visitor(server)
        for _ in 0..<2 { _ = try await visitor.post("/sign-out", [("ckWebAuthToken", token)]) }
        _ = try await visitor.signIn(try await visitor.get("/sign-in"))
        _ = try await visitor.submit(try await visitor.get("/sessions"), to: "/sign-out")
        let lines = log.lines.filter { $0.hasPrefix("sign-out ") }
        #expect(lines.count == 2, "\(log.text)")
        let alice = try #require(TestServer.Person.alice.user).description
        for line in lines {
            #expect(line.contains("user=\(alice)") && line.contains("address="), "\(line)")
        }
        #expect(!log.text.contains(token))
    }

    @Test("the cookie of a browser is no web auth token, and the other way round")
    func purposes() async throws {
        let server = try await TestServer.withPasswords()
        let visitor = Visitor(server)
        _ = try await visitor.signIn(try await visitor.get("/sign-in"))
        let cookie = try #require(visitor.cookies["recordfs-session"])
        #expect(try await server.caller(cookie) == nil)
        visitor.setCookie("recordfs-session", try await server.token(of: .alice).string)
        #expect(try await visitor.get("/sessions").location == "/sign-in")
    }

    @Test("the cookie of a browser ends after 30 minutes, with a changed byte, with its user")
    func cookieLife() async throws {
        let server = try await TestServer.withPasswords()
        let visitor = Visitor(server)
        _ = try await visitor.signIn(try await visitor.get("/sign-in"))
        let cookie = try #require(visitor.cookies["recordfs-session"])
        #expect(try await visitor.get("/sessions").status == 200)
        var bytes = Array(cookie.utf8)
        bytes[20] = bytes[20] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        visitor.setCookie("recordfs-session", String(decoding: bytes, as: UTF8.self))
        #expect(try await visitor.get("/sessions").location == "/sign-in")
        visitor.setCookie("recordfs-session", cookie)
        try await server.changeUser(.alice) { $0.isDisabled = true }
        #expect(try await visitor.get("/sessions").location == "/sign-in")
        try await server.changeUser(.alice) { $0.isDisabled = false }
        #expect(try await visitor.get("/sessions").status == 200)
        server.clock.advance(.seconds(1801))
        #expect(try await visitor.get("/sessions").location == "/sign-in")
    }
}
