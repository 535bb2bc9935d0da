import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import Testing

@Suite("The thumbnail and the type on the page of a share", .everyTransport)
struct SharePreviewPageTests {
    /// Alice shares a zone with Bob, or with everybody, with this thumbnail; gives the path of its page.
    static func share(
        _ server: TestServer, _ thumbnail: [UInt8], isOpen: Bool = false
    ) async throws -> String {
        _ = try await server.call(
            .zonesModify, .private, as: .alice,
            ["operations": [["operationType": "create", "zone": ["zoneID": ShareScene.zone]]]])
        let fields: JSONValue = [
            "cloudkit.type": ["value": "<i>plan</i>", "type": "STRING"],
            "cloudkit.thumbnailImageData": [
                "value": .string(Text(utf8: Base64.encode(thumbnail))), "type": "BYTES",
            ],
        ]
        let record: JSONValue = [
            "recordType": "cloudkit.share", "recordName": "cloudkit.zoneshare",
            "publicPermission": isOpen ? "READ_ONLY" : "NONE", "fields": fields,
            "participants": isOpen ? [] : [ShareScene.invite(.bob)],
        ]
        let answer = try await server.call(
            .recordsModify, .private, as: .alice,
            [
                "zoneID": ShareScene.zone,
                "operations": [["operationType": "create", "record": record]],
            ])
        let guid = try #require(answer.json.at("records.0.shortGUID").string, "\(answer.text)")
        return "/share/\(guid)"
    }

    private func visitor(_ server: TestServer, _ email: String) async throws -> Visitor {
        let visitor = Visitor(server)
        _ = try await visitor.signIn(try await visitor.get("/sign-in"), email)
        return visitor
    }

    private func bytes(_ visitor: Visitor, _ path: String) async throws -> TestServer.Answer {
        let cookies = visitor.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        return try await visitor.server.request(.get, path, headers: [.cookie: cookies])
    }

    @Test("who sees what is shared sees its thumbnail and type; for others there is nothing")
    func shown() async throws {
        let server = try await TestServer.withPasswords()
        let path = try await Self.share(server, SitePageTests.picture)
        for email in ["bob@example.org", "alice@example.org"] {
            let visitor = try await visitor(server, email)
            let page = try await visitor.get(path)
            let picture = "<img class=\"thumbnail\" src=\"\(path)/thumbnail\" alt=\"\">"
            #expect(page.text.contains(picture))
            #expect(page.text.contains("Type: <code>&lt;i&gt;plan&lt;/i&gt;</code>"))
            let policy = page.headers[.contentSecurityPolicy] ?? ""
            #expect(policy.contains("default-src 'none'; "))
            #expect(policy.contains("; img-src 'self'; "))
            #expect(!policy.contains("data:") && !policy.contains("*"))
            let answer = try await bytes(visitor, path + "/thumbnail")
            #expect(answer.status == 200 && answer.body == SitePageTests.picture)
            #expect(answer.headers[.contentType] == "image/png")
            #expect(answer.headers[.contentSecurityPolicy] == "default-src 'none'; sandbox")
            #expect(answer.headers[.xContentTypeOptions] == "nosniff")
            #expect(answer.headers[.cacheControl] == "no-store")
        }
        let missing = try await bytes(Visitor(server), "/share/abcdefghijklmnopqrstuv/thumbnail")
        for stranger in [Visitor(server), try await visitor(server, "carol@example.org")] {
            let page = try await stranger.get(path)
            #expect(!page.text.contains("thumbnail\"") && !page.text.contains("plan"))
            #expect(page.headers[.contentSecurityPolicy]?.contains("img-src") == false)
            let picture = try await bytes(stranger, path + "/thumbnail")
            #expect(picture.status == 404 && picture.body == missing.body)
        }
    }

    @Test("a share for everybody with the address shows them to everybody")
    func open() async throws {
        let server = try await TestServer.withPasswords()
        let path = try await Self.share(
            server, Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x3B], isOpen: true)
        #expect(try await Visitor(server).get(path).text.contains("\(path)/thumbnail"))
        let picture = try await bytes(Visitor(server), path + "/thumbnail")
        #expect(picture.status == 200 && picture.headers[.contentType] == "image/gif")
    }

    @Test(
        "what is no bitmap by its first bytes is on no page",
        arguments: [
            "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>",
            "<!doctype html><script>alert(1)</script>", " GIF89a", "GIF89a",
            "GIF89aPPPP\u{0}\u{0}\u{0};", "RIFF1234WAVE", "%PDF-1.7", "",
        ])
    func noBitmap(_ thumbnail: String) async throws {
        let server = try await TestServer.withPasswords()
        let path = try await Self.share(server, Array(thumbnail.utf8), isOpen: true)
        let page = try await Visitor(server).get(path)
        #expect(page.status == 200 && page.text.contains("Type: <code>"))
        #expect(!page.text.contains("<img"))
        #expect(page.headers[.contentSecurityPolicy]?.contains("img-src") == false)
        let picture = try await bytes(Visitor(server), path + "/thumbnail")
        #expect(picture.status == 404 && picture.body.isEmpty)
    }
}
