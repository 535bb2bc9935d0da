import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordServerSQLite
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// What clients of a server see after it came back from a backup.
@Suite("Restored servers") struct RestoreTests {
    private let site: OperatedSite

    init() throws { site = try OperatedSite() }

    /// Zone Old before a backup, zone Lost after it; both shared by alice with bob.
    private struct Scene {
        let alice: OperatedSite.Client
        let bob: OperatedSite.Client
        /// Each with the call that it is sent to.
        var tokens:
            [(name: String, client: OperatedSite.Client, operation: String, body: JSONValue)]
        /// Of record r in Lost.
        var lostTag: String
    }

    private func scene(backup: String) async throws -> Scene {
        let instance = try await site.start()
        let alice = try await site.client("alice", of: instance)
        let bob = try await site.client("bob", of: instance)
        try await fill("Old", instance, alice, bob)
        try await site.backUp(instance, to: backup)
        try await fill("Lost", instance, alice, bob)
        let made = try await site.save("forceUpdate", "r", in: "Lost", instance, alice)
        let scene = Scene(
            alice: alice, bob: bob, tokens: try await tokens(instance, alice, bob),
            lostTag: try #require(made.tag, "\(made.json)"))
        try await instance.stop()
        return scene
    }

    private func fill(
        _ zone: String, _ instance: ServerInstance, _ alice: OperatedSite.Client,
        _ bob: OperatedSite.Client
    ) async throws {
        try await site.makeZone(zone, instance, alice)
        try await site.share(zone, instance, from: alice, with: bob)
        for name in ["r", "s"] {
            let made = try await site.save("create", name, in: zone, instance, alice)
            #expect(made.code == nil, "\(made.json)")
        }
    }

    /// Every kind of token that a feed gives, as owner and as participant.
    private func tokens(
        _ instance: ServerInstance, _ alice: OperatedSite.Client, _ bob: OperatedSite.Client
    ) async throws -> [(String, OperatedSite.Client, String, JSONValue)] {
        var tokens: [(String, OperatedSite.Client, String, JSONValue)] = []
        for (client, scope, owner) in [
            (alice, "private", nil as UserName?), (bob, "shared", alice.user),
        ] {
            let database = try await site.call(instance, "\(scope)/changes/database", client)
            let databaseToken = try #require(database.json["syncToken"], "\(database.json)")
            tokens.append(
                ("database", client, "\(scope)/changes/database", ["syncToken": databaseToken]))
            let zones = try await site.call(instance, "\(scope)/zones/changes", client)
            let metaToken = try #require(zones.json["metaSyncToken"], "\(zones.json)")
            tokens.append(("zones", client, "\(scope)/zones/changes", ["syncToken": metaToken]))
            for name in ["Old", "Lost"] {
                let zone = OperatedSite.zone(name, owner: owner)
                let feed = try await site.call(
                    instance, "\(scope)/changes/zone", client, ["zones": [["zoneID": zone]]])
                let token = try #require(
                    feed.json["zones"]?.array?.first?["syncToken"], "\(feed.json)")
                tokens.append(
                    (
                        name, client, "\(scope)/changes/zone",
                        ["zones": [["zoneID": zone, "syncToken": token]]]
                    ))
                tokens.append(
                    (
                        name, client, "\(scope)/records/changes",
                        ["zoneID": zone, "syncToken": token]
                    ))
            }
        }
        return tokens
    }

    @Test("sync tokens of every kind tell owner and participant that the server is another one")
    func tokens() async throws {
        let scene = try await scene(backup: "copy")
        try await site.restore("copy", to: "new", keepsSessions: true)
        let instance = try await site.start("new")
        for token in scene.tokens {
            let reply = try await site.call(instance, token.operation, token.client, token.body)
            let expected = token.name == "Lost" ? "ZONE_NOT_FOUND" : "CHANGE_TOKEN_EXPIRED"
            #expect(reply.code == expected, "\(token.name) \(token.operation): \(reply.json)")
        }
        for (client, scope) in [(scene.alice, "private"), (scene.bob, "shared")] {
            let reply = try await site.call(instance, "\(scope)/changes/database", client)
            #expect(reply.zoneNames == ["Old"])
        }
        // The tokens that it gives now are good.
        for token in try await tokens(instance, scene.alice, scene.bob, only: "Old") {
            let reply = try await site.call(instance, token.1, token.0, token.2)
            #expect(reply.code == nil && reply.status == 200, "\(token.1): \(reply.json)")
        }
        try await instance.stop()
    }

    private func tokens(
        _ instance: ServerInstance, _ alice: OperatedSite.Client, _ bob: OperatedSite.Client,
        only zone: String
    ) async throws -> [(OperatedSite.Client, String, JSONValue)] {
        var tokens: [(OperatedSite.Client, String, JSONValue)] = []
        for (client, scope, owner) in [
            (alice, "private", nil as UserName?), (bob, "shared", alice.user),
        ] {
            let database = try await site.call(instance, "\(scope)/changes/database", client)
            tokens.append(
                (
                    client, "\(scope)/changes/database",
                    ["syncToken": try #require(database.json["syncToken"])]
                ))
            let id = OperatedSite.zone(zone, owner: owner)
            let feed = try await site.call(
                instance, "\(scope)/records/changes", client, ["zoneID": id])
            tokens.append(
                (
                    client, "\(scope)/records/changes",
                    ["zoneID": id, "syncToken": try #require(feed.json["syncToken"])]
                ))
        }
        return tokens
    }

    @Test("no change tag of the lost time is given again, in kept zones and in those made anew")
    func changeTags() async throws {
        let scene = try await scene(backup: "copy")
        try await site.restore("copy", to: "new", keepsSessions: true)
        let instance = try await site.start("new")
        try await site.makeZone("Lost", instance, scene.alice)
        for zone in ["Lost", "_defaultZone"] {
            for round in 0..<6 {
                let made = try await site.save(
                    "forceUpdate", "r", in: zone, instance, scene.alice)
                #expect(made.tag != scene.lostTag, "\(round): \(made.json)")
                let late = try await site.save(
                    "update", "r", tag: scene.lostTag, in: zone, instance, scene.alice)
                #expect(late.code == "CONFLICT", "\(late.json)")
            }
        }
        try await instance.stop()
    }

    @Test("who asks is told which tags are of the time before the restore")
    func restorePoint() async throws {
        func point(_ instance: ServerInstance, _ zone: String) async throws -> Int64 {
            let answer = try await site.call(
                instance, "private/changes/zone", scene.alice,
                [
                    "zones": [["zoneID": OperatedSite.zone(zone, owner: nil)]],
                    "wantsRestorePoint": true,
                ])
            let point = try #require(answer.json["restorePoint"]?.string?.string, "\(answer.json)")
            return try #require(Int64(point, radix: 36))
        }
        func position(_ tag: String?) throws -> Int64 {
            let tag = try #require(tag)
            return try #require(Int64(tag, radix: 36))
        }
        let scene = try await scene(backup: "copy")
        let before = try await site.start()
        #expect(try await point(before, "Old") == 0)
        try await before.stop()
        try await site.restore("copy", to: "new", keepsSessions: true)
        let instance = try await site.start("new")
        let first = try await point(instance, "Old")
        // Also where the zone is gone.
        #expect(try await point(instance, "Lost") == first)
        #expect(try position(scene.lostTag) < first)
        let made = try await site.save("forceUpdate", "r", in: "Old", instance, scene.alice)
        #expect(try position(made.tag) > first)
        try await instance.stop()
    }

    @Test("a one-time link that was used since the backup lets nobody in after it")
    func links() async throws {
        let instance = try await site.start()
        let alice = try await site.client("alice", of: instance)
        let bob = try await site.client("bob", of: instance)
        let carol = try await site.client("carol", of: instance)
        try await site.makeZone("Old", instance, alice)
        let made = try await site.call(
            instance, "private/records/modify", alice,
            [
                "zoneID": OperatedSite.zone("Old", owner: nil),
                "operations": [
                    [
                        "operationType": "create",
                        "record": [
                            "recordName": "cloudkit.zoneshare", "recordType": "cloudkit.share",
                            "participants": [["participantId": "p", "permission": "READ_ONLY"]],
                            "oneTimeStableUrlInfo": ["oneTimeLinks": [["participantId": ["p"]]]],
                        ],
                    ]
                ],
            ])
        let links = made.json.at("records.0.oneTimeStableUrlInfo.oneTimeLinks")
        let link = links.at("0.sharingLink")
        #expect(link.string != nil, "\(made.json)")
        try await site.backUp(instance, to: "copy")
        let body: JSONValue = ["shortGUIDs": [["value": link]]]
        let joined = try await site.call(instance, "public/records/accept", bob, body)
        #expect(joined.json.at("results.0.participantStatus") == "ACCEPTED")
        try await instance.stop()
        try await site.restore("copy", to: "new", keepsSessions: true)
        let restored = try await site.start("new")
        let refused = try await site.call(restored, "public/records/accept", carol, body)
        #expect(refused.json.at("results.0.serverErrorCode") == "NOT_FOUND", "\(refused.json)")
        try await restored.stop()
    }

    @Test("sessions and couriers end unless they are kept", arguments: [false, true])
    func sessions(_ areKept: Bool) async throws {
        let first = try await site.start()
        let alice = try await site.client("alice", of: first)
        let courier = try await site.courier(first, alice)
        try await site.backUp(first, to: "copy")
        try await first.stop()
        try await site.restore("copy", to: "new", keepsSessions: areKept)
        let second = try await site.start("new")
        let reply = try await site.call(second, "private/zones/list", alice)
        #expect(reply.status == (areKept ? 200 : 421), "\(reply.json)")
        second.application.service.push.shutdown()
        let poll = try await RawHTTP.request(port: second.running.port, "GET", courier)
        #expect(poll.status == (areKept ? 200 : 404), "\(poll.text)")
        try await second.stop()
        // What a thief of the backup makes with its key is good for nothing.
        #expect((try await sealKey("copy") == sealKey("new")) == areKept)
    }

    private func sealKey(_ name: String) async throws -> [UInt8]? {
        let storage = try SQLiteStorage.open(path: site.path(name) + "/records.sqlite")
        let key = try await storage.read { (reader) throws(ServerError) in
            try reader.setting("seal-key")
        }
        storage.close()
        return key
    }

    @Test("what can do something after a restore is listed, and nothing that was taken away before")
    func report() async throws {
        let first = try await site.start()
        let alice = try await site.client("alice", of: first)
        let bob = try await site.client("bob", of: first)
        let accounts = Accounts(storage: first.application.service.storage)
        _ = try await site.client("carol", of: first)
        _ = try await accounts.changeUser("carol@example.org", endsSessions: true) {
            $0.isDisabled = true
        }
        let container = OperatedSite.container.container
        let tokens = try await accounts.apiTokens(container)
        let carols = try #require(tokens.first { $0.name == "carol's client" })
        _ = try await accounts.revokeAPIToken(container, carols.hash)
        try await fill("Plans", first, alice, bob)
        try await site.backUp(first, to: "copy")
        try await first.stop()
        let command = try ServerProcess([
            "restore", "--keep-sessions", "--data", site.path("new"), site.path("copy"),
        ])
        #expect(try await command.wait() == 0, "\(command.errorText)")
        let lines = command.outputText.split(separator: "\n").map(String.init)
        func has(_ words: String...) -> Bool {
            lines.contains { line in words.allSatisfy(line.contains) }
        }
        #expect(has("administrator", "admin@localhost"))
        #expect(has("user", "bob@example.org"))
        #expect(has("token", "iCloud.org.recordfs.default development", "alice's client"))
        #expect(has("token", "iCloud.org.recordfs.default production", "first run"))
        #expect(has("session", "bob@example.org", "test"))
        #expect(has("share", "cloudkit.zoneshare", "alice@example.org Plans", "READ_WRITE"))
        #expect(has("participant", "bob@example.org", "alice@example.org Plans", "ACCEPTED"))
        #expect(!has("carol"))
        let again = try ServerProcess([
            "restore", "--data", site.path("other"), site.path("copy"),
        ])
        #expect(try await again.wait() == 0, "\(again.errorText)")
        #expect(!again.outputText.contains("\nsession "))
        #expect(again.outputText.contains("everybody has to sign in again"))
    }
}
