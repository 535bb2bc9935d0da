import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("The page of a share")
struct SharePageTests {
    /// Alice shares a zone as `Plans <b>`; gives the path of its page.
    private func share(_ server: TestServer, publicPermission: String = "NONE") async throws
        -> String
    {
        try await modifyZones(server)
        // Single people are invited only to shares that are not for everybody.
        let bob = """
            {"type": "USER", "permission": "READ_WRITE",
              "userIdentity": {"lookupInfo": {"emailAddress": "bob@example.org"}}}
            """
        let answer = try await modify(
            server,
            """
            {"operationType": "create", "record": {
              "recordType": "cloudkit.share", "recordName": "cloudkit.zoneshare",
              "publicPermission": "\(publicPermission)",
              "fields": {"cloudkit.title": {"value": "Plans <b>", "type": "STRING"}},
              "participants": [\(publicPermission == "NONE" ? bob : "")]}}
            """)
        let record = try #require(answer.json["records"]?.array?.first)
        let guid = try #require(record["shortGUID"]?.string, "\(answer.text)")
        return "/share/\(guid)"
    }

    private func modifyZones(_ server: TestServer) async throws {
        let text = """
            {"operations": [{"operationType": "create",
              "zone": {"zoneID": {"zoneName": "Work"}}}]}
            """
        let answer = try await server.call(
            .zonesModify, .private, as: .alice, try JSONParser.parse(Array(text.utf8)))
        #expect(answer.status == 200)
    }

    /// One operation in alice's zone.
    private func modify(_ server: TestServer, _ operation: String) async throws
        -> TestServer.Answer
    {
        let text = """
            {"zoneID": {"zoneName": "Work"}, "operations": [\(operation)]}
            """
        let answer = try await server.call(
            .recordsModify, .private, as: .alice, try JSONParser.parse(Array(text.utf8)))
        #expect(answer.status == 200)
        return answer
    }

    private func visitor(_ server: TestServer, _ email: String) async throws -> Visitor {
        let visitor = Visitor(server)
        _ = try await visitor.signIn(try await visitor.get("/sign-in"), email)
        return visitor
    }

    @Test("who is invited sees what is shared, and accepts it in the browser")
    func accept() async throws {
        let server = try await TestServer.withPasswords()
        let path = try await share(server)
        let visitor = Visitor(server)
        let closed = try await visitor.get(path)
        #expect(closed.status == 200)
        #expect(!closed.text.contains("Plans"))
        #expect(!closed.text.contains("alice"))
        #expect(closed.text.contains("/sign-in?next=\(path)"))
        let signedIn = try await visitor.signIn(
            try await visitor.get("/sign-in?next=\(path)"), "bob@example.org")
        #expect(signedIn.location == path)
        let page = try await visitor.get(path)
        #expect(page.text.contains("Plans &lt;b&gt;"))
        #expect(page.text.contains("alice"))
        for shown in [closed, page] {
            #expect(shown.text.contains(/recordfs accept http:\/\/\S+\/share\/[\w-]+</))
            #expect(shown.text.contains(/<a href="recordfs:http:\/\/\S+\/share\/[\w-]+">/))
        }
        #expect(try await visitor.submit(page, to: path).location == path)
        let after = try await visitor.get(path)
        #expect(after.text.contains("You have accepted"))
        let zones = try await server.call(.zonesList, .shared, as: .bob)
        #expect(zones.json["zones"]?.array?.count == 1)
    }

    /// Without what differs between any two pages: the address, and what the form is sealed with.
    private func plain(_ page: Visitor.Page) -> String {
        page.text.replacing(/name="form" value="[^"]*"/, with: "")
            .replacing(/\/share\/[A-Za-z0-9_-]+/, with: "/share/ID")
    }

    @Test("who is not invited, what is not there and what was revoked get one page")
    func nothing() async throws {
        let server = try await TestServer.withPasswords()
        let path = try await share(server)
        let carol = try await visitor(server, "carol@example.org")
        let bob = try await visitor(server, "bob@example.org")
        let forbidden = try await carol.get(path)
        let missing = try await carol.get("/share/abcdefghijklmnopqrstuv")
        #expect(forbidden.status == 404)
        #expect(missing.status == 404)
        let missingText = plain(missing)
        #expect(plain(forbidden) == missingText)
        try await expectNothingTold(path, server)
        // A form of somebody who may accept does not help.
        let form = try #require(Visitor.forms(of: try await bob.get(path)).first)
        #expect(try await carol.post(path, form.hidden).status == 404)
        _ = try await modify(
            server,
            """
            {"operationType": "forceDelete", "record": {"recordName": "cloudkit.zoneshare"}}
            """)
        let revoked = try await bob.get(path)
        #expect(revoked.status == 404)
        #expect(plain(revoked) == missingText)
        try await expectNothingTold(path, server)
    }

    /// Who is not signed in sees the same at the address of a share and of none.
    private func expectNothingTold(_ path: String, _ server: TestServer) async throws {
        let none = "/share/abcdefghijklmnopqrstuv"
        let (seen, missing) = (
            try await Visitor(server).get(path), try await Visitor(server).get(none)
        )
        #expect(seen.status == missing.status)
        #expect(seen.text.replacing(path, with: none) == missing.text)
    }

    @Test("a share for everybody with the address shows its title to everybody")
    func publicShare() async throws {
        let server = try await TestServer.withPasswords()
        let path = try await share(server, publicPermission: "READ_ONLY")
        let page = try await Visitor(server).get(path)
        #expect(page.text.contains("Plans &lt;b&gt;"))
        #expect(Visitor.forms(of: page).isEmpty)
        let carol = try await visitor(server, "carol@example.org")
        #expect(try await carol.submit(try await carol.get(path), to: path).location == path)
        #expect(try await carol.get(path).text.contains("You have accepted"))
    }

    @Test("the owner is told so and accepts nothing")
    func owner() async throws {
        let server = try await TestServer.withPasswords()
        let path = try await share(server)
        let alice = try await visitor(server, "alice@example.org")
        let page = try await alice.get(path)
        #expect(page.text.contains("You share this"))
        #expect(Visitor.forms(of: page).isEmpty)
    }

    @Test("accepting needs the form of the page")
    func crossSite() async throws {
        let server = try await TestServer.withPasswords()
        let path = try await share(server)
        let bob = try await visitor(server, "bob@example.org")
        #expect(try await bob.post(path, []).status == 403)
        #expect(try await bob.get(path).text.contains("once you accept"))
        #expect(try await Visitor(server).post(path, []).location == "/sign-in?next=\(path)")
    }
}
