import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("One-time links") struct OneTimeLinkTests {
    private let scene: ShareScene
    private let guid: Text

    init() async throws {
        scene = try await ShareScene()
        guid = try await scene.share()
    }

    private func share(as person: TestServer.Person = .alice) async throws -> JSONValue {
        try await scene.lookup(["s-1"], as: person).at("0")
    }

    /// As a client does it: with a participant that is nobody yet, of a name that it gives.
    private func makeLink(
        _ id: String = "slot-1", _ permission: String = "READ_WRITE",
        as person: TestServer.Person = .alice
    ) async throws -> JSONValue {
        let known = try await share(as: person)
        let slot: JSONValue = [
            "participantId": JSONValue(id), "type": "USER", "permission": JSONValue(permission),
            "acceptanceStatus": "INVITED", "userIdentity": [:],
        ]
        let links = known.at("oneTimeStableUrlInfo.oneTimeLinks").array ?? []
        return try await scene.change(
            [
                "participants": .array((known.at("participants").array ?? []) + [slot]),
                "oneTimeStableUrlInfo": [
                    "oneTimeLinks": .array(links + [["participantId": [JSONValue(id)]]])
                ],
            ], as: person)
    }

    private func link(_ share: JSONValue, at place: Int = 0) throws -> Text {
        let link = share.at("oneTimeStableUrlInfo.oneTimeLinks.\(place)")
        return try #require(link.at("sharingLink").string)
    }

    @Test("whoever opens it first is the participant, as often as he likes; nobody after him")
    func first() async throws {
        let made = try await makeLink()
        let link = try link(made)
        #expect(link.utf8.count == 22 && link != guid)
        #expect(
            made.at("oneTimeStableUrlInfo.oneTimeLinks.0.participantId.0") == "slot-1")
        let url = made.at("oneTimeStableUrlInfo.oneTimeLinks.0.url").string?.string ?? ""
        #expect(url.hasSuffix("/share/\(link)"))
        #expect(try await scene.accept(guid, as: .carol).at("serverErrorCode") == "NOT_FOUND")
        for _ in 1...2 {
            let joined = try await scene.accept(link, as: .bob)
            #expect(joined.at("participantPermission") == "READ_WRITE")
            #expect(joined.at("participantStatus") == "ACCEPTED")
        }
        #expect(try await scene.accept(link, as: .carol).at("serverErrorCode") == "NOT_FOUND")
        let after = try await share()
        #expect(after.at("oneTimeStableUrlInfo.oneTimeLinks").array?.isEmpty == true)
        #expect(after.at("participants.1.participantId") == "slot-1")
        #expect(
            after.at("participants.1.userIdentity.userRecordName")
                == .string(ShareScene.name(.bob)))
        #expect(after.at("participants").array?.count == 2)
    }

    @Test("of two who open it at once, one is in", arguments: 0..<5)
    func race(_ round: Int) async throws {
        let link = try link(try await makeLink())
        let scene = scene
        let dave = try await scene.server.addUser("dave")
        let codes = try await withThrowingTaskGroup(of: Text?.self) { group in
            for person in [TestServer.Person.bob, .carol, dave] {
                group.addTask {
                    try await scene.accept(link, as: person)["serverErrorCode"]?.string
                }
            }
            return try await group.reduce(into: [Text?]()) { $0.append($1) }
        }
        #expect(codes.filter { $0 == nil }.count == 1)
        #expect(codes.filter { $0 == "NOT_FOUND" }.count == 2)
        #expect(try await share().at("participants").array?.count == 2)
    }

    @Test("what a used link says to others is what a wrong one says")
    func sameAnswer() async throws {
        let link = try link(try await makeLink())
        _ = try await scene.accept(link, as: .bob)
        func answer(_ value: Text, _ endpoint: Endpoint) async throws -> String {
            try await scene.server.call(
                endpoint, .public, as: .carol, ["shortGUIDs": [["value": .string(value)]]]
            ).text.replacing(/"uuid":"[^"]*"/, with: "").replacing(value.string, with: "ID")
        }
        for endpoint in [Endpoint.recordsResolve, .recordsAccept] {
            let wrong = try await answer("AAAAAAAAAAAAAAAAAAAAAA", endpoint)
            #expect(try await answer(link, endpoint) == wrong)
        }
    }

    @Test("each link is for one, and ends when the owner takes it back")
    func several() async throws {
        _ = try await makeLink("slot-1", "READ_ONLY")
        let made = try await makeLink("slot-2")
        let links = [try link(made, at: 0), try link(made, at: 1)]
        #expect(links[0] != links[1])
        #expect(
            try await scene.accept(links[0], as: .bob).at("participantPermission") == "READ_ONLY")
        let ended = try await scene.change(["oneTimeStableUrlInfo": ["oneTimeLinks": []]])
        #expect(ended.at("participants").array?.count == 2)
        #expect(try await scene.accept(links[1], as: .carol).at("serverErrorCode") == "NOT_FOUND")
        #expect(try await scene.accept(links[0], as: .bob)["serverErrorCode"] == nil)
    }

    @Test("who was taken out does not come back by a link, and the participants do not see one")
    func others() async throws {
        _ = try await scene.change(["participants": [ShareScene.invite(.bob)]])
        _ = try await scene.accept(guid, as: .bob)
        let link = try link(try await makeLink())
        #expect(try await share(as: .bob)["oneTimeStableUrlInfo"] == nil)
        let refused = try await makeLink("slot-9", as: .bob)
        #expect(refused.at("serverErrorCode") == "ACCESS_DENIED")
        let slot: JSONValue = ["participantId": "slot-1"]
        _ = try await scene.change(["participants": [slot]])
        #expect(try await scene.accept(link, as: .bob).at("serverErrorCode") == "NOT_FOUND")
        #expect(try await scene.accept(link, as: .carol)["serverErrorCode"] == nil)
    }

    @Test("an administrator neither sees nor ends a link that gives more than he has")
    func administrators() async throws {
        _ = try await scene.change([
            "participants": [ShareScene.invite(.bob, "READ_ONLY", "ADMINISTRATOR")]
        ])
        _ = try await scene.accept(guid, as: .bob)
        let link = try link(try await makeLink())
        #expect(
            try await share(as: .bob).at("oneTimeStableUrlInfo.oneTimeLinks").array?.isEmpty
                == true)
        #expect(
            try await makeLink("slot-2", as: .bob).at("serverErrorCode") == "ACCESS_DENIED")
        #expect(
            try await makeLink("slot-3", "READ_ONLY", as: .bob)["serverErrorCode"] == nil)
        #expect(try await scene.accept(link, as: .carol)["serverErrorCode"] == nil)
    }

    @Test(
        "a link without its participant, or with a wrong one, is refused",
        arguments: [
            ["participants": [["participantId": "x", "userIdentity": [:]]]],
            [
                "participants": [["participantId": "a b", "userIdentity": [:]]],
                "oneTimeStableUrlInfo": ["oneTimeLinks": [["participantId": ["a b"]]]],
            ],
            ["oneTimeStableUrlInfo": ["oneTimeLinks": [["participantId": 1]]]],
            ["oneTimeStableUrlInfo": ["oneTimeLinks": [[:]]]],
            ["oneTimeStableUrlInfo": 1], ["requesters": [[:]]], ["blocked": 1],
            ["blocked": [["blockedInformation": [:]]]], ["denyAccessRequests": "yes"],
        ] as [JSONValue])
    func bad(_ keys: JSONValue) async throws {
        let refused = try await scene.change(keys)
        #expect(refused.at("serverErrorCode") == "BAD_REQUEST", "\(refused)")
    }

    @Test("a link to a hint about other invitations tells nothing of links")
    func hints() async throws {
        _ = try await makeLink()
        let answer = try await scene.accept(guid, as: .carol)
        #expect(answer["potentialMatchList"] == nil)
        let resolved = try await scene.server.call(
            .recordsResolve, .public, as: .carol, ["shortGUIDs": [["value": .string(guid)]]])
        #expect(!resolved.text.contains("potentialMatchList"))
    }
}
