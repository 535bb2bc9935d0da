import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Pages in a real browser", .serialized)
struct BrowserTests {
    private static let aliceName = TestServer.Person.alice.user.map { $0.description }

    /// A server over a socket, and an API token whose sign-in goes back to this machine.
    private func server(callback: Text? = CallbackURL.loopback, origins: [Text] = []) async throws
        -> (TestServer, Text)
    {
        let server = try await TestServer.withPasswords(.socket)
        let token = try await server.accounts.createAPIToken(
            TestServer.development, name: "A program with a rather long name for a small screen",
            callbackURL: callback, allowedOrigins: origins, now: server.clock.now
        ).token
        return (server, token)
    }

    private static func signIn(
        _ tab: BrowserTab, _ email: String = "alice@example.org"
    ) throws {
        try tab.fill("input[name=email]", email)
        try tab.fill("input[name=password]", "correct horse")
        try tab.follow("button[type=submit]")
    }

    private func fitsThePhone(_ tab: BrowserTab) throws -> Bool {
        let width = try tab.evaluate("document.documentElement.scrollWidth").int64 ?? .max
        return width <= 320
    }

    @Test("the redirect sign-in ends at the client with a good token", arguments: [true, false])
    func redirect(hasScripts: Bool) async throws {
        let (server, apiToken) = try await server()
        let port = server.port
        // The page and the callback are of two origins, as with a client's own server.
        let callback = "http://127.0.0.1:\(port)/health?state=7"
        let path =
            try await server.signInPath(apiToken: apiToken) + "&callback="
            + QueryEncoding.encode(Array(callback.utf8))
        let end = try await RawHTTP.run {
            let tab = try BrowserTab(try Browser())
            if !hasScripts { try tab.setScriptsDisabled() }
            try tab.setPhone()
            try tab.navigate("http://localhost:\(port)\(path)")
            try check(try fitsThePhone(tab))
            try check(try tab.text("document.title") == "Sign in")
            try check(
                try tab.text("getComputedStyle(document.querySelector('main')).maxWidth") != "none")
            // A wrong password first: the page says so and keeps the address.
            try tab.fill("input[name=email]", "alice@example.org")
            try tab.fill("input[name=password]", "wrong horse")
            try tab.follow("button[type=submit]")
            try check(
                try tab.text("document.querySelector('.error').textContent").contains("not right"))
            try check(
                try tab.text("document.querySelector('input[name=email]').value")
                    == "alice@example.org")
            try check(try fitsThePhone(tab))
            try tab.fill("input[name=password]", "correct horse")
            try tab.follow("button[type=submit]")
            return try tab.text("location.href")
        }
        let prefix = callback + "&ckWebAuthToken="
        #expect(end.hasPrefix(prefix), "\(end)")
        let token = String(end.dropFirst(prefix.count))
        #expect(try await server.caller(token, apiToken: apiToken) == Self.aliceName)
    }

    @Test("a page of the client that opens the window gets the token by a message")
    func message() async throws {
        let server = try await TestServer.withPasswords(.socket)
        let port = server.port
        let apiToken = try await server.accounts.createAPIToken(
            TestServer.development, name: "web",
            allowedOrigins: [Text("http://127.0.0.1:\(port)")], now: server.clock.now
        ).token
        let path = try await server.signInPath(apiToken: apiToken)
        let token = try await RawHTTP.run {
            let browser = try Browser()
            let opener = try BrowserTab(browser)
            try opener.navigate("http://127.0.0.1:\(port)/health")
            _ = try opener.evaluate(
                """
                window.message = new Promise(resolve => addEventListener('message', event =>
                  resolve(event.origin + ' ' + event.data.ckWebAuthToken + ' '
                    + event.data.ckSession)));
                window.open('http://localhost:\(port)\(path)'); 1
                """)
            let window = try Self.window(browser, "/sign-in")
            try Self.signIn(window)
            try check(try window.text("document.title") == "You are signed in")
            let parts = try opener.text("window.message").split(separator: " ")
            try check(parts.first.map { String($0) } == "http://localhost:\(port)")
            try check(parts.count == 3 && parts[1] == parts[2])
            return String(parts.last ?? "")
        }
        #expect(try await server.caller(token, apiToken: apiToken) == Self.aliceName)
    }

    @Test("a page of another origin that opens the window gets nothing")
    func stranger() async throws {
        let (server, apiToken) = try await server(
            callback: nil, origins: ["https://app.example.org"])
        let port = server.port
        let path = try await server.signInPath(apiToken: apiToken)
        try await RawHTTP.run {
            let browser = try Browser()
            let opener = try BrowserTab(browser)
            try opener.navigate("http://127.0.0.1:\(port)/health")
            _ = try opener.evaluate(
                """
                window.count = 0; addEventListener('message', () => window.count++);
                window.open('http://localhost:\(port)\(path)'); 1
                """)
            let window = try Self.window(browser, "/sign-in")
            try Self.signIn(window)
            try check(try window.text("document.title") == "You are signed in")
            // What was posted before this message would have come before it.
            let answer = try opener.evaluate(
                """
                new Promise(resolve => { addEventListener('message', () => resolve(window.count));
                  window.postMessage('own', '*') })
                """)
            try check(answer.int64 == 1)
        }
    }

    @Test("without scripts the token is there for copying, and all pages fit a small screen")
    func copying() async throws {
        let (server, apiToken) = try await server()
        let port = server.port
        let path = try await server.signInPath(apiToken: apiToken)
        let token = try await RawHTTP.run {
            let tab = try BrowserTab(try Browser())
            try tab.setScriptsDisabled()
            try tab.setPhone()
            try tab.navigate("http://localhost:\(port)\(path)")
            try Self.signIn(tab)
            try check(try fitsThePhone(tab))
            let token = try tab.text("document.querySelector('textarea').value")
            try tab.navigate("http://localhost:\(port)/sessions")
            try check(try fitsThePhone(tab))
            try check(try tab.text("document.body.textContent").contains("This browser"))
            try tab.navigate("http://localhost:\(port)/share/abcdefghijklmnopqrstuv")
            try check(try fitsThePhone(tab))
            try tab.navigate("http://localhost:\(port)/sessions")
            try tab.follow("form[action=\"/sign-out\"] button")
            try check(try tab.text("location.pathname") == "/signed-out")
            try check(try fitsThePhone(tab))
            try tab.navigate("http://localhost:\(port)/sessions")
            try check(try tab.text("location.pathname") == "/sign-in")
            return token
        }
        #expect(try await server.caller(token, apiToken: apiToken) == Self.aliceName)
    }

    @Test(
        "name, logo and purpose are seen on a small and a large screen, and no other picture is",
        arguments: [true, false])
    func site(isPhone: Bool) async throws {
        let logo = try Logo(SitePageTests.picture, kind: .png)
        let server = try await TestServer.withPasswords(.socket) {
            $0.site.name = "Records of everybody " + String(repeating: "x", count: 60)
            $0.site.operatorName = "https://example.org/" + String(repeating: "y", count: 60)
            $0.site.logo = logo
        }
        let port = server.port
        let token = try await server.accounts.createAPIToken(
            TestServer.development, name: "program", callbackURL: CallbackURL.loopback,
            now: server.clock.now
        ).token
        try await server.accounts.setTitle("Notes and lists", of: TestServer.container)
        let path = try await server.signInPath(apiToken: token)
        try await RawHTTP.run {
            let tab = try BrowserTab(try Browser())
            if isPhone { try tab.setPhone() }
            try tab.navigate("http://localhost:\(port)\(path)")
            if isPhone { try check(try fitsThePhone(tab)) }
            let logo = "document.querySelector('img.logo')"
            try check(try tab.evaluate("\(logo).complete && \(logo).naturalWidth").int64 == 8)
            let shown = try tab.text("document.body.innerText")
            try check(shown.contains("Notes and lists"))
            try check(shown.contains("It does not get your password"))
            // What is put into the page from elsewhere is not even asked for.
            let other = try tab.text(
                """
                new Promise(resolve => { const image = new Image();
                  image.onload = () => resolve('shown');
                  document.addEventListener('securitypolicyviolation',
                    event => resolve(event.effectiveDirective));
                  image.src = 'http://127.0.0.1:\(port)/logo'; document.body.append(image) })
                """)
            try check(other == "img-src")
            try Self.signIn(tab)
            if isPhone { try check(try fitsThePhone(tab)) }
        }
    }

    @Test("who is invited to a share sees its thumbnail, and that fits a small screen")
    func thumbnail() async throws {
        let server = try await TestServer.withPasswords(.socket)
        let path = try await SharePreviewPageTests.share(server, SitePageTests.picture)
        let port = server.port
        try await RawHTTP.run {
            let tab = try BrowserTab(try Browser())
            try tab.setPhone()
            try tab.navigate("http://localhost:\(port)/sign-in?next=\(path)")
            try Self.signIn(tab, "bob@example.org")
            try check(try tab.text("location.pathname") == path)
            let picture = "document.querySelector('img.thumbnail')"
            try check(try tab.evaluate("\(picture).complete && \(picture).naturalWidth").int64 == 8)
            try check(try fitsThePhone(tab))
        }
    }

    /// An expectation on a thread that belongs to no test.
    private func check(_ isTrue: Bool, line: Int = #line) throws {
        guard isTrue else { throw Browser.Failure(description: "not so in line \(line)") }
    }

    /// The window that a page has opened, once it shows a page with this in its address.
    private static func window(_ browser: Browser, _ path: String) throws -> BrowserTab {
        let deadline = Deadline(seconds: 30)
        while !deadline.isOver {
            let targets = try browser.call("Target.getTargets")["targetInfos"]?.array ?? []
            let target = targets.first { $0["url"]?.string?.string.contains(path) == true }
            guard let id = target?["targetId"]?.string else { continue }
            let tab = try BrowserTab(browser, target: id)
            while try tab.text("document.readyState") != "complete" {}
            return tab
        }
        throw Browser.Failure(description: "no window was opened")
    }
}
