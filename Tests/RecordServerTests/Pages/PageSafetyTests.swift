import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Safety of pages")
struct PageSafetyTests {
    @Test("nobody is sent to an address that is not registered")
    func openRedirect() async throws {
        let server = try await TestServer.withPasswords()
        let path = try await server.signInPath()
        for callback in [
            "https://evil.example/", "https://app.example.org/signed-in/../x",
            "https://app.example.org/signed-in?x=1", "//evil.example", "javascript:alert(1)",
            "https://app.example.org.evil.example/signed-in", "",
        ] {
            let query = "&callback=" + QueryEncoding.encode(Array(callback.utf8))
            let page = try await Visitor(server).get(path + query)
            #expect(page.status == 400, "\(callback)")
            #expect(page.location == nil)
        }
        let registered = "&callback=https%3A%2F%2Fapp.example.org%2Fsigned-in"
        #expect(try await Visitor(server).get(path + registered).status == 200)
    }

    @Test(
        "after signing in, a person goes to a page of this server only",
        arguments: [
            "https://evil.example/", "//evil.example/", "/\\evil.example", "/share/../sessions",
            "/share/x/y", "/share/", "/share/a%0d%0ab", "sessions", "/sign-out", "javascript:x",
            "/share//evil.example",
        ])
    func localRedirect(_ next: String) async throws {
        let server = try await TestServer.withPasswords()
        let visitor = Visitor(server)
        let query = "?next=" + QueryEncoding.encode(Array(next.utf8))
        let answer = try await visitor.signIn(try await visitor.get("/sign-in" + query))
        #expect(answer.status == 303)
        #expect(answer.location == "/sessions")
        #expect(try await visitor.get("/sign-in" + query).location == "/sessions")
    }

    @Test("the address of a sign-in page is good for an hour, unchanged, while its token is")
    func signInRequest() async throws {
        let server = try await TestServer.withPasswords()
        let path = try await server.signInPath()
        let visitor = Visitor(server)
        let page = try await visitor.get(path)
        #expect(page.status == 200)
        for index in stride(from: "/sign-in?request=".utf8.count, to: path.utf8.count, by: 7) {
            var bytes = Array(path.utf8)
            bytes[index] = bytes[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let changed = String(decoding: bytes, as: UTF8.self)
            #expect(try await visitor.get(changed).status == 400)
        }
        server.clock.advance(.seconds(3600))
        #expect(try await visitor.get(path).status == 200)
        server.clock.advance(.seconds(1))
        #expect(try await visitor.get(path).status == 400)
        let fresh = try await visitor.get(try await server.signInPath())
        let id = Text(utf8: Array(Secret.hash(Text(TestServer.apiTokens[0])).utf8.prefix(16)))
        _ = try await server.accounts.revokeAPIToken(TestServer.container, id)
        let answer = try await visitor.signIn(fresh)
        #expect(answer.status == 400)
        #expect(answer.location == nil)
    }

    @Test("a form is taken only from its own page, in the same browser, within an hour")
    func crossSiteForms() async throws {
        let server = try await TestServer.withPasswords()
        let login = [("email", "alice@example.org"), ("password", "correct horse")]
        func attempt(_ visitor: Visitor, _ fields: [(String, String)]) async throws -> Int {
            let answer = try await visitor.post("/sign-in", fields + login)
            #expect(answer.location == nil)
            #expect(visitor.cookies["recordfs-session"] == nil)
            return answer.status
        }
        let visitor = Visitor(server)
        let page = try await visitor.get("/sign-in")
        let token = try #require(Visitor.forms(of: page).first?.hidden.first { $0.0 == "form" })
        // No token, a token of another browser, and no cookie at all.
        #expect(try await attempt(visitor, []) == 403)
        let stranger = Visitor(server)
        #expect(try await attempt(stranger, [token]) == 403)
        _ = try await stranger.get("/sign-in")
        #expect(try await attempt(stranger, [token]) == 403)
        // A token of another form.
        let signedIn = Visitor(server)
        _ = try await signedIn.signIn(try await signedIn.get("/sign-in"))
        let sessions = try await signedIn.get("/sessions")
        let other = try #require(Visitor.forms(of: sessions).first?.hidden.first)
        signedIn.setCookie("recordfs-session", nil)
        #expect(try await attempt(signedIn, [other]) == 403)
        // Too old.
        server.clock.advance(.seconds(3601))
        #expect(try await attempt(visitor, [token]) == 403)
        // The page that answers has a new token.
        let again = try await visitor.get("/sign-in")
        #expect(try await visitor.signIn(again).status == 303)
    }

    @Test("nothing that a person or a client names becomes markup")
    func escaping() async throws {
        let server = try await TestServer.withPasswords()
        let name: Text = "<script>alert('x')</script>&\"\u{202E}"
        let token = try await server.accounts.createAPIToken(
            TestServer.development, name: name, callbackURL: "https://app.example.org/x",
            now: server.clock.now
        ).token
        let visitor = Visitor(server)
        let page = try await visitor.get(try await server.signInPath(apiToken: token))
        #expect(!page.text.contains("<script"))
        #expect(!page.text.contains("\u{202E}"))
        #expect(page.text.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;"))
        let answer = try await visitor.signIn(page, "\"><script>alert(1)</script>", "wrong horse")
        #expect(answer.status == 403)
        #expect(!answer.text.contains("<script"))
        #expect(answer.text.contains("value=\"&quot;&gt;&lt;script&gt;"))
        let share = try await visitor.get("/share/%3Cscript%3E")
        #expect(share.status == 404)
        #expect(!share.text.contains("<script"))
    }

    @Test(
        "every page forbids scripts, frames and caching",
        arguments: ["/sign-in", "/signed-out", "/share/none", "/sign-in?request=x"])
    func headers(_ path: String) async throws {
        let server = try await TestServer.withPasswords()
        let page = try await Visitor(server).get(path)
        let policy = try #require(page.headers[.contentSecurityPolicy])
        #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
        #expect(policy.contains("frame-ancestors 'none'"))
        #expect(policy.contains("base-uri 'none'"))
        #expect(policy.contains("form-action 'self'"))
        #expect(!policy.contains("script-src"))
        #expect(!policy.contains("unsafe"))
        #expect(page.headers[.cacheControl] == "no-store")
        #expect(page.headers[HTTPField.Name("Referrer-Policy") ?? .expires] == "no-referrer")
        #expect(page.headers[.accessControlAllowOrigin] == nil)
        #expect(page.text.contains("<meta name=\"viewport\" content=\"width=device-width"))
        let style = try #require(page.text.firstMatch(of: /<style>([^<]*)<\/style>/)).output.1
        let hash = Base64.encode(SHA256.digest(of: Array(style.utf8)))
        #expect(policy.contains("'sha256-\(String(decoding: hash, as: UTF8.self))'"))
    }

    @Test("cookies are for this host alone, unseen by scripts, and secure under https")
    func cookies() async throws {
        for isSecure in [false, true] {
            let server = try await TestServer.withPasswords { configuration in
                if isSecure { configuration.publicURL = "https://records.example.org" }
            }
            let visitor = Visitor(server)
            let page = try await visitor.get("/sign-in")
            let answer = try await visitor.signIn(page)
            let cookies = page.setCookies + answer.setCookies
            #expect(cookies.count == 3)
            for cookie in cookies {
                #expect(cookie.contains("; HttpOnly"))
                #expect(cookie.contains("; SameSite=Lax"))
                #expect(cookie.contains("; Path=/"))
                #expect(!cookie.contains("Domain"))
                #expect(cookie.contains("; Secure") == isSecure)
                #expect(cookie.hasPrefix("__Host-") == isSecure)
            }
        }
    }

    @Test("a body that is no form, a long one and a doubled field are refused")
    func badForms() async throws {
        let server = try await TestServer.withPasswords()
        let json = try await server.request(
            .post, "/sign-in", headers: [.contentType: "application/json"], body: Array("{}".utf8))
        #expect(json.status == 400)
        let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
        let long = [UInt8](repeating: UInt8(ascii: "a"), count: (16 << 10) + 1)
        let tooLong = try await server.request(.post, "/sign-in", headers: form, body: long)
        #expect(tooLong.status == 413)
        for body in ["email=a&email=b", "email=%zz", "%ff%f=1"] {
            let answer = try await server.request(
                .post, "/sign-in", headers: form, body: Array(body.utf8))
            #expect(answer.status == 400)
        }
        let many = (0..<100).map { "f\($0)=1" }.joined(separator: "&")
        let tooMany = try await server.request(
            .post, "/sign-in", headers: form, body: Array(many.utf8))
        #expect(tooMany.status == 400)
    }
}
