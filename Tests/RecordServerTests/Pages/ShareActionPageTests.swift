import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("What one can do at the page of a share")
struct ShareActionPageTests {
    private let server: TestServer
    private let path: String

    /// Alice shares a zone as `Plans` with Bob, who has not accepted.
    init() async throws {
        server = try await TestServer.withPasswords()
        try await server.makeZone("Work")
        let answer = try await server.modify(
            "Work",
            operation(
                "create", "cloudkit.zoneshare", type: "cloudkit.share",
                ["cloudkit.title": ["value": "Plans", "type": "STRING"]],
                [
                    "participants": [
                        [
                            "type": "USER", "permission": "READ_WRITE",
                            "userIdentity": ["lookupInfo": ["emailAddress": "bob@example.org"]],
                        ]
                    ]
                ]))
        path = "/share/" + (answer.records.first?["shortGUID"]?.string?.string ?? "")
    }

    private func visitor(_ name: String) async throws -> Visitor {
        let visitor = Visitor(server)
        _ = try await visitor.signIn(try await visitor.get("/sign-in"), "\(name)@example.org")
        return visitor
    }

    /// Sends the form of the page that does this.
    private func act(
        _ action: String, _ visitor: Visitor, on page: Visitor.Page,
        _ fields: [(String, String)] = []
    ) async throws -> Visitor.Page {
        let form = try #require(
            Visitor.forms(of: page).first { $0.hidden.contains { $0 == ("do", action) } })
        return try await visitor.post(form.action, form.hidden + fields)
    }

    private func share() async throws -> JSONValue {
        try await server.call(
            .recordsLookup, .private, as: .alice,
            [
                "zoneID": ["zoneName": "Work"], "records": [["recordName": "cloudkit.zoneshare"]],
            ]
        ).json.at("records.0")
    }

    @Test("it says whose the share is, of what, and who may do what")
    func words() async throws {
        let page = try await visitor("bob").get(path)
        for words in [
            "alice", "<strong>Plans</strong>", "a whole zone", "see and change it once you accept",
            "Only invited people can join", "Decline", "Report",
        ] {
            #expect(page.text.contains(words), "\(words)")
        }
    }

    @Test("who declines is invited no more, and gets the page of nothing")
    func decline() async throws {
        let bob = try await visitor("bob")
        let page = try await bob.get(path)
        #expect(try await act("decline", bob, on: page).text.contains("You have declined"))
        #expect(try await share().at("participants").array?.count == 1)
        #expect(try await bob.get(path).status == 404)
    }

    @Test("a form for one thing does no other, and none of another browser does anything")
    func seals() async throws {
        let bob = try await visitor("bob")
        let page = try await bob.get(path)
        let accept = try #require(Visitor.forms(of: page).first)
        let sealed = accept.hidden.filter { $0.0 == "form" }
        for action in ["decline", "report", "request"] {
            #expect(try await bob.post(path, sealed + [("do", action)]).status == 403, "\(action)")
        }
        #expect(try await bob.post(path, sealed + [("do", "steal")]).status == 400)
        let other = try await visitor("bob")
        for form in Visitor.forms(of: page) {
            #expect(try await other.post(path, form.hidden).status == 403)
        }
        #expect(try await share().at("participants.1.acceptanceStatus") == "INVITED")
    }

    @Test("who is not invited asks for access there, and nothing tells whether there is something")
    func request() async throws {
        let carol = try await visitor("carol")
        let missing = "/share/abcdefghijklmnopqrstuv"
        var answers: [String] = []
        for path in [path, missing] {
            let page = try await carol.get(path)
            #expect(page.status == 404 && !page.text.contains("Plans"))
            let asked = try await act("request", carol, on: page)
            #expect(asked.status == 200)
            answers.append(asked.text.replacing(path, with: "PATH"))
        }
        #expect(answers[0] == answers[1])
        #expect(
            try await share().at("requesters.0.requesterInformation.lookupInfo.emailAddress")
                == "carol@example.org")
        let owner = try await visitor("alice").get(path)
        #expect(owner.text.contains("One person asks for access"))
        #expect(Visitor.forms(of: try await Visitor(server).get(missing)).isEmpty)
    }

    @Test("so many requests are refused as requests of programs are")
    func rate() async throws {
        let carol = try await visitor("carol")
        let page = try await carol.get(path)
        for _ in 0..<20 { #expect(try await act("request", carol, on: page).status == 200) }
        #expect(try await act("request", carol, on: page).status == 429)
    }

    @Test("a one-time link opens the page for whoever comes first")
    func oneTime() async throws {
        _ = try await server.addUser("dave")
        _ = try await server.accounts.setPassword(
            of: "dave@example.org", to: Array("correct horse".utf8), cost: .quick)
        let made = try await server.modify(
            "Work",
            operation(
                "forceUpdate", "cloudkit.zoneshare", type: "cloudkit.share", [:],
                [
                    "participants": [["participantId": "slot", "permission": "READ_ONLY"]],
                    "oneTimeStableUrlInfo": ["oneTimeLinks": [["participantId": ["slot"]]]],
                ]))
        let link =
            made.records.first?.at("oneTimeStableUrlInfo.oneTimeLinks.0.sharingLink").string
        let path = "/share/\(try #require(link))"
        let closed = try await Visitor(server).get(path)
        #expect(!closed.text.contains("Plans") && closed.text.contains("Sign in"))
        let (carol, dave) = (try await visitor("carol"), try await visitor("dave"))
        let pages = [try await carol.get(path), try await dave.get(path)]
        for page in pages { #expect(page.text.contains("You can see it once you accept")) }
        #expect(try await act("accept", carol, on: pages[0]).location == path)
        #expect(try await act("accept", dave, on: pages[1]).status == 404)
        #expect(try await carol.get(path).text.contains("You have accepted"))
    }

    @Test("a report is kept for who runs the server, and is no longer than it may be")
    func report() async throws {
        let bob = try await visitor("bob")
        let page = try await bob.get(path)
        let long = String(repeating: "x", count: ShareReport.maximumBytes + 1)
        #expect(try await act("report", bob, on: page, [("text", long)]).status == 400)
        #expect(try await act("report", bob, on: page, [("text", "is <bad>")]).status == 200)
        let reports = try await server.storage.read { (reader) throws(ServerError) in
            try reader.shareReports(limit: 10)
        }
        #expect(reports.map(\.text) == ["is <bad>"])
        #expect(reports.first?.reporter == TestServer.Person.bob.user)
        #expect(reports.first?.zone.zone == ZoneName("Work"))
        #expect(try await share().at("participants.1.acceptanceStatus") == "INVITED")
    }
}
