import Glibc
import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// Whose server it is, and what a client asks for.
@Suite("What pages say of the server and of clients", .everyTransport)
struct SitePageTests {
    /// 8 x 4 pixels.
    static let picture: [UInt8] =
        [
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0,
            0,
            0, 8, 0, 0, 0, 4, 8, 2, 0, 0, 0, 0x3C, 0xAF, 0xE9, 0xA7, 0, 0, 0, 17, 0x49, 0x44, 0x41,
            0x54, 0x78, 0xDA, 0x63, 0xD0, 0xCA, 0xBF, 0x8D, 0x15, 0x31, 0x50, 0x4F, 0x02, 0, 0xFF,
            0xBC, 0x2E, 0x81, 0x28, 0x12, 0xD5, 0x8F, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE,
            0x42,
            0x60, 0x82,
        ]

    private func policy(_ page: Visitor.Page) -> String {
        page.headers[.contentSecurityPolicy] ?? ""
    }

    @Test("each page has the server's name, its logo and who runs it, as text and nothing else")
    func site() async throws {
        let logo = try Logo(Self.picture, kind: .png)
        let server = try await TestServer.withPasswords {
            $0.site.name = "<b>Records</b> of \u{202E}us"
            $0.site.operatorName = "ada@example.org"
            $0.site.logo = logo
        }
        let visitor = Visitor(server)
        _ = try await visitor.signIn(try await visitor.get("/sign-in"))
        for path in ["/sign-in?other=1", "/sessions", "/share/x", "/signed-out"] {
            let page = try await visitor.get(path)
            let name = "<p>&lt;b&gt;Records&lt;/b&gt; of \u{FFFD}us</p>"
            #expect(page.text.contains(name), "\(path)")
            #expect(page.text.contains(" - &lt;b&gt;Records"))
            #expect(page.text.contains("<a href=\"mailto:ada@example.org\">ada@example.org</a>"))
            #expect(page.text.contains(/<img class="logo" src="\/logo\?v=[0-9a-f]+" alt="">/))
            #expect(policy(page).contains("default-src 'none'"))
            #expect(policy(page).contains("; img-src 'self';"))
        }
        let answer = try await server.request(.get, "/logo?v=1")
        #expect(answer.status == 200)
        #expect(answer.body == Self.picture)
        #expect(answer.headers[.contentType] == "image/png")
        #expect(answer.headers[.contentSecurityPolicy] == "default-src 'none'; sandbox")
        #expect(answer.headers[.xContentTypeOptions] == "nosniff")
    }

    @Test("without a word of the operator there is no heading, no logo and no source of images")
    func plain() async throws {
        let server = try await TestServer.withPasswords()
        let page = try await Visitor(server).get("/sign-in")
        #expect(page.text.contains("<title>Sign in</title>"))
        for part in ["<header", "<footer", "<img"] { #expect(!page.text.contains(part)) }
        #expect(!policy(page).contains("img-src"))
        #expect(try await server.request(.get, "/logo").status == 404)
    }

    @Test(
        "who runs the server is a link only where it is an address",
        arguments: [
            ("Ada Lovelace", nil), ("https://example.org/about", "https://example.org/about"),
            ("javascript:alert(1)", nil), ("http://example.org", nil),
            ("https://a\" onclick=\"x", nil), ("ada@example.org", "mailto:ada@example.org"),
        ])
    func operatorLink(_ name: String, _ link: String?) async throws {
        let server = try await TestServer.withPasswords { $0.site.operatorName = name }
        let page = try await Visitor(server).get("/sign-in")
        let footer = try #require(page.text.firstMatch(of: /<footer>(.*)<\/footer>/)).output.1
        #expect(footer.contains("<a href=") == (link != nil))
        if let link { #expect(footer.contains("<a href=\"\(link)\"")) }
    }

    @Test("a client asks for a container by its title, and the page says what that allows")
    func purpose() async throws {
        let server = try await TestServer.withPasswords {
            $0.accounts.sessionSeconds = 3600
            $0.accounts.longSessionSeconds = 7 * 86_400
            $0.accounts.maximumSessionSeconds = 90
        }
        let named = try await Visitor(server).get(try await server.signInPath())
        #expect(named.text.contains("<strong>iCloud.org.example.app</strong> (development)"))
        try await server.accounts.setTitle("Notes & <Lists>", of: TestServer.container)
        let visitor = Visitor(server)
        let page = try await visitor.get(try await server.signInPath())
        #expect(page.text.contains("<strong>Notes &amp; &lt;Lists&gt;</strong> (development)"))
        #expect(!page.text.contains("iCloud.org.example.app"))
        let text = page.text.replacing("\n", with: " ")
        #expect(text.contains("see and change all your data there"))
        #expect(text.contains("nothing for 1 hour (7 days if you stay signed in)"))
        #expect(text.contains("for at most 90 seconds"))
        // Whoever is no administrator gives less; it is known once somebody is signed in.
        #expect(text.contains("erase its development data, if you administer it"))
        _ = try await visitor.signIn(page)
        let known = try await visitor.get(try await server.signInPath())
        #expect(known.text.contains("alice@example.org") && !known.text.contains("its schema"))
        try await server.changeUser(.alice) { $0.isAdministrator = true }
        let administrator = try await visitor.get(try await server.signInPath())
        #expect(administrator.text.contains("erase its development data, as you administer it"))
        #expect(try await visitor.get("/sessions").text.contains("Notes &amp; &lt;Lists&gt;"))
        try await server.accounts.setTitle("", of: TestServer.container)
        #expect(try await visitor.get("/sessions").text.contains("iCloud.org.example.app"))
    }

    @Test(
        "a title is one short line, of a container that is there",
        arguments: ["a\nb", " ", "\u{7}", String(repeating: "x", count: 101), "a\u{2028}b"])
    func badTitle(_ title: String) async throws {
        let server = try await TestServer()
        await #expect(throws: ServerError.self) {
            try await server.accounts.setTitle(Text(title), of: TestServer.container)
        }
        await #expect(throws: ServerError.self) {
            try await server.accounts.createContainer("iCloud.new", title: Text(title))
        }
        #expect(try await !server.accounts.containers().contains("iCloud.new"))
        await #expect(throws: ServerError.self) {
            try await server.accounts.setTitle("Good", of: "iCloud.org.example.none")
        }
    }
}

@Suite("The logo in the data directory")
struct LogoTests {
    private let files: TemporaryDirectory
    private var directory: DataDirectory { DataDirectory(files.path) }

    init() throws { files = try TemporaryDirectory() }

    private func put(_ bytes: [UInt8], _ name: String) throws {
        let file = try #require(fopen(files.path + "/" + name, "w"))
        defer { fclose(file) }
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    }

    private func fault() -> String? {
        do throws(ServerError) {
            _ = try directory.logo()
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("an image of each kind is taken as what it is")
    func kinds() throws {
        #expect(try directory.logo() == nil)
        for (name, start) in [
            ("logo.png", SitePageTests.picture), ("logo.jpg", [0xFF, 0xD8, 0xFF, 0xE0]),
            ("logo.webp", Array("RIFF\u{1}\u{0}\u{0}\u{0}WEBPVP8 ".utf8)),
        ] {
            try put(start, name)
            let logo = try #require(try directory.logo())
            #expect(logo.bytes == start)
            #expect(name == "logo.\(logo.kind.rawValue)")
            unlink(files.path + "/" + name)
        }
    }

    @Test(
        "what is no image is refused, whatever it is called",
        arguments: [
            ("logo.png", "<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>"),
            ("logo.png", "<html><script>alert(1)</script>"), ("logo.jpg", "\u{89}PNG"),
            ("logo.webp", "RIFF"), ("logo.webp", ""), ("logo.jpg", "GIF89a"),
        ])
    func noImage(_ name: String, _ content: String) throws {
        try put(Array(content.utf8), name)
        #expect(fault()?.contains(name) == true)
    }

    @Test("one too large, two of them, and what is no file are refused")
    func noFile() throws {
        try put(SitePageTests.picture + [UInt8](repeating: 0, count: 256 << 10), "logo.png")
        #expect(fault()?.contains("larger than 256 KiB") == true)
        try put(SitePageTests.picture, "logo.png")
        #expect(fault() == nil)
        try put([0xFF, 0xD8, 0xFF], "logo.jpg")
        #expect(fault()?.contains("more than one logo") == true)
        unlink(files.path + "/logo.jpg")
        unlink(files.path + "/logo.png")
        #expect(mkfifo(files.path + "/logo.png", 0o600) == 0)
        #expect(fault()?.contains("no regular file") == true)
        unlink(files.path + "/logo.png")
        #expect(mkdir(files.path + "/logo.png", 0o700) == 0)
        #expect(fault()?.contains("no regular file") == true)
    }
}
