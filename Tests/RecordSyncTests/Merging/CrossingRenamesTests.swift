import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// Of two records, one machine renames the second over the first, and another one the first over the second.
@Suite("Renames that cross") struct CrossingRenamesTests {
    private let server: TestServer
    /// The first one renames k to m, the second one m to k.
    private let machines: [Replica]
    private var a: Replica { machines[0] }
    private var b: Replica { machines[1] }

    init() async throws {
        let server = try await TestServer()
        self.server = server
        machines = try (0..<3).map { _ in try Replica(server, grace: .seconds(3)) }
    }

    /// The machines sync a while after what they did, and end with the same files.
    private func meet(
        in order: [Int], after seconds: Int, location: SourceLocation = #_sourceLocation
    ) async throws {
        server.clock.advance(.seconds(seconds))
        for machine in machines { try machine.finalizeDeletes() }
        for number in order { try await machines[number].sync() }
        try await settle()
        try await expectEqual(location: location)
    }

    enum Edits: CaseIterable, Sendable { case none, first, second, both }

    /// Gives all machines the two records, a second before what the test does.
    private func begin(
        _ m: String = #"{"p":"m0"}"#, _ k: String = #"{"p":"k0"}"#, hasPhotos: Bool = false
    ) async throws {
        try a.save("m", m)
        try a.save("k", k)
        if hasPhotos {
            try a.attach(Array("of m".utf8), to: "m")
            try a.attach(Array("of k".utf8), to: "k")
        }
        for machine in machines { try await machine.sync() }
        server.clock.advance(.seconds(1))
    }

    private func settle() async throws {
        for _ in 0..<2 { for machine in machines { try await machine.sync() } }
        server.clock.advance(.seconds(4))
        for machine in machines { try machine.finalizeDeletes() }
        for _ in 0..<3 { for machine in machines { try await machine.sync() } }
    }

    private func expectEqual(location: SourceLocation = #_sourceLocation) async throws {
        let fresh = try Replica(server)
        try await fresh.sync()
        let files = try fresh.files()
        let photos = try await photos(fresh)
        for machine in machines {
            #expect(try machine.files() == files, sourceLocation: location)
            #expect(try machine.outbox() == [], sourceLocation: location)
            #expect(try machine.problems() == [], sourceLocation: location)
            #expect(try await self.photos(machine) == photos, sourceLocation: location)
        }
    }

    /// Reads all large fields, as somebody does at the mount.
    private func photos(_ machine: Replica) async throws -> [String: [UInt8]] {
        var photos: [String: [UInt8]] = [:]
        let downloads = AssetDownloads(machine.exchange)
        for name in try machine.names() {
            let record = try #require(try machine.entry(name))
            for asset in try machine.store.assets.assets(of: record.id) {
                let bytes = try await downloads.read(asset, offset: 0, count: 100)
                photos[String(decoding: asset.fileName, as: UTF8.self)] = bytes
            }
        }
        await downloads.stop()
        return photos
    }

    @Test(
        "end with the same files everywhere, byte for byte",
        arguments: [true, false], Edits.allCases)
    func both(hasPhotos: Bool, edits: Edits) async throws {
        for order in [[0, 1], [1, 0]] {
            for wait in [0, 1, 4] {
                let test = try await Self()
                try await test.cross(hasPhotos, edits, order, wait)
            }
        }
    }

    private func cross(
        _ hasPhotos: Bool, _ edits: Edits, _ order: [Int], _ wait: Int
    ) async throws {
        try await begin(#"{"p":"m0","n":1.0}"#, #"{"q":"k0","n":6}"#, hasPhotos: hasPhotos)
        for (name, isEdited) in [("m", edits == .first), ("k", edits == .second)]
        where isEdited || edits == .both {
            let text = try #require(try a.file(name))
            try a.save(name, text.replacing("0\"", with: "1\""))
        }
        try a.rename("k", to: "m")
        try b.rename("m", to: "k")
        for machine in order.map({ machines[$0] }) {
            try await machine.sync()
            server.clock.advance(.seconds(wait))
            for machine in machines { try machine.finalizeDeletes() }
        }
        try await settle()
        try await expectEqual()
    }

    @Test(
        "lose no record when both rename one to the same name, and one of them gives its name to another",
        arguments: [[0, 1], [1, 0]], [0, 4])
    func sameTarget(order: [Int], wait: Int) async throws {
        try await begin()
        try a.rename("m", to: "u")
        try a.rename("k", to: "m")
        try b.rename("m", to: "u")
        try await meet(in: order, after: wait)
        #expect(try a.tree() == ["m": #"{"p":"k0"}"#, "u": #"{"p":"m0"}"#])
    }

    /// A tester: the first text was in the history and the trash alone.
    @Test(
        "lose no record when both rename one to the same name, and one of them makes another one of its name",
        arguments: [[0, 1], [1, 0]], [0, 4])
    func madeUnderOldName(order: [Int], wait: Int) async throws {
        try await begin(hasPhotos: true)
        try a.rename("m", to: "u")
        try a.save("m", #"{"p":"new"}"#)
        try b.rename("m", to: "u")
        try await meet(in: order, after: wait)
        let tree = try a.tree()
        #expect(tree["m"] == #"{"p":"new"}"#)
        #expect(tree["u"]?.contains("m0") == true)
        #expect(try await photos(a)["u@photo.jpg"] == Array("of m".utf8))
    }

    @Test(
        "lose no record when both rename one to the same name, and one of them moves another one to its name",
        arguments: [[0, 1], [1, 0]], [0, 4])
    func movedUnderOldName(order: [Int], wait: Int) async throws {
        try a.save("m", #"{"p":"moved"}"#, zone: "Chest")
        try await begin(hasPhotos: true)
        try a.rename("m", to: "u")
        try a.move("m", from: "Chest", to: "Box")
        try b.rename("m", to: "u")
        try await meet(in: order, after: wait)
        let tree = try a.tree()
        #expect(tree["m"] == #"{"p":"moved"}"#)
        #expect(tree["u"]?.contains("m0") == true)
        #expect(try await photos(a)["u@photo.jpg"] == Array("of m".utf8))
    }

    @Test(
        "lose no record that one machine renames and renames back, and others rename",
        arguments: MovedRecordTests.allOrders, [true, false])
    func renamedBack(order: [Int], isFinal: Bool) async throws {
        try await begin(hasPhotos: true)
        for machine in machines { try machine.rename("k", to: "m") }
        try a.rename("m", to: "k")
        if isFinal { try a.finalizeDeletes(olderThan: .zero) }
        for number in order { try await machines[number].sync() }
        try await settle()
        try await expectEqual()
        let texts = try Array(a.files().values)
        #expect(texts.count == 1)
        #expect(texts.first?.contains("k0") == true)
        #expect(try await Array(photos(a).values) == [Array("of k".utf8)])
    }

    /// A tester: trees were unequal for good.
    @Test("show the photo that somebody else gave a record which was renamed and removed")
    func removedThere() async throws {
        try await begin(hasPhotos: true)
        let removed = try #require(try b.entry("m"))
        try b.rename("k", to: "m")
        try b.store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.records.beginDelete(removed.id)
        }
        try a.attach(Array("new".utf8), to: "k")
        try await a.sync()
        try await b.sync()
        try await settle()
        try await expectEqual()
        #expect(try await Array(photos(b).values) == [Array("new".utf8)])
        // It is the one that was renamed, and not the one over which it was.
        #expect(try b.file("m")?.contains("k0") == true)
    }

    /// A tester: the record was gone on all machines.
    @Test("delete nothing whose copy somebody else has deleted meanwhile, for it was moved back")
    func bothDeletions() async throws {
        try await begin()
        for machine in [a, b] { try machine.rename("k", to: "m") }
        try a.rename("m", to: "k")
        try a.finalizeDeletes(olderThan: .zero)
        try await b.sync()
        try b.finalizeDeletes(olderThan: .zero)
        b.wire.plan(.recordsModify, .meanwhile { [a] in try await a.sync() })
        try await b.sync()
        try await settle()
        try await expectEqual()
        #expect(try Array(a.tree().values) == [#"{"p":"k0"}"#])
    }

    @Test("delete nothing whose copy in another zone somebody else has deleted meanwhile")
    func bothDeletionsOfZones() async throws {
        try a.save("k", #"{"p":"old"}"#, zone: "Cup")
        try a.save("k", #"{"p":"k0"}"#)
        for machine in machines { try await machine.sync() }
        server.clock.advance(.seconds(1))
        for machine in [a, b] { try machine.move("k", from: "Box", to: "Cup") }
        try a.move("k", from: "Cup", to: "Box")
        let zone = try #require(try b.zone("Cup"))
        _ = try await b.exchange.upload(try #require(try b.store.syncState.syncedZone(zone.id)))
        b.wire.plan(.recordsModify, .meanwhile { [a] in try await a.sync() })
        try await b.sync()
        try await settle()
        let fresh = try Replica(server)
        try await fresh.sync()
        for machine in machines + [fresh] {
            let trees = try [machine.tree(), machine.tree(zone: "Cup")]
            #expect(trees.flatMap(\.values) == [#"{"p":"k0"}"#], "\(trees)")
            #expect(try machine.outbox() == [])
        }
    }

    /// Simulation seeds 13 and 21, wide.
    @Test("keep the text of the file, whoever of the two comes first", arguments: [0, 1])
    func written(first: Int) async throws {
        try a.save("m", #"{"p":"m0","n":11.5}"#)
        for machine in machines { try await machine.sync() }
        server.clock.advance(.seconds(1))
        try a.save("k", #"{"p":"k0","n":48}"#)
        try a.rename("k", to: "m")
        if first == 0 { try b.rename("m", to: "k") }
        try await a.sync()
        if first == 1 { try b.rename("m", to: "k") }
        try await b.sync()
        try await settle()
        try await expectEqual()
    }

    /// Simulation seed 108, wide.
    @Test(
        "send no edit of a name that was renamed, when somebody else's record has that name by now")
    func madeAndRenamed() async throws {
        try a.save("m", #"{"p":"m0","n":1}"#)
        try a.attach([1, 2, 3], to: "m")
        for machine in machines { try await machine.sync() }
        server.clock.advance(.seconds(1))
        try a.save("k", #"{"p":"k0","n":21}"#)
        try a.rename("k", to: "m")
        server.clock.advance(.seconds(1))
        try b.rename("m", to: "k")
        try await b.sync()
        try await a.sync()
        try await settle()
        try await expectEqual()
        let texts = try machines.flatMap { try Array($0.files().values) + $0.sidesOfConflicts() }
        #expect(texts.contains { $0.contains("m0") })
        #expect(texts.contains { $0.contains("k0") })
    }
}

extension Replica {
    fileprivate func sidesOfConflicts() throws -> [String] {
        try conflicts().flatMap { conflict in
            try [Conflict.Side.mine, .theirs].compactMap {
                try store.syncState.text(of: $0, in: conflict)
            }
            .map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
