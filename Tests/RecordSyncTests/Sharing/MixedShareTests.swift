import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// Two records of one zone, each with what hangs on it: Bob may only read `r`, and write to `w`.
@Suite struct MixedShareTests {
    private let server: TestServer
    private let alice: Replica
    private let bob: Replica

    init() async throws {
        server = try await TestServer()
        alice = try Replica(server)
        let owner = OwnerName(bytes: TestServer.Person.alice.user?.bytes ?? [])
        bob = try Replica(server, as: .bob, in: .shared, of: owner)
        for root in ["r", "w"] {
            try alice.save(root, #"{"p":1}"#)
            try alice.save("\(root)1", #"{"$parent":"\#(root)","p":1}"#)
            try alice.save("\(root)2", #"{"$parent":"\#(root)1","p":1}"#)
        }
        try alice.attach([1, 2, 3], to: "r1")
        try await alice.sync()
        try await server.share("r", permission: "READ_ONLY")
        try await server.share("w")
        try await bob.sync()
    }

    /// Says what Bob may do with a record that is shared, and lets him hear of it.
    private func permit(_ root: String, _ permission: JSONValue) async throws {
        _ = try await server.modifyShare(
            "forceUpdate", of: root, [TestServer.invitation(ofBob: permission)])
        try await bob.sync()
    }

    private func refused(_ what: String, _ body: () throws -> Void) {
        let failed = #expect(throws: RecordError.self, "\(what)") { try body() }
        #expect(failed?.code == .accessDenied, "\(what)")
    }

    /// Does what `recordfs mv` does out of the database.
    private func copyAndDelete(_ name: String) throws {
        let entry = try #require(try bob.entry(name))
        try bob.store.write(author: .commandLine) { transaction throws(RecordError) in
            let own = try transaction.makeZone(.private, .me, ZoneName("Own"))
            let type = try transaction.makeType(own.id, RecordTypeName("Note"))
            let copy = try transaction.records.save(
                text: Array("{}".utf8), type: type.id, stem: Stem(name))
            try transaction.moves.finishMove(of: entry.id, to: copy.id)
        }
    }

    @Test("what may only be read is refused at once, whatever is done; nothing of it is sent")
    func readOnly() throws {
        for name in ["r", "r1", "r2"] {
            refused("save \(name)") { try bob.save(name, #"{"p":2}"#) }
            refused("delete \(name)") { try bob.delete(name) }
            refused("rename \(name)") { try bob.rename(name, to: "new") }
            refused("rename over \(name)") { try bob.rename("w1", to: name) }
            refused("attach to \(name)") { try bob.attach([7], to: name) }
            refused("hang on \(name)") { try bob.save("new", #"{"$parent":"\#(name)"}"#) }
            refused("move to \(name)") { try bob.save("w1", #"{"$parent":"\#(name)","p":1}"#) }
            refused("move \(name) away") {
                try bob.move(name, from: "Box", to: "Box", target: "Other")
            }
            refused("take \(name) out") { try copyAndDelete(name) }
        }
        let entry = try #require(try bob.entry("r1"))
        let photo = try #require(try bob.store.assets.assets(of: entry.id).first)
        refused("remove the large field") {
            try bob.store.write(author: .mount) { transaction throws(RecordError) in
                try transaction.assets.removeAsset(photo.record, photo.field, photo.index)
            }
        }
        #expect(try bob.outbox() == [])
        #expect(try bob.names() == ["r", "r1", "r2", "w", "w1", "w2"])
        #expect(try bob.store.zones(in: .private).isEmpty)
        try bob.expectSound()
    }

    @Test("beside it what may be written to is, and gets to the owner")
    func readWrite() async throws {
        try bob.save("w", #"{"p":2}"#)
        try bob.save("w1", #"{"$parent":"w","p":3}"#)
        try bob.save("n", #"{"$parent":"w1","p":4}"#)
        try bob.rename("w2", to: "m")
        try bob.attach([7], to: "w1")
        try await bob.sync()
        try await alice.sync()
        #expect(try alice.text("w") == #"{"p":2}"#)
        #expect(try alice.text("n") == #"{"$parent":"w1","p":4}"#)
        #expect(try alice.text("m") == #"{"$parent":"w1","p":1}"#)
        #expect(try alice.assets(of: "w1").keys.sorted() == ["w1@photo.jpg"])
        try bob.expectSound()
    }

    @Test("the permission of each follows its share, also while the zone stays one of both")
    func permitted() async throws {
        try await permit("r", "READ_WRITE")
        try bob.save("r2", #"{"$parent":"r1","p":2}"#)
        try await permit("w", "READ_ONLY")
        refused("save w1") { try bob.save("w1", #"{"$parent":"w","p":2}"#) }
        try bob.save("r1", #"{"$parent":"r","p":3}"#)
        try await bob.sync()
        try await alice.sync()
        #expect(try alice.text("r2") == #"{"$parent":"r1","p":2}"#)
        try await permit("w", "READ_WRITE")
        try bob.save("w1", #"{"$parent":"w","p":2}"#)
        try await bob.sync()
        #expect(try bob.outbox() == [])
        try bob.expectSound()
    }

    @Test("a new name that could not be sent is given up where one may only read by now")
    func givenUp() async throws {
        try bob.rename("w2", to: "m")
        try await permit("w", "READ_ONLY")
        #expect(try bob.names() == ["m", "r", "r1", "r2", "w", "w1"])
        for row in try bob.store.syncState.outbox(limit: 10) where row.error != nil {
            _ = try bob.store.write(author: .sync) { transaction throws(RecordError) in
                try transaction.merging.revert(row)
            }
        }
        try await bob.sync()
        #expect(try bob.names() == ["r", "r1", "r2", "w", "w1", "w2"])
        #expect(try bob.text("w2")?.filter { !$0.isWhitespace } == #"{"$parent":"w1","p":1}"#)
        #expect(try bob.outbox() == [])
        try bob.expectSound()
    }

    @Test(
        "a new name that the owner has for another record is given up, and nothing of hers undone")
    func givenUpAfterEdit() async throws {
        try alice.save("m", #"{"secret":1}"#)
        try await alice.sync()
        try bob.save("w2", #"{"$parent":"w1","p":1,"q":7}"#)
        try bob.rename("w2", to: "m")
        try alice.save("w2", #"{"$parent":"w1","p":2}"#)
        try await alice.sync()
        try await bob.sync()
        #expect(try bob.text("m")?.contains(#""p":2"#) == true, "her edit has followed")
        for row in try bob.store.syncState.outbox(limit: 10) where row.error != nil {
            _ = try bob.store.write(author: .sync) { transaction throws(RecordError) in
                try transaction.merging.revert(row)
            }
        }
        for replica in [bob, alice, bob] { try await replica.sync() }
        #expect(try alice.text("w2") == #"{"$parent":"w1","p":2}"#)
        #expect(try alice.text("m") == #"{"secret":1}"#)
        #expect(try bob.tree()["w2"] == #"{"$parent":"w1","p":2}"#)
        #expect(try bob.names() == ["r", "r1", "r2", "w", "w1", "w2"])
        #expect(try bob.outbox() == [])
        try bob.expectSound()
    }

    @Test("a share for reading only that ends leaves the others as they are")
    func ended() async throws {
        try await server.endShare(of: "r")
        try await bob.sync()
        #expect(try bob.names() == ["w", "w1", "w2"])
        #expect(try bob.zone("Box")?.permission == .readWrite)
        try bob.save("w1", #"{"$parent":"w","p":2}"#)
        try await bob.sync()
        #expect(try bob.outbox() == [])
        try bob.expectSound()
    }

    @Test("who takes a record out here has it refused where it was, and a ring is none")
    func rings() async throws {
        #expect(throws: RecordError.self) {
            try bob.save("w1", #"{"$parent":"w2","p":2}"#)
        }
        try bob.save("w2", #"{"p":3}"#)
        try await permit("r", "READ_WRITE")
        try await permit("w", "READ_ONLY")
        refused("save w2") { try bob.save("w2", #"{"p":4}"#) }
    }
}
