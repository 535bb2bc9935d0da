import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore
@testable import RecordServerHTTP

/// To what somebody is invited, as changes/database tells those who ask.
@Suite("Invitations that feeds tell") struct InvitationFeedTests {
    private func invitations(
        _ scene: ShareScene, as person: TestServer.Person = .bob,
        _ asked: JSONValue = ["wantsInvitations": true], _ scope: DatabaseScope = .shared
    ) async throws -> [JSONValue]? {
        let answer = try await scene.server.call(.changesDatabase, scope, as: person, asked)
        #expect(answer.status == 200, "\(answer.text)")
        return answer.json["invitations"]?.array
    }

    private func decline(
        _ scene: ShareScene, _ guid: Text, as person: TestServer.Person = .bob
    ) async throws -> JSONValue {
        try await scene.server.call(
            .recordsDecline, .public, as: person, ["shortGUIDs": [["value": .string(guid)]]]
        ).json.at("results.0")
    }

    private static func invite(address: String) -> JSONValue {
        [
            "type": "USER", "permission": "READ_ONLY", "acceptanceStatus": "INVITED",
            "userIdentity": ["lookupInfo": ["emailAddress": JSONValue(address)]],
        ]
    }

    @Test("who is invited by name is told of it as records/resolve tells it, until he has accepted")
    func byName() async throws {
        let scene = try await ShareScene()
        #expect(try await invitations(scene) == [])
        let guid = try await scene.share([ShareScene.invite(.bob)])
        let told = try #require(try await invitations(scene))
        #expect(told.count == 1)
        let resolved = try await scene.server.call(
            .recordsResolve, .public, as: .bob, ["shortGUIDs": [["value": .string(guid)]]]
        ).json.at("results.0")
        let invitation = try #require(told.first)
        #expect(
            invitation.object?.map(\.key) == [
                "shortGUID", "url", "title", "ownerIdentity", "participantPermission", "invitedAt",
            ])
        #expect(invitation["shortGUID"] == .string(guid))
        #expect(invitation["url"] == resolved.at("share.url"))
        #expect(invitation["title"] == "Plans")
        #expect(invitation["ownerIdentity"] == resolved["ownerIdentity"])
        #expect(invitation["participantPermission"] == "READ_WRITE")
        // Nobody else is told, nor who does not ask, and not of another database.
        #expect(try await invitations(scene, as: .carol) == [])
        #expect(try await invitations(scene, as: .alice) == [])
        #expect(try await invitations(scene, [:]) == nil)
        #expect(
            try await invitations(scene, ["wantsInvitations": true], .private) == nil)
        _ = try await scene.accept(guid, as: .bob)
        #expect(try await invitations(scene) == [])
        // Whoever has left and is invited again, is told again.
        _ = try await scene.modify([ShareScene.remove("s-1")], as: .bob)
        #expect(try await invitations(scene) == [])
        try await scene.change(["participants": [ShareScene.invite(.bob)]])
        #expect(try await invitations(scene)?.count == 1)
    }

    @Test("an invitation to an address is told the account that has it, whatever its letters")
    func byAddress() async throws {
        let scene = try await ShareScene()
        try await scene.share([Self.invite(address: "BOB@Example.org")])
        let told = try #require(try await invitations(scene))
        #expect(told.count == 1 && told[0]["participantPermission"] == "READ_ONLY")
        #expect(try await invitations(scene, as: .carol) == [])
        try await scene.server.changeUser(.bob) { $0.emailAddress = "other@example.org" }
        #expect(try await invitations(scene) == [])
        try await scene.server.changeUser(.bob) { $0.phoneNumber = "+49 30 123" }
        try await scene.change([
            "participants": [
                [
                    "type": "USER", "permission": "READ_ONLY",
                    "userIdentity": ["lookupInfo": ["phoneNumber": "+49-30-123"]],
                ]
            ]
        ])
        #expect(try await invitations(scene)?.count == 1)
    }

    @Test(
        "what opens for nobody by name is no invitation: public links, links for one person, blocks"
    )
    func others() async throws {
        let scene = try await ShareScene()
        try await scene.share(permission: "READ_WRITE")
        try await scene.change([
            "participants": [
                ["participantId": "p-1", "type": "USER", "permission": "READ_ONLY"]
            ],
            "oneTimeStableUrlInfo": ["oneTimeLinks": [["participantId": ["p-1"]]]],
        ])
        #expect(try await invitations(scene) == [])
        try await scene.modifyAll([ShareScene.create("t-2", "Topic")])
        try await scene.share([ShareScene.invite(.bob)], root: "t-2", name: "s-2")
        #expect(try await invitations(scene)?.count == 1)
        try await scene.change(
            [
                "blocked": [
                    [
                        "blockedInformation": [
                            "userRecordName": .string(ShareScene.name(.bob))
                        ]
                    ]
                ]
            ], of: "s-2")
        #expect(try await invitations(scene) == [])
    }

    @Test("an invitation that is taken back, by whatever, is told no longer")
    func withdrawn() async throws {
        let scene = try await ShareScene()
        let invited: JSONValue = ["participants": [ShareScene.invite(.bob)]]
        try await scene.share([ShareScene.invite(.bob)])
        #expect(try await invitations(scene)?.count == 1)
        try await scene.change(["participants": []])
        #expect(try await invitations(scene) == [])
        try await scene.change(invited)
        #expect(try await invitations(scene)?.count == 1)
        try await scene.modifyAll([ShareScene.remove("s-1")])
        #expect(try await invitations(scene) == [])
        try await scene.share([ShareScene.invite(.bob)])
        #expect(try await invitations(scene)?.count == 1)
        _ = try await scene.server.call(
            .zonesModify, .private, as: .alice,
            ["operations": [["operationType": "delete", "zone": ["zoneID": ShareScene.zone]]]])
        #expect(try await invitations(scene) == [])
    }

    @Test("a hundred are told a page, each once, with titles that are cut between characters")
    func many() async throws {
        let scene = try await ShareScene { $0.service.invitationsPerPerson = 1_000 }
        let count = DatabasePage.maximumInvitations + 2
        let names = (0..<count).map { "r-\($0)" }
        for part in stride(from: 0, to: count, by: 50) {
            try await scene.modifyAll(
                names[part..<min(part + 50, count)].map { ShareScene.create($0, "Topic") })
        }
        for name in names {
            try await scene.share([ShareScene.invite(.bob)], root: name, name: "s-\(name)")
            scene.server.clock.advance(.milliseconds(1))
        }
        let told = try #require(try await invitations(scene))
        #expect(told.count == DatabasePage.maximumInvitations)
        let first = try await scene.server.call(
            .changesDatabase, .shared, as: .bob, ["wantsInvitations": true])
        let marker = try #require(first.json["invitationsMarker"])
        let second = try await scene.server.call(
            .changesDatabase, .shared, as: .bob,
            ["wantsInvitations": true, "invitationsMarker": marker])
        #expect(second.json["invitations"]?.array?.count == 2)
        #expect(second.json["invitationsMarker"] == nil)
        let all = told + (second.json["invitations"]?.array ?? [])
        #expect(Set(all.compactMap { $0["shortGUID"]?.string }).count == count)
        for bad: JSONValue in ["x", "-1", 7] {
            let refused = try await scene.server.call(
                .changesDatabase, .shared, as: .bob,
                ["wantsInvitations": true, "invitationsMarker": bad])
            #expect(refused.code == "BAD_REQUEST")
        }
        let times = told.compactMap { $0["invitedAt"]?.int64 }
        #expect(times == times.sorted(by: >) && Set(times).count == told.count)
        let title = "a" + String(repeating: "ü", count: 200)
        try await scene.change(
            ["fields": ["cloudkit.title": ["value": JSONValue(title), "type": "STRING"]]],
            of: "s-\(names[count - 1])")
        let cut = try #require(try await invitations(scene)?.first?["title"]?.string)
        #expect(cut.string == "a" + String(repeating: "ü", count: 127))
    }

    @Test(
        "to decline takes the invitation back, for both; of what is accepted, or is none, nothing")
    func declined() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.bob), ShareScene.invite(.carol)])
        #expect(try await decline(scene, guid).at("shortGUID.value") == .string(guid))
        #expect(try await invitations(scene) == [])
        #expect(try await decline(scene, guid).code == "NOT_FOUND")
        #expect(try await decline(scene, "none").code == "NOT_FOUND")
        #expect(try await scene.accept(guid, as: .bob).code == "NOT_FOUND")
        let share = try await scene.lookup(["s-1"], as: .alice)
        #expect(share.at("0.participants").array?.count == 2)
        #expect(try await invitations(scene, as: .carol)?.count == 1)
        _ = try await scene.accept(guid, as: .carol)
        #expect(try await decline(scene, guid, as: .carol).code == "NOT_FOUND")
        #expect(try await scene.lookup(["t-1"], as: .carol).at("0.recordName") == "t-1")
    }

    @Test("a strict server knows neither the key nor the operation")
    func strict() async throws {
        let server = try await TestServer { $0.service.isStrict = true }
        let asked = try await server.call(
            .changesDatabase, .shared, as: .bob, ["wantsInvitations": true])
        #expect(asked.status == 400)
        let declined = try await server.call(
            .recordsDecline, .public, as: .bob, ["shortGUIDs": [["value": "x"]]])
        #expect(declined.status == 400)
    }
}
