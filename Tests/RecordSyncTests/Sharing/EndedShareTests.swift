import Foundation
import RecordModel
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

    /// Shares the zone, or a record with what hangs on it, with Bob, who joins.
    private func share(
        _ root: String?, zone: String = "Box", isFetched: Bool = true
    ) async throws {
        try await server.share(root, in: zone)
        if isFetched { try await bob.sync() }
    }

    private func stop(_ root: String?, zone: String = "Box") async throws {
        try await server.endShare(of: root, in: zone)
        try await bob.sync()
    }

    private func trash() throws -> [String] {
        try bob.store.past.zones(in: .shared, with: .trash).flatMap { zone in
            try bob.store.past.trash(in: zone.id).compactMap { entry in
                guard let text = try bob.store.past.trashed(entry.id)?.text else { return nil }
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

    @Test(
        "what a restore has lost is in the trash when its share ends, with what was not sent since",
        arguments: [false, true])
    func endedAfterRestore(_ isEditedAgain: Bool) async throws {
        try await share(nil)
        let backup = try await server.backUp()
        try bob.save("b", #"{"$parent":"a","p":1,"q":"mine"}"#)
        try await bob.sync()
        try await server.restore(backup)
        if isEditedAgain { try bob.save("b", #"{"$parent":"a","p":1,"q":"mine","r":"more"}"#) }
        try await stop(nil)
        #expect(try bob.names() == [])
        #expect(try trash() == [isEditedAgain ? #"{"q":"mine","r":"more"}"# : #"{"q":"mine"}"#])
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

    @Test(
        "the same when its owner has deleted the record or moved it out since",
        arguments: [false, true])
    func goneAfterRestore(_ isMoved: Bool) async throws {
        try await share(isMoved ? "a" : nil)
        let backup = try await server.backUp()
        try bob.save("b", #"{"$parent":"a","p":1,"q":"mine"}"#)
        try await bob.sync()
        try await server.restore(backup)
        if isMoved {
            try alice.save("b", #"{"p":2}"#)
        } else {
            try alice.delete("b")
        }
        try await alice.sync()
        try await bob.sync()
        #expect(try bob.names() == ["a"])
        #expect(try trash() == [#"{"q":"mine"}"#])
        try bob.expectSound()
    }

    @Test(
        "what was not sent yet, and hangs on what is shared no longer, goes with it into the trash")
    func unsentBelow() async throws {
        try alice.save("c", #"{"p":1}"#)
        try await alice.sync()
        try await share("b", isFetched: false)
        try await share("c")
        try bob.save("new", #"{"$parent":"b","q":"mine"}"#)
        try bob.save("below", #"{"$parent":"new","q":"mine too"}"#)
        try bob.save("other", #"{"$parent":"c","q":"sent"}"#)
        try await stop("b")
        #expect(try Set(bob.names()) == ["c", "other"])
        #expect(try Set(trash()) == [#"{"q":"mine"}"#, #"{"q":"mine too"}"#])
        try await alice.sync()
        #expect(try Set(alice.names()) == ["a", "b", "c", "other"])
        try bob.expectSound()
    }

    @Test("a new record with the name of one that is not shared stays, with the reason")
    func hiddenName() async throws {
        try alice.save("c", #"{"p":1}"#)
        try await alice.sync()
        try await share("b")
        try bob.save("c", #"{"$parent":"b","q":"mine"}"#)
        try await bob.sync()
        #expect(try Set(bob.names()) == ["b", "c"])
        let row = try #require(try bob.store.syncState.outbox(limit: 10).first)
        #expect(row.error?.contains("not shared with you") == true)
        #expect(try alice.text("c") == #"{"p":1}"#)
        try bob.rename("c", to: "d")
        try await bob.sync()
        try await alice.sync()
        #expect(try Set(alice.names()) == ["a", "b", "c", "d"])
        #expect(try bob.store.syncState.outbox(limit: 10).isEmpty)
        try bob.expectSound()
    }

    @Test(
        "an edit that lost against another one is in the trash, when its share ends",
        arguments: [false, true])
    func lostEdit(_ isWhole: Bool) async throws {
        let root = isWhole ? nil : "b"
        try alice.save("c", #"{"p":1}"#)
        try await alice.sync()
        if !isWhole { try await share("c", isFetched: false) }
        try await share(root)
        try bob.save("b", #"{"p":2,"r":"sent"}"#)
        server.clock.advance(.seconds(1))
        try alice.save("b", #"{"$parent":"a","p":3}"#)
        try await alice.sync()
        try await bob.sync()
        let zone = try #require(try bob.store.zones(in: .shared).first?.id)
        let isOpen = try !bob.store.syncState.conflicts(in: zone).isEmpty
        let text = try bob.text("b")
        #expect(isOpen && text?.contains(#""p":3"#) == true)
        try await bob.sync()
        try await stop(root)
        #expect(try trash() == [#"{"p":2}"#])
        try bob.expectSound()
    }

    @Test("copies of rows that the database has left between others go too")
    func copies() async throws {
        for zone in ["Gone", "Kept"] {
            try alice.save("w", #"{"p":1}"#, zone: zone)
            try await alice.sync()
            try await share(nil, zone: zone)
        }
        var seed: UInt64 = 1
        func random(_ count: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % count
        }
        var words: Set<String> = []
        for step in 0..<1_600 {
            let zone = step % 2 == 0 ? "Gone" : "Kept"
            let word = "Whisper-\(step)-end"
            if step % 2 == 0 { words.insert(word) }
            let filler = String(repeating: "x", count: random(400))
            try alice.save(
                "w\(random(200))", #"{"w":"\#(word)","f":"\#(filler)"}"#, zone: zone)
            if step % 20 == 19 {
                try await alice.sync()
                try await bob.sync()
            }
        }
        try await stop(nil, zone: "Gone")
        try await bob.sync()
        let file = try Data(contentsOf: URL(fileURLWithPath: bob.store.directory + "/store.sqlite"))
        let left = words.filter { file.range(of: Data($0.utf8)) != nil }
        #expect(left.isEmpty)
        #expect(try bob.names(zone: "Gone") == [] && bob.names(zone: "Kept").count > 100)
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
        let asset = try #require(try bob.store.assets.assets(of: entry.id).first)
        bob.wire.planDownload(.meanwhile { try await stop(nil) })
        let downloads = AssetDownloads(bob.exchange)
        try await downloads.bring(asset)
        await downloads.stop()
        let path = bob.store.assets.assetPath(try #require(asset.hash))
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
