import Foundation
import RecordModel
import RecordServer
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// Shares that Alice makes and ends, each a hierarchy or a zone, and what Bob's machine makes of them.
@Suite struct EndedShareTests {
    private let server: TestServer
    private let alice: Replica
    private let bob: Replica

    init() async throws {
        server = try await TestServer()
        alice = try Replica(server)
        let owner = OwnerName(bytes: TestServer.Person.alice.user?.bytes ?? [])
        bob = try Replica(server, as: .bob, in: .shared, of: owner) { $0.pageRecords = 1 }
        try alice.save("a", #"{"p":1}"#)
        try alice.save("b", #"{"$parent":"a","p":1}"#)
        try await alice.sync()
    }

    private func modify(_ type: String, _ root: String?, _ members: [JSONMember]) async throws
        -> TestServer.Answer
    {
        let name = root.map { "share-\($0)" } ?? "cloudkit.zoneshare"
        let record =
            [
                JSONMember(key: "recordName", value: JSONValue(name)),
                JSONMember(key: "recordType", value: "cloudkit.share"),
            ] + members
        return try await server.call(
            .recordsModify, .private, as: .alice,
            [
                "zoneID": ["zoneName": "Box"],
                "operations": [
                    ["operationType": JSONValue(type), "record": .object(record)]
                ],
            ])
    }

    /// Shares the zone, or a record with what hangs on it, with Bob, who joins.
    private func share(_ root: String?, isFetched: Bool = true) async throws {
        var members = [
            JSONMember(
                key: "participants",
                value: [
                    [
                        "type": "USER", "permission": "READ_WRITE", "acceptanceStatus": "INVITED",
                        "userIdentity": [
                            "userRecordName": .string(
                                Text(utf8: TestServer.Person.bob.user?.bytes ?? []))
                        ],
                    ]
                ])
        ]
        if let root {
            let found = try await server.call(
                .recordsLookup, .private, as: .alice,
                [
                    "zoneID": ["zoneName": "Box"],
                    "records": [["recordName": JSONValue(root)]],
                ])
            members.append(
                JSONMember(
                    key: "forRecord",
                    value: [
                        "recordName": JSONValue(root),
                        "recordChangeTag": found.json.at("records.0.recordChangeTag"),
                    ]))
        }
        let made = try await modify("create", root, members)
        let guid = try #require(made.json.at("records.0.shortGUID").string)
        let accepted = try await server.call(
            .recordsAccept, .public, as: .bob, ["shortGUIDs": [["value": .string(guid)]]])
        #expect(accepted.json.at("results.0.participantStatus") == "ACCEPTED")
        if isFetched { try await bob.sync() }
    }

    private func stop(_ root: String?) async throws {
        let stopped = try await modify("forceDelete", root, [])
        #expect(stopped.json.at("records.0.deleted") == true)
        try await bob.sync()
    }

    private func trash() throws -> [String] {
        try bob.store.zones(in: .shared, with: .trash).flatMap { zone in
            try bob.store.trash(in: zone.id).compactMap { entry in
                guard let text = try bob.store.trashed(entry.id)?.text else { return nil }
                return String(decoding: try JSONParser.parse(text).serialized(), as: UTF8.self)
            }
        }
    }

    @Test("what was not sent when a share ended stays in the trash when the next one ends")
    func endedTwice() async throws {
        try await share(nil)
        try bob.save("b", #"{"$parent":"a","p":1,"q":"mine"}"#)
        try await stop(nil)
        #expect(try trash() == [#"{"q":"mine"}"#])
        try await share(nil)
        #expect(try bob.text("b") == #"{"$parent":"a","p":1}"#)
        try await stop(nil)
        #expect(try trash() == [#"{"q":"mine"}"#])
        try await share("b")
        #expect(try bob.names() == ["b"])
        try await stop("b")
        #expect(try trash() == [#"{"q":"mine"}"#])
        try bob.expectSound()
    }

    @Test("what was acknowledged, and lost by a restore, is in the trash when the share ends then")
    func endedAfterRestore() async throws {
        try await share(nil)
        let backup = try await server.backUp()
        try bob.save("b", #"{"$parent":"a","p":1,"q":"mine"}"#)
        try await bob.sync()
        try await server.restore(backup)
        try await stop(nil)
        #expect(try bob.names() == [])
        #expect(try trash() == [#"{"q":"mine"}"#])
        try bob.expectSound()
    }

    @Test("it is there too when the same record has an edit that was not sent, and with that")
    func endedAfterRestoreAndEdit() async throws {
        try await share(nil)
        let backup = try await server.backUp()
        try bob.save("b", #"{"$parent":"a","p":1,"q":"mine"}"#)
        try await bob.sync()
        try await server.restore(backup)
        try bob.save("b", #"{"$parent":"a","p":1,"q":"mine","r":"more"}"#)
        try await stop(nil)
        #expect(try bob.names() == [])
        #expect(try trash() == [#"{"q":"mine","r":"more"}"#])
        try bob.expectSound()
    }

    @Test("the same when one of two shares of a zone ends", arguments: [false, true])
    func oneEndedAfterRestore(_ isEditedAgain: Bool) async throws {
        try alice.save("c", #"{"p":1}"#)
        try await alice.sync()
        try await share("b", isFetched: false)
        try await share("c")
        let backup = try await server.backUp()
        try bob.save("b", #"{"p":1,"q":"mine"}"#)
        try await bob.sync()
        try await server.restore(backup)
        if isEditedAgain { try bob.save("b", #"{"p":1,"q":"mine","r":"more"}"#) }
        try await stop("b")
        #expect(try bob.names() == ["c"])
        #expect(try trash() == [isEditedAgain ? #"{"q":"mine","r":"more"}"# : #"{"q":"mine"}"#])
        try bob.expectSound()
    }

    @Test("what was deleted here, and not there, goes when it is shared no longer")
    func deletedAndTakenAway() async throws {
        try alice.save("c", #"{"$parent":"b","p":5}"#)
        try await alice.sync()
        try await share("b")
        try bob.delete("c")
        try alice.save("c", #"{"$parent":"a","p":5}"#)
        try await alice.sync()
        #expect(try trash().count == 1)
        try await bob.sync()
        #expect(try trash() == [])
        #expect(try bob.outbox() == [])
        #expect(try alice.text("c") == #"{"$parent":"a","p":5}"#)
        try bob.expectSound()
    }

    @Test("a share that ends before all of it was fetched is gone", arguments: [0, 1])
    func endedBeforeFetched(pages: Int) async throws {
        try await bob.sync()
        try await share(nil, isFetched: false)
        for _ in 0..<pages { bob.wire.plan(.zoneChanges, .meanwhile({})) }
        bob.wire.plan(.zoneChanges, .cutShort)
        await bob.breakOff()
        #expect(try bob.store.zones(in: .shared).count == 1)
        #expect(try bob.names().count == pages)
        try await stop(nil)
        #expect(try bob.store.zones(in: .shared) == [])
        try bob.expectSound()
    }

    @Test("bytes of a large field that come when their share has ended do not stay")
    func lateBytes() async throws {
        let bytes = [UInt8](repeating: 7, count: 100)
        try alice.attach(bytes, to: "b")
        try await alice.sync()
        try await share(nil)
        let entry = try #require(try bob.entry("b"))
        let asset = try #require(try bob.store.assets(of: entry.id).first)
        bob.wire.planDownload(.meanwhile { try await stop(nil) })
        let downloads = AssetDownloads(bob.exchange)
        try await downloads.bring(asset)
        await downloads.stop()
        let path = bob.store.assetPath(try #require(asset.hash))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("who deletes the root of what is shared with him leaves it, with all of it")
    func rootDeleted() async throws {
        try alice.save("c", #"{"p":7}"#)
        try await alice.sync()
        for root in ["b", "c"] { try await share(root) }
        try bob.delete("b")
        try await bob.sync()
        try await bob.sync()
        #expect(try bob.names() == ["c"])
        #expect(try trash() == [])
        #expect(try alice.names() == ["a", "b", "c"])
        try bob.expectSound()
    }

    @Test("an edit of a root that hangs on something is sent once, however it is written")
    func rootBelowOther() async throws {
        try await share("b")
        try bob.save("b", #"{"p":6.0,  "q":"written so"}"#)
        try await bob.sync()
        for replica in [alice, bob, alice, bob] { try await replica.sync() }
        _ = bob.wire.takeSent()
        for replica in [bob, alice, bob] { try await replica.exchange.round() }
        #expect(!bob.wire.takeSent().contains(.recordsModify))
        #expect(try bob.outbox() == [])
        let values = try JSONParser.parse(Array((alice.text("b") ?? "").utf8))
        #expect(values["q"] == "written so" && values["$parent"] == "a")
    }
}
