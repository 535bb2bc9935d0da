import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Ends of sharing, end to end", .everyTransport) struct ShareLossTests {
    /// Bob has accepted.
    private func joined(_ type: String = "USER") async throws -> (ShareScene, Text) {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.bob, "READ_WRITE", type)])
        _ = try await scene.accept(guid, as: .bob)
        return (scene, guid)
    }

    /// That Bob has lost the zone, and that his feed says so.
    private func expectLost(
        _ scene: ShareScene, _ token: JSONValue?, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let changes = try await scene.database(after: token, as: .bob)
        #expect(changes.at("zones.0.deleted") == true, sourceLocation: sourceLocation)
        #expect(
            changes.at("zones.0.zoneID.zoneName") == "Work", sourceLocation: sourceLocation)
        let looked = try await scene.lookup(["t-1"], as: .bob)
        #expect(looked.code == "ZONE_NOT_FOUND", sourceLocation: sourceLocation)
        let feed = try await scene.feed(as: .bob)
        #expect(feed.code == "ZONE_NOT_FOUND", sourceLocation: sourceLocation)
        let written = try await scene.modify([ShareScene.edit("n-1", "late")], as: .bob)
        #expect(written.code == "ZONE_NOT_FOUND", sourceLocation: sourceLocation)
    }

    @Test("revoking takes the zone from the participant; a new invitation is a new view")
    func revoke() async throws {
        let (scene, guid) = try await joined()
        let token = try await scene.database(as: .bob)["syncToken"]
        let zoneToken = try await scene.feed(as: .bob)["syncToken"]
        #expect(try await scene.change(["participants": []]).code == nil)
        try await expectLost(scene, token)
        #expect(try await scene.accept(guid, as: .bob).code == "NOT_FOUND")
        #expect(
            try await scene.change(["participants": [ShareScene.invite(.bob)]]).code == nil)
        _ = try await scene.accept(guid, as: .bob)
        let stale = try await scene.feed(after: zoneToken, as: .bob)
        #expect(stale.code == "CHANGE_TOKEN_EXPIRED")
        #expect(scene.names(try await scene.feed(as: .bob)) == ["t-1", "n-1", "c-1", "s-1"])
    }

    @Test("a participant who deletes the share leaves; the records stay with the owner")
    func leave() async throws {
        let (scene, _) = try await joined()
        let token = try await scene.database(as: .bob)["syncToken"]
        let ownerFeed = try await scene.feed(as: .alice)
        try await scene.modifyAll([ShareScene.remove("s-1")], as: .bob)
        try await expectLost(scene, token)
        let share = try await scene.lookup(["s-1", "t-1", "n-1"], as: .alice)
        #expect(share.at("0.participants").array?.count == 1)
        #expect(share.at("1").code == nil && share.at("2").code == nil)
        let changes = try await scene.feed(after: ownerFeed["syncToken"], as: .alice)
        #expect(scene.names(changes) == ["s-1"])
    }

    @Test("a participant who deletes the root, or the zone, leaves as well")
    func leaveByRootOrZone() async throws {
        let (scene, _) = try await joined()
        let token = try await scene.database(as: .bob)["syncToken"]
        try await scene.modifyAll([ShareScene.remove("t-1")], as: .bob)
        try await expectLost(scene, token)
        #expect(try await scene.lookup(["t-1"], as: .alice).at("0").code == nil)

        let (other, _) = try await joined()
        let otherToken = try await other.database(as: .bob)["syncToken"]
        let deleted = try await other.server.call(
            .zonesModify, .shared, as: .bob,
            ["operations": [["operationType": "delete", "zone": ["zoneID": ShareScene.foreign]]]])
        #expect(deleted.json.at("zones.0").code == nil)
        try await expectLost(other, otherToken)
        #expect(try await other.lookup(["t-1"], as: .alice).at("0").code == nil)
    }

    @Test("the owner who deletes the share stops it; the records stay; the URL stays too")
    func stop() async throws {
        let (scene, guid) = try await joined()
        let token = try await scene.database(as: .bob)["syncToken"]
        try await scene.modifyAll([ShareScene.remove("s-1")])
        try await expectLost(scene, token)
        #expect(try await scene.accept(guid, as: .bob).code == "NOT_FOUND")
        let records = try await scene.lookup(["t-1", "n-1"], as: .alice)
        #expect(records.at("0").code == nil && records.at("1").code == nil)
        let again = try await scene.share([ShareScene.invite(.carol)], name: "s-again")
        #expect(again == guid)
        #expect(try await scene.accept(guid, as: .bob).code == "NOT_FOUND")
        #expect(try await scene.accept(guid, as: .carol).at("participantStatus") == "ACCEPTED")
    }

    @Test("the share of a zone ends and comes back with its URL")
    func stopZone() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.bob)], root: nil)
        _ = try await scene.accept(guid, as: .bob)
        let token = try await scene.database(as: .bob)["syncToken"]
        try await scene.modifyAll([ShareScene.remove("cloudkit.zoneshare")])
        try await expectLost(scene, token)
        #expect(try await scene.share([], root: nil) == guid)
    }

    @Test("the owner who deletes the root deletes its share")
    func deleteRoot() async throws {
        let (scene, _) = try await joined()
        let token = try await scene.database(as: .bob)["syncToken"]
        try await scene.modifyAll([
            ShareScene.remove("t-1"), ShareScene.remove("n-1"), ShareScene.remove("c-1"),
        ])
        try await expectLost(scene, token)
        #expect(try await scene.lookup(["s-1"], as: .alice).at("0").code == "NOT_FOUND")
    }

    @Test("the owner who deletes a root with children ends its share, and keeps what hung on it")
    func deleteRootAlone() async throws {
        let (scene, _) = try await joined()
        let token = try await scene.database(as: .bob)["syncToken"]
        let deleted = try await scene.modify([ShareScene.remove("t-1")])
        #expect(deleted.at("0.deleted") == true)
        #expect(deleted.at("0.unsharedChildren") == ["n-1"])
        try await expectLost(scene, token)
        let left = try await scene.lookup(["t-1", "s-1", "n-1", "c-1"], as: .alice)
        #expect(left.at("0").code == "NOT_FOUND" && left.at("1").code == "NOT_FOUND")
        #expect(left.at("2").code == nil && left.at("3").code == nil)
        #expect(left.at("2.share") == nil && left.at("3.share") == nil)
    }

    @Test("the name of a deleted root brings nobody what hung on it, but its owner")
    func nameOfDeletedRoot() async throws {
        let (scene, _) = try await joined()
        try await scene.modifyAll([ShareScene.remove("t-1")])
        try await scene.modifyAll([ShareScene.create("root-2", "Topic")])
        let guid = try await scene.share(
            [ShareScene.invite(.bob, "READ_WRITE")], root: "root-2", name: "s-2")
        _ = try await scene.accept(guid, as: .bob)
        let tried = try await scene.modify(
            [ShareScene.create("t-1", "Note", parent: "root-2")], as: .bob)
        #expect(tried.at("0").code != nil)
        #expect(try await scene.lookup(["n-1"], as: .bob).at("0").code == "NOT_FOUND")
        try await scene.modifyAll([ShareScene.create("t-1", "Topic", parent: "root-2")])
        #expect(try await scene.lookup(["n-1", "c-1"], as: .bob).at("1").code == nil)
        // A ring of what was there before and what is new is none.
        try await scene.modifyAll([ShareScene.remove("root-2")])
        let ring = try await scene.modify([ShareScene.create("root-2", "Topic", parent: "c-1")])
        #expect(ring.at("0").code == "VALIDATING_REFERENCE_ERROR")
    }

    @Test("the owner who deletes the zone takes it from everybody")
    func deleteZone() async throws {
        let (scene, guid) = try await joined()
        let token = try await scene.database(as: .bob)["syncToken"]
        let deleted = try await scene.server.call(
            .zonesModify, .private, as: .alice,
            ["operations": [["operationType": "delete", "zone": ["zoneID": ShareScene.zone]]]])
        #expect(deleted.json.at("zones.0").code == nil)
        try await expectLost(scene, token)
        #expect(try await scene.accept(guid, as: .bob).code == "NOT_FOUND")
    }

    @Test("a public share opens, changes its permission for all at once, and closes")
    func publicShare() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.carol)])
        _ = try await scene.accept(guid, as: .carol)
        #expect(try await scene.change(["publicPermission": "READ_ONLY"]).code == nil)
        #expect(try await scene.accept(guid, as: .bob).at("participantType") == "PUBLIC_USER")
        #expect(scene.names(try await scene.feed(as: .bob)).contains("n-1"))
        let refused = try await scene.modify([ShareScene.edit("n-1", "b")], as: .bob)
        #expect(refused.at("0").code == "ACCESS_DENIED")
        #expect(try await scene.change(["publicPermission": "READ_WRITE"]).code == nil)
        try await scene.modifyAll([ShareScene.edit("n-1", "b")], as: .bob)
        let token = try await scene.database(as: .bob)["syncToken"]
        let closed = try await scene.change(["publicPermission": "NONE"])
        #expect(closed.at("participants").array?.count == 1)
        try await expectLost(scene, token)
        #expect(try await scene.lookup(["t-1"], as: .carol).code == "ZONE_NOT_FOUND")
        #expect(try await scene.accept(guid, as: .bob).code == "NOT_FOUND")
    }

    @Test("a change of permission holds from the next request, and shows in the share record")
    func permissionChange() async throws {
        let (scene, _) = try await joined()
        let feed = try await scene.feed(as: .bob)
        let changed = try await scene.change([
            "participants": [ShareScene.invite(.bob, "READ_ONLY")]
        ])
        #expect(changed.at("participants.1.permission") == "READ_ONLY")
        let refused = try await scene.modify([ShareScene.edit("n-1", "no")], as: .bob)
        #expect(refused.at("0").code == "ACCESS_DENIED")
        let next = try await scene.feed(after: feed["syncToken"], as: .bob)
        #expect(next.at("records.0.recordName") == "s-1")
        #expect(next.at("records.0.currentUserParticipant.permission") == "READ_ONLY")
    }

    @Test("an administrator invites in the shared database, a user does not")
    func administrator() async throws {
        for (type, code) in [("ADMINISTRATOR", nil), ("USER", "ACCESS_DENIED")] {
            let (scene, guid) = try await joined(type)
            let share = try await scene.lookup(["s-1"], as: .bob).at("0")
            let participants = (share["participants"]?.array ?? []) + [ShareScene.invite(.carol)]
            let item = try await scene.change(
                ["participants": .array(participants)], as: .bob)
            #expect(item.code == code)
            let accepted = try await scene.accept(guid, as: .carol)
            #expect(accepted.code == (code == nil ? nil : "NOT_FOUND"))
        }
    }

    @Test("a participant sends the share back without itself, title and all, and is out")
    func leaveByList() async throws {
        let (scene, _) = try await joined()
        let share = try await scene.lookup(["s-1"], as: .bob).at("0")
        let others = (share["participants"]?.array ?? []).filter {
            $0 != share["currentUserParticipant"]
        }
        #expect(others.count == 1)
        let item = try await scene.change(
            ["participants": .array(others), "fields": share["fields"] ?? [:]], as: .bob)
        #expect(item.code == nil)
        #expect(try await scene.lookup(["t-1"], as: .bob).code == "ZONE_NOT_FOUND")
    }

    @Test("the owner's title is for everybody, and only the owner and administrators set it")
    func title() async throws {
        let (scene, guid) = try await joined()
        let preview = try await scene.server.call(
            .recordsResolve, .public, as: .bob, ["shortGUIDs": [["value": .string(guid)]]])
        #expect(
            preview.json.at("results.0.share.fields")["cloudkit.title"]?["value"] == "Plans")
        for type in ["forceUpdate", "forceReplace"] {
            let fields: JSONValue =
                type == "forceReplace"
                ? [:] : ["cloudkit.title": ["value": "Bob's", "type": "STRING"]]
            let item = try await scene.modify(
                [
                    ShareScene.operation(
                        type,
                        [
                            "recordName": "s-1", "recordType": "cloudkit.share", "fields": fields,
                        ])
                ], as: .bob
            ).at("0")
            #expect(item.code == "ACCESS_DENIED", "\(type)")
        }
    }

    @Test("two shares of one zone are one zone in the shared database, with both hierarchies")
    func twoShares() async throws {
        let (scene, _) = try await joined()
        try await scene.modifyAll([ShareScene.create("t-2", "Topic")])
        let other = try await scene.share(
            [ShareScene.invite(.bob, "READ_ONLY")], root: "t-2", name: "s-2")
        _ = try await scene.accept(other, as: .bob)
        #expect(try await scene.database(as: .bob).at("zones").array?.count == 1)
        #expect(
            scene.names(try await scene.feed(as: .bob))
                == ["t-1", "n-1", "c-1", "s-1", "t-2", "s-2"])
        let denied = try await scene.modify(
            [ShareScene.edit("t-2", "no", type: "Topic")], as: .bob)
        #expect(denied.at("0").code == "ACCESS_DENIED")
        try await scene.modifyAll([ShareScene.remove("s-1")])
        #expect(scene.names(try await scene.feed(as: .bob)) == ["t-2", "s-2"])
    }

    @Test("nobody else than the owner shares, and nobody shares in the default or public zone")
    func places() async throws {
        let (scene, _) = try await joined()
        let byBob = try await scene.modify(
            [
                ShareScene.operation(
                    "create",
                    [
                        "recordName": "s-b", "recordType": "cloudkit.share",
                        "forRecord": ["recordName": "n-1"], "fields": [:],
                    ]),
                ShareScene.edit("n-1", "shared by bob"),
            ], as: .bob)
        #expect(byBob.at("0").code == "ACCESS_DENIED")
        for scope in [DatabaseScope.private, .public] {
            let answer = try await scene.server.call(
                .recordsModify, scope, as: .alice,
                [
                    "operations": [
                        ShareScene.operation(
                            "create",
                            [
                                "recordName": "cloudkit.zoneshare",
                                "recordType": "cloudkit.share", "fields": [:],
                            ])
                    ]
                ])
            #expect(answer.json.at("records.0").code == "BAD_REQUEST", "\(scope)")
        }
    }
}
