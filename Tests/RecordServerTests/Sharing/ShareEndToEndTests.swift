import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Shares end to end", .everyTransport) struct ShareEndToEndTests {
    @Test("share, invite, accept; the participant sees the hierarchy and the share")
    func join() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.bob)])
        #expect(try await scene.database(as: .bob).at("zones").array?.isEmpty == true)
        let result = try await scene.accept(guid, as: .bob)
        #expect(result.at("participantStatus") == "ACCEPTED")
        #expect(result.at("databaseScope") == "SHARED")
        let zone = try await scene.database(as: .bob).at("zones.0.zoneID")
        #expect(zone.at("zoneName") == "Work")
        #expect(zone.at("ownerRecordName") == .string(ShareScene.name(.alice)))
        let feed = try await scene.feed(as: .bob)
        #expect(scene.names(feed) == ["t-1", "n-1", "c-1", "s-1"])
        let listed = try await scene.server.call(.zonesList, .shared, as: .bob)
        #expect(listed.json.at("zones.0.zoneID.zoneName") == "Work")
    }

    @Test("a root gets its short GUID with the share, or before by createShortGUID")
    func shortGUID() async throws {
        let scene = try await ShareScene()
        let records = try await scene.modifyAll([
            ShareScene.operation(
                "create",
                [
                    "recordName": "t-2", "recordType": "Topic", "createShortGUID": true,
                    "fields": [:],
                ])
        ])
        let early = try #require(records.at("0.shortGUID").string)
        #expect(try await scene.share(root: "t-2", name: "s-2") == early)
        let guid = try await scene.share()
        let root = try await scene.lookup(["t-1"], as: .alice).at("0")
        #expect(root.at("shortGUID") == .string(guid))
        #expect(root.at("share.recordName") == "s-1")
        let share = try await scene.lookup(["s-1"], as: .alice).at("0")
        #expect(share.at("url").string?.string.hasSuffix("/share/\(guid)#Plans") == true)
    }

    @Test("a share without its root in the batch is refused")
    func withoutRoot() async throws {
        let scene = try await ShareScene()
        let item = try await scene.modify([
            ShareScene.operation(
                "create",
                [
                    "recordName": "s-1", "recordType": "cloudkit.share",
                    "forRecord": ["recordName": "t-1"], "fields": [:],
                ])
        ]).at("0")
        #expect(item.code == "BAD_REQUEST")
    }

    @Test("cloudKit.share and cloudKit.shared mean cloudkit.share")
    func spelling() async throws {
        let scene = try await ShareScene()
        for (type, root) in [("cloudKit.share", "t-1"), ("CLOUDKIT.SHARED", "x-1")] {
            let records = try await scene.modifyAll([
                ShareScene.operation(
                    "create",
                    [
                        "recordName": JSONValue("s-\(root)"), "recordType": JSONValue(type),
                        "forRecord": ["recordName": JSONValue(root)], "fields": [:],
                    ]),
                ShareScene.operation(
                    "forceUpdate",
                    [
                        "recordName": JSONValue(root),
                        "recordType": root == "t-1" ? "Topic" : "Note", "fields": [:],
                    ]),
            ])
            #expect(records.at("0.recordType") == "cloudkit.share")
        }
    }

    @Test("a zone share shows every record, also those that come later")
    func zoneShare() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.bob)], root: nil)
        _ = try await scene.accept(guid, as: .bob)
        let feed = try await scene.feed(as: .bob)
        #expect(
            scene.names(feed) == ["t-1", "n-1", "c-1", "x-1", "cloudkit.zoneshare"])
        try await scene.modifyAll([ShareScene.create("later", "Note")])
        let next = try await scene.feed(after: feed["syncToken"], as: .bob)
        #expect(scene.names(next) == ["later"])
        try await scene.modifyAll([ShareScene.create("by-bob", "Note")], as: .bob)
        #expect(try await scene.lookup(["by-bob"], as: .alice).at("0").code == nil)
    }

    @Test("a record is in one share only")
    func oneShare() async throws {
        let scene = try await ShareScene()
        try await scene.share()
        for (root, type) in [("t-1", "Topic"), ("n-1", "Note")] {
            let records = try await scene.modify([
                ShareScene.operation(
                    "create",
                    [
                        "recordName": "s-2", "recordType": "cloudkit.share",
                        "forRecord": ["recordName": JSONValue(root)], "fields": [:],
                    ]),
                ShareScene.operation(
                    "forceUpdate",
                    [
                        "recordName": JSONValue(root), "recordType": JSONValue(type),
                        "fields": [:],
                    ]),
            ])
            #expect(records.at("0").code == "ALREADY_SHARED", "\(root)")
        }
        let zone = try await scene.modify([
            ShareScene.operation(
                "create",
                ["recordName": "cloudkit.zoneshare", "recordType": "cloudkit.share", "fields": [:]]
            )
        ])
        #expect(zone.at("0").code == "ALREADY_SHARED")
    }

    @Test("what hangs below a shared record joins, what leaves is gone for participants")
    func nested() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.bob)])
        _ = try await scene.accept(guid, as: .bob)
        var feed = try await scene.feed(as: .bob)
        let moveIn = ShareScene.operation(
            "forceUpdate",
            ["recordName": "x-1", "recordType": "Note", "parent": ["recordName": "c-1"]])
        try await scene.modifyAll([moveIn])
        feed = try await scene.feed(after: feed["syncToken"], as: .bob)
        #expect(scene.names(feed).contains("x-1"))
        let moveOut = ShareScene.operation(
            "forceReplace", ["recordName": "n-1", "recordType": "Note", "parent": nil])
        try await scene.modifyAll([moveOut])
        feed = try await scene.feed(after: feed["syncToken"], as: .bob)
        #expect(scene.names(feed).isSuperset(of: ["-n-1", "-c-1", "-x-1"]))
        #expect(scene.names(try await scene.feed(as: .bob)) == ["t-1", "s-1"])
        for item in try await scene.lookup(["n-1", "c-1"], as: .bob).array ?? [] {
            #expect(item.code == "NOT_FOUND")
        }
        #expect(try await scene.lookup(["n-1"], as: .alice).at("0").code == nil)
    }

    @Test("creating and removing a share gives its root a new tag, in the owner's feed")
    func rootTag() async throws {
        let scene = try await ShareScene()
        let before = try await scene.feed(as: .alice)
        try await scene.share()
        let shared = try await scene.feed(after: before["syncToken"], as: .alice)
        #expect(scene.names(shared).isSuperset(of: ["t-1", "s-1"]))
        let tag = try await scene.lookup(["t-1"], as: .alice).at("0.recordChangeTag")
        try await scene.modifyAll([ShareScene.remove("s-1")])
        let stopped = try await scene.feed(after: shared["syncToken"], as: .alice)
        #expect(scene.names(stopped).isSuperset(of: ["t-1", "-s-1"]))
        let root = try await scene.lookup(["t-1"], as: .alice).at("0")
        #expect(root.at("recordChangeTag") != tag)
        #expect(root.at("share") == .null)
    }

    @Test("READ_WRITE writes below the shared root, into the owner's zone")
    func writing() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.bob)])
        _ = try await scene.accept(guid, as: .bob)
        try await scene.modifyAll(
            [ShareScene.edit("n-1", "by bob"), ShareScene.create("b-1", "Note", parent: "n-1")],
            as: .bob)
        let seen = try await scene.lookup(["n-1", "b-1"], as: .alice)
        #expect(seen.at("0.fields.name.value") == "by bob")
        #expect(seen.at("0.modified.userRecordName") == .string(ShareScene.name(.bob)))
        #expect(seen.at("1.created.userRecordName") == .string(ShareScene.name(.bob)))
        try await scene.modifyAll([ShareScene.remove("b-1")], as: .bob)
        #expect(try await scene.lookup(["b-1"], as: .alice).at("0").code == "NOT_FOUND")
    }

    @Test("a record without a shared parent is refused to a participant")
    func withoutParent() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.bob)])
        _ = try await scene.accept(guid, as: .bob)
        let alone = try await scene.modify([ShareScene.create("b-1", "Note")], as: .bob)
        #expect(alone.at("0").code == "ACCESS_DENIED")
        // As for a parent that is not there: x-1 is not shown to Bob.
        let hidden = try await scene.modify(
            [ShareScene.create("b-1", "Note", parent: "x-1")], as: .bob)
        let missing = try await scene.modify(
            [ShareScene.create("b-1", "Note", parent: "nothing")], as: .bob)
        #expect(hidden.at("0").code != nil)
        #expect(hidden.at("0").code == missing.at("0").code)
        #expect(try await scene.lookup(["b-1"], as: .alice).at("0").code == "NOT_FOUND")
    }

    @Test("READ_ONLY changes nothing, by no operation")
    func readOnly() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.bob, "READ_ONLY")])
        _ = try await scene.accept(guid, as: .bob)
        let before = try await scene.feed(as: .alice)
        let operations = [
            ShareScene.edit("n-1", "no"), ShareScene.remove("c-1"),
            ShareScene.create("b-1", "Note", parent: "t-1"),
            ShareScene.operation("forceReplace", ["recordName": "n-1", "recordType": "Note"]),
        ]
        for operation in operations {
            let item = try await scene.modify([operation], as: .bob).at("0")
            #expect(item.code == "ACCESS_DENIED")
        }
        for keys: JSONValue in [
            [:], ["publicPermission": "READ_WRITE"],
            ["participants": [ShareScene.invite(.bob, "READ_WRITE")]],
            ["fields": ["cloudkit.title": ["value": "mine", "type": "STRING"]]],
        ] {
            let code = try await scene.change(keys, as: .bob).code
            #expect(
                code == "ACCESS_DENIED", "\(String(decoding: keys.serialized(), as: UTF8.self))")
        }
        let after = try await scene.feed(after: before["syncToken"], as: .alice)
        #expect(scene.names(after).isEmpty)
    }

    @Test("a record that is not shared is as one that is not there")
    func hidden() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.bob)])
        _ = try await scene.accept(guid, as: .bob)
        let items = try await scene.lookup(["x-1", "nothing"], as: .bob)
        #expect(items.at("0").code == "NOT_FOUND")
        #expect(items.at("0.reason") == items.at("1.reason"))
    }

    @Test("whoever can make no record does not learn which names are taken")
    func noProbing() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.bob, "READ_ONLY")])
        _ = try await scene.accept(guid, as: .bob)
        for type in ["create", "forceUpdate", "forceReplace"] {
            for recordType in ["Note", "cloudkit.share"] {
                var reasons: [JSONValue] = []
                for name in ["x-1", "nothing"] {
                    let item = try await scene.modify(
                        [
                            ShareScene.operation(
                                type,
                                [
                                    "recordName": JSONValue(name),
                                    "recordType": JSONValue(recordType),
                                    "parent": ["recordName": "t-1"],
                                ])
                        ], as: .bob
                    ).at("0")
                    #expect(item.code == "ACCESS_DENIED", "\(type) \(recordType) \(name)")
                    reasons.append(item.at("reason"))
                }
                #expect(reasons.first == reasons.last)
            }
        }
    }

    @Test("what others write counts for the owner, whose numbers a participant is not told")
    func quota() async throws {
        let scene = try await ShareScene()
        let guid = try await scene.share([ShareScene.invite(.bob)])
        _ = try await scene.accept(guid, as: .bob)
        try await scene.server.changeUser(.alice) { $0.quotaBytes = 100 }
        let long = String(repeating: "x", count: 1_000)
        let refused = try await scene.modify([ShareScene.edit("n-1", long)], as: .bob).at("0")
        #expect(refused.code == "QUOTA_EXCEEDED")
        #expect(refused.at("reason").string?.string.contains("100") == false)
        try await scene.server.changeUser(.alice) { $0.quotaBytes = nil }
        try await scene.server.changeUser(.bob) { $0.quotaBytes = 0 }
        try await scene.modifyAll([ShareScene.edit("n-1", long)], as: .bob)
    }
}
