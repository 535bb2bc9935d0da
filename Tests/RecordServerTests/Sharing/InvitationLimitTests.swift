import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore
@testable import RecordServerHTTP

/// What keeps invitations from being too much for who gets them, and from telling who has an account.
@Suite("Invitations have bounds") struct InvitationLimitTests {
    private static func invite(address: String) -> JSONValue {
        [
            "type": "USER", "permission": "READ_ONLY", "acceptanceStatus": "INVITED",
            "userIdentity": ["lookupInfo": ["emailAddress": JSONValue(address)]],
        ]
    }

    private func told(_ scene: ShareScene, as person: TestServer.Person = .bob) async throws
        -> [JSONValue]
    {
        try await scene.server.call(
            .changesDatabase, .shared, as: person, ["wantsInvitations": true]
        ).json["invitations"]?.array ?? []
    }

    private func roots(_ scene: ShareScene, _ count: Int) async throws -> [String] {
        let names = (0..<count).map { "r-\($0)" }
        for part in stride(from: 0, to: count, by: 50) {
            try await scene.modifyAll(
                names[part..<min(part + 50, count)].map { ShareScene.create($0, "Topic") })
        }
        return names
    }

    private func share(
        _ scene: ShareScene, _ root: String, _ participants: [JSONValue]
    ) async throws -> TestServer.Answer {
        try await scene.server.call(
            .recordsModify, .private, as: .alice,
            [
                "zoneID": ShareScene.zone,
                "operations": [
                    [
                        "operationType": "forceUpdate",
                        "record": ["recordName": JSONValue(root), "recordType": "Topic"],
                    ],
                    [
                        "operationType": "create",
                        "record": [
                            "recordName": JSONValue("s-" + root), "recordType": "cloudkit.share",
                            "forRecord": ["recordName": JSONValue(root)],
                            "participants": .array(participants),
                        ],
                    ],
                ],
            ])
    }

    @Test("one person has at most so many invitations waiting with another, over all requests")
    func waiting() async throws {
        let scene = try await ShareScene { $0.service.invitationsPerPerson = 5 }
        let roots = try await roots(scene, 7)
        for root in roots.prefix(5) {
            let made = try await share(scene, root, [ShareScene.invite(.bob)])
            #expect(!made.text.contains("serverErrorCode"), "\(made.text)")
        }
        let refused = try await share(scene, roots[5], [ShareScene.invite(.bob)])
        #expect(refused.text.contains("LIMIT_EXCEEDED"), "\(refused.text)")
        #expect(refused.text.contains("participants[0]"))
        #expect(try await told(scene).count == 5)
        // Others are invited all the same, and Bob again once he has answered.
        let other = try await share(scene, roots[5], [ShareScene.invite(.carol)])
        #expect(!other.text.contains("LIMIT_EXCEEDED"))
        let guid = try #require(try await told(scene).first?["shortGUID"]?.string)
        _ = try await scene.accept(guid, as: .bob)
        let again = try await share(scene, roots[6], [ShareScene.invite(.bob)])
        #expect(!again.text.contains("LIMIT_EXCEEDED"), "\(again.text)")
    }

    @Test("who floods somebody buries nobody else's invitation, and is slowed down")
    func flood() async throws {
        let scene = try await ShareScene { $0.service.invitationsPerPerson = 1_000 }
        // Carol's one invitation is the oldest of all.
        let carols = try await scene.server.call(
            .zonesModify, .private, as: .carol,
            ["operations": [["operationType": "create", "zone": ["zoneID": ShareScene.zone]]]])
        #expect(carols.status == 200)
        let made = try await scene.server.call(
            .recordsModify, .private, as: .carol,
            [
                "zoneID": ShareScene.zone,
                "operations": [
                    [
                        "operationType": "create",
                        "record": [
                            "recordType": "cloudkit.share", "recordName": "cloudkit.zoneshare",
                            "participants": [ShareScene.invite(.bob)],
                        ],
                    ]
                ],
            ])
        let carol = try #require(made.json.at("records.0.shortGUID").string, "\(made.text)")
        let roots = try await roots(scene, 210)
        var throttled: TestServer.Answer?
        for root in roots {
            scene.server.clock.advance(.milliseconds(1))
            let answer = try await share(scene, root, [ShareScene.invite(.bob)])
            guard answer.status == 200 else {
                throttled = answer
                break
            }
        }
        let refused = try #require(throttled)
        #expect(refused.status == 429 && refused.code == "THROTTLED")
        #expect((refused.json["retryAfter"]?.int64 ?? 0) > 0)
        let first = try await told(scene)
        #expect(first.count == DatabasePage.maximumInvitations)
        #expect(first.prefix(2).contains { $0["shortGUID"] == .string(carol) })
        // A share without new people is saved meanwhile, and time heals.
        let title = try await scene.change(
            ["fields": ["cloudkit.title": ["value": "T", "type": "STRING"]]], of: "s-r-0")
        #expect(title["serverErrorCode"] == nil)
        scene.server.clock.advance(.seconds(60))
        #expect(try await share(scene, "r-209", [ShareScene.invite(.bob)]).status == 200)
    }

    // MARK: Blocking by who is invited

    @Test("who is blocked on the page is heard of no more, is not told, and can be unblocked")
    func blocking() async throws {
        let server = try await TestServer.withPasswords()
        let scene = try await ShareScene(server)
        try await scene.share([ShareScene.invite(.bob)])
        let bob = Visitor(server)
        #expect(try await bob.get("/invitations").location == "/sign-in?next=/invitations")
        let next = try await bob.signIn(
            try await bob.get("/sign-in?next=/invitations"), "bob@example.org")
        #expect(next.location == "/invitations")
        let page = try await bob.get("/invitations")
        #expect(page.text.contains("Plans") && page.text.contains("alice@example.org"))
        func form(_ page: Visitor.Page, _ action: String) throws -> [(String, String)] {
            try #require(
                Visitor.forms(of: page).first { $0.hidden.contains { $0 == ("do", action) } }
            ).hidden
        }
        // The form of one thing is good for no other.
        let forged = try form(page, "decline").map { $0.0 == "do" ? ("do", "block") : $0 }
        #expect(try await bob.post("/invitations", forged).status == 403)
        #expect(try await bob.post("/invitations", try form(page, "block")).status == 303)
        #expect(try await told(scene) == [])
        let blocked = try await bob.get("/invitations")
        #expect(!blocked.text.contains("Plans") && blocked.text.contains("Blocked"))
        // Alice sees what she saw, and may go on.
        let share = try await scene.lookup(["s-1"], as: .alice)
        #expect(share.at("0.participants").array?.count == 2)
        try await scene.modifyAll([ShareScene.create("t-2", "Topic")])
        try await scene.share([ShareScene.invite(.bob)], root: "t-2", name: "s-2")
        #expect(try await told(scene) == [])
        #expect(try await bob.post("/invitations", try form(blocked, "unblock")).status == 303)
        #expect(try await told(scene).count == 2)
        let again = try await bob.get("/invitations")
        #expect(try await bob.post("/invitations", try form(again, "decline")).status == 303)
        #expect(try await told(scene).count == 1)
    }

    // MARK: What inviting and blocking tells

    /// Whether an address of the list is that of a user who is known by name, as far as the owner of a
    /// share can see it.
    private func seen(
        _ scene: ShareScene, _ members: JSONValue, _ address: String
    ) async throws -> String {
        let share = try await scene.change(members)
        let participants = (share["participants"]?.array ?? []).map { participant in
            ["acceptanceStatus", "permission", "type", "userIdentity"].map { key in
                String(decoding: (participant[key] ?? .null).serialized(), as: UTF8.self)
            }.joined(separator: " ")
        }
        let blocked = String(
            decoding: (share["blocked"] ?? share["serverErrorCode"] ?? .null).serialized(),
            as: UTF8.self)
        // The one thing that may differ is the address itself.
        return (participants + [blocked]).joined(separator: "\n")
            .replacing(address, with: "ADDRESS")
    }

    private static func blocked(_ information: JSONValue) -> JSONValue {
        ["blockedInformation": information]
    }

    @Test(
        "neither an invitation nor a block tells whether an address is that of a user",
        arguments: ["invite", "block and invite", "block", "block name, invite address"])
    func oracle(_ way: String) async throws {
        var answers: Set<String> = []
        for address in ["bob@example.org", "nobody@example.org", "carol@example.org"] {
            let scene = try await ShareScene()
            let name: JSONValue = ["userRecordName": .string(ShareScene.name(.bob))]
            let lookup: JSONValue = ["lookupInfo": ["emailAddress": JSONValue(address)]]
            let byName = ShareScene.invite(.bob)
            let byAddress = Self.invite(address: address)
            switch way {
            case "invite":
                try await scene.share([byName])
                answers.insert(
                    try await seen(scene, ["participants": [byName, byAddress]], address))
            case "block and invite":
                try await scene.share([])
                answers.insert(
                    try await seen(
                        scene, ["participants": [byName], "blocked": [Self.blocked(lookup)]],
                        address))
            case "block":
                let guid = try await scene.share([byName])
                _ = try await scene.accept(guid, as: .bob)
                answers.insert(
                    try await seen(scene, ["blocked": [Self.blocked(lookup)]], address))
            default:
                try await scene.share([])
                _ = try await scene.change(["blocked": [Self.blocked(name)]])
                answers.insert(
                    try await seen(scene, ["participants": [byAddress]], address))
            }
        }
        #expect(answers.count == 1, "\(answers.sorted())")
    }
}
