import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Requests for access") struct ShareAccessTests {
    private let scene: ShareScene
    private let guid: Text

    /// Bob has accepted, Carol was never invited.
    init() async throws {
        scene = try await ShareScene()
        guid = try await scene.share([ShareScene.invite(.bob)])
        #expect(try await scene.accept(guid, as: .bob)["serverErrorCode"] == nil)
    }

    private func ask(_ guid: Text, as person: TestServer.Person) async throws -> TestServer.Answer {
        try await scene.server.call(
            .recordsRequestAccess, .public, as: person,
            ["shortGUIDs": [["value": .string(guid)]]])
    }

    private func share(as person: TestServer.Person = .alice) async throws -> JSONValue {
        try await scene.lookup(["s-1"], as: person).at("0")
    }

    private func requesters(_ share: JSONValue) -> [JSONValue] {
        (share.at("requesters").array ?? []).compactMap { $0["requesterInformation"] }
    }

    @Test("who asks is shown to the owner, with name and address, once; the feed has the share")
    func asked() async throws {
        let token = try await scene.feed(as: .alice).at("syncToken")
        for _ in 1...2 { #expect(try await ask(guid, as: .carol).status == 200) }
        let share = try await share()
        let asking = requesters(share)
        #expect(asking.count == 1)
        #expect(asking.first?.at("userRecordName") == .string(ShareScene.name(.carol)))
        #expect(asking.first?.at("lookupInfo.emailAddress") == "carol@example.org")
        #expect(share.at("requesters.0.requestedAt").int64 != nil)
        #expect(share.at("denyAccessRequests") == false)
        #expect(scene.names(try await scene.feed(after: token, as: .alice)) == ["s-1"])
        // Other participants are not told.
        let seen = try await self.share(as: .bob)
        #expect(seen["requesters"] == nil && seen["denyAccessRequests"] == nil)
        let text = String(decoding: seen.serialized(), as: UTF8.self)
        #expect(!text.contains("carol") && !text.contains(ShareScene.name(.carol).string))
    }

    @Test("the answer is the same for what is there, what is not, what is denied, and who is in")
    func sameAnswer() async throws {
        let missing: Text = "AAAAAAAAAAAAAAAAAAAAAA"
        func answer(_ guid: Text, _ person: TestServer.Person) async throws -> String {
            let answer = try await ask(guid, as: person)
            #expect(answer.status == 200)
            return answer.text.replacing(guid.string, with: "ID")
        }
        let nothing = try await answer(missing, .carol)
        #expect(try await answer(guid, .carol) == nothing)
        #expect(try await answer(guid, .carol) == nothing)
        #expect(try await answer(guid, .bob) == nothing)
        #expect(try await answer(guid, .alice) == nothing)
        #expect(try await scene.change(["denyAccessRequests": true])["serverErrorCode"] == nil)
        #expect(requesters(try await share()).isEmpty)
        #expect(try await answer(guid, .carol) == nothing)
        #expect(requesters(try await share()).isEmpty)
    }

    @Test("who is approved is a participant who was a requester, and may accept")
    func approved() async throws {
        #expect(try await scene.accept(guid, as: .carol).at("serverErrorCode") == "NOT_FOUND")
        _ = try await ask(guid, as: .carol)
        #expect(try await scene.accept(guid, as: .carol).at("serverErrorCode") == "NOT_FOUND")
        let participants = try await share().at("participants").array ?? []
        let changed = try await scene.change([
            "participants": .array(participants + [ShareScene.invite(.carol, "READ_ONLY")])
        ])
        #expect(requesters(changed).isEmpty)
        let carol = try #require(changed.at("participants").array?.last)
        #expect(carol.at("isApprovedRequester") == true)
        #expect(carol.at("acceptanceStatus") == "INVITED")
        #expect(changed.at("participants.1.isApprovedRequester") == .null)
        let joined = try await scene.accept(guid, as: .carol)
        #expect(joined.at("participantPermission") == "READ_ONLY")
    }

    @Test("who is denied may ask again; who is blocked may not, nor come in by the link")
    func deniedAndBlocked() async throws {
        _ = try await ask(guid, as: .carol)
        #expect(requesters(try await scene.change(["requesters": []])).isEmpty)
        _ = try await ask(guid, as: .carol)
        let asking = requesters(try await share())
        #expect(asking.count == 1)
        let blocked = try await scene.change([
            "requesters": [], "blocked": [["blockedInformation": try #require(asking.first)]],
        ])
        #expect(
            blocked.at("blocked.0.blockedInformation.userRecordName")
                == .string(ShareScene.name(.carol)))
        _ = try await ask(guid, as: .carol)
        #expect(requesters(try await share()).isEmpty)
        let opened = try await scene.change(["publicPermission": "READ_ONLY"])
        #expect(opened["serverErrorCode"] == nil)
        #expect(try await scene.accept(guid, as: .carol).at("serverErrorCode") == "NOT_FOUND")
        #expect(try await scene.change(["blocked": []])["serverErrorCode"] == nil)
        #expect(try await scene.accept(guid, as: .carol)["serverErrorCode"] == nil)
    }

    @Test("who is blocked while in the share is out of it; the owner cannot be blocked")
    func blockingMembers() async throws {
        func block(_ person: TestServer.Person) async throws -> JSONValue {
            try await scene.change([
                "blocked": [
                    ["blockedInformation": ["userRecordName": .string(ShareScene.name(person))]]
                ]
            ])
        }
        #expect(try await block(.alice).at("serverErrorCode") == "BAD_REQUEST")
        #expect(try await block(.bob).at("participants").array?.count == 1)
        let zones = try await scene.server.call(.zonesList, .shared, as: .bob)
        #expect(zones.json["zones"]?.array?.isEmpty == true)
    }

    @Test("only the owner and administrators decide")
    func rights() async throws {
        _ = try await ask(guid, as: .carol)
        for keys in [
            ["denyAccessRequests": true], ["blocked": [["blockedInformation": Self.dave]]],
        ] as [JSONValue] {
            let refused = try await scene.change(keys, as: .bob)
            #expect(refused.at("serverErrorCode") == "ACCESS_DENIED")
        }
        #expect(requesters(try await share()).count == 1)
    }

    private static let dave: JSONValue = ["lookupInfo": ["emailAddress": "dave@example.org"]]

    @Test("nobody waits where anybody may come in")
    func opened() async throws {
        _ = try await ask(guid, as: .carol)
        let opened = try await scene.change(["publicPermission": "READ_ONLY"])
        #expect(requesters(opened).isEmpty && opened["serverErrorCode"] == nil)
    }

    @Test("requests are few: of one user in a time, and to one share")
    func bounds() async throws {
        for _ in 0..<20 { #expect(try await ask("missing", as: .carol).status == 200) }
        #expect(try await ask(guid, as: .carol).status == 429)
        var row = try #require(
            try await scene.server.storage.read { (reader) throws(ServerError) in
                try reader.share(
                    ContainerKey(container: TestServer.container, environment: .development),
                    shortGUID: guid)
            })
        for number in 0..<ShareRow.requesterLimit {
            row.requesters.append(
                RequesterRow(user: UserName("_\(number)"), milliseconds: 1))
        }
        let full = row
        try await scene.server.storage.write { (transaction) throws(ServerError) in
            try transaction.putShare(full)
        }
        let dave = try await scene.server.addUser("dave")
        #expect(try await ask(guid, as: dave).status == 200)
        #expect(requesters(try await share()).isEmpty)
    }

    @Test("a strict server has no such operation")
    func strict() async throws {
        let server = try await TestServer { $0.service.isStrict = true }
        let answer = try await server.call(
            .recordsRequestAccess, .public, as: .bob, ["shortGUIDs": [["value": "x"]]])
        #expect(answer.status == 400)
    }
}
