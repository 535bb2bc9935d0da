import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// Records that hang on others by `$parent`: the server refuses a record whose parent it does not have,
/// and the deletion of one that others hang on; feeds tell of them in any order.
@Suite("Parents and what hangs on them") struct ParentTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer()
        // Small requests and pages, so that what belongs together is parted.
        a = try Replica(server) {
            $0.claims.records = 2
            $0.pageRecords = 1
        }
        b = try Replica(server) {
            $0.claims.records = 2
            $0.pageRecords = 1
        }
    }

    private func syncAll() async throws {
        for replica in [a, b, a, b] { try await replica.sync() }
    }

    private func expectEqual(_ tree: [String: String]) async throws {
        let fresh = try Replica(server)
        try await fresh.sync()
        for replica in [a, b, fresh] { try replica.expectSettled(tree) }
    }

    // MARK: Children that come first

    @Test("a child that comes before its parent is a file at once, and both outlive a kill between")
    func childFirst() async throws {
        try a.save("list", #"{"t":1}"#)
        try a.save("child", #"{"$parent":"list","t":1}"#)
        try a.attach([1, 2, 3], to: "child")
        try await a.sync()
        // Its last change is behind the child's.
        try a.save("list", #"{"t":2}"#)
        try await a.sync()
        b.wire.plan(.zoneChanges, .meanwhile({}), .crash(isAnswered: false))
        await b.breakOff()
        #expect(try b.restartAfterCrash())
        #expect(try b.names() == ["child"])
        #expect(try b.assets(of: "child") == ["child@photo.jpg": nil])
        try await syncAll()
        try await expectEqual(a.tree())
        #expect(try b.text("list") == #"{"t":2}"#)
    }

    @Test("a grandchild whose parent never came goes when it is deleted with that")
    func grandchildOfDeleted() async throws {
        try a.save("x", "{}")
        try a.save("y", #"{"$parent":"x"}"#)
        try a.save("z", #"{"$parent":"y"}"#)
        try await a.sync()
        try a.save("y", #"{"$parent":"x","t":1}"#)
        try await a.sync()
        b.wire.plan(.zoneChanges, .meanwhile({}), .meanwhile({}), .requestLost)
        await b.breakOff()
        #expect(try b.names() == ["x", "z"])
        try a.delete("y")
        try a.delete("z")
        try await syncAll()
        try await expectEqual(["x": "{}"])
    }

    @Test("a record that moves below one that is not here yet is there when that comes")
    func movedBelowUnknown() async throws {
        try a.save("old", "{}")
        try a.save("child", #"{"$parent":"old"}"#)
        try await syncAll()
        try a.save("new", #"{"t":1}"#)
        try a.save("child", #"{"$parent":"new"}"#)
        try await a.sync()
        try a.save("new", #"{"t":2}"#)
        try await a.sync()
        b.wire.plan(.zoneChanges, .meanwhile({}), .requestLost)
        await b.breakOff()
        #expect(try b.text("child") == #"{"$parent":"new"}"#)
        try await syncAll()
        try await expectEqual([
            "old": "{}", "child": #"{"$parent":"new"}"#, "new": #"{"t":2}"#,
        ])
    }

    @Test(
        "a child that was sent before its parent was saved goes by itself when the parent is there")
    func savedBeforeParent() async throws {
        try a.save("child", #"{"$parent":"list"}"#)
        try a.save("other", "{}")
        try await a.sync()
        #expect(try a.outbox() == ["create child? VALIDATING_REFERENCE_ERROR"])
        try a.save("list", "{}")
        try await syncAll()
        try await expectEqual(["child": #"{"$parent":"list"}"#, "list": "{}", "other": "{}"])
    }

    @Test("a child whose parent another machine makes goes by itself when the parent comes")
    func parentFromElsewhere() async throws {
        try a.save("child", #"{"$parent":"list"}"#)
        try await a.sync()
        #expect(try a.outbox() == ["create child? VALIDATING_REFERENCE_ERROR"])
        try b.save("list", "{}")
        try await b.sync()
        try await syncAll()
        try await expectEqual(["child": #"{"$parent":"list"}"#, "list": "{}"])
    }

    // MARK: Moves

    @Test(
        "of two moves of a record the one that reaches the server last stands on both sides, and is told",
        arguments: [0, 1])
    func twoMoves(first: Int) async throws {
        for name in ["p", "q", "r"] { try a.save(name, "{}") }
        try a.save("x", #"{"$parent":"p"}"#)
        try await syncAll()
        try a.save("x", #"{"$parent":"q"}"#)
        server.clock.advance(.seconds(1))
        try b.save("x", #"{"$parent":"r"}"#)
        let (one, two) = first == 0 ? (a, b) : (b, a)
        for replica in [one, two, one] { try await replica.sync() }
        let parent = first == 0 ? "r" : "q"
        try await expectEqual([
            "p": "{}", "q": "{}", "r": "{}", "x": #"{"$parent":"\#(parent)"}"#,
        ])
        #expect(try two.conflicts().map(\.fields) == [[FieldName("$parent")]])
    }

    @Test("a record whose parent changed elsewhere hangs on the new one, and its own edit stays")
    func moveAndEdit() async throws {
        for name in ["p", "q"] { try a.save(name, "{}") }
        try a.save("x", #"{"$parent":"p","t":1}"#)
        try await syncAll()
        try a.save("x", #"{"$parent":"q","t":1}"#)
        try b.save("x", #"{"$parent":"p","t":2}"#)
        try await syncAll()
        try await expectEqual(["p": "{}", "q": "{}", "x": #"{"$parent":"q","t":2}"#])
        #expect(try a.conflicts() == [] && b.conflicts() == [])
    }

    // MARK: Deletions

    @Test("a tree that is removed root first goes, though its parts are in several requests")
    func removedRootFirst() async throws {
        try a.save("root", "{}")
        for number in 1...5 { try a.save("c\(number)", #"{"$parent":"root"}"#) }
        try a.save("g1", #"{"$parent":"c1"}"#)
        try a.save("g2", #"{"$parent":"g1"}"#)
        try await syncAll()
        for name in ["root", "c1", "g1", "c2", "c3", "c4", "c5", "g2"] { try a.delete(name) }
        try await syncAll()
        try await expectEqual([:])
        #expect(try a.conflicts() == [])
    }

    @Test("a root whose children were moved away goes")
    func movedAndRemoved() async throws {
        for name in ["p", "q"] { try a.save(name, "{}") }
        for number in 1...3 { try a.save("c\(number)", #"{"$parent":"p"}"#) }
        try await syncAll()
        try a.delete("p")
        for number in 1...3 { try a.save("c\(number)", #"{"$parent":"q"}"#) }
        try await syncAll()
        #expect(try b.names() == ["c1", "c2", "c3", "q"])
        try await expectEqual(b.tree())
    }

    @Test(
        "a record to which another machine has added a child meanwhile comes back with a conflict",
        arguments: [true, false])
    func childAddedElsewhere(isSentFirst: Bool) async throws {
        try a.save("list", #"{"t":1}"#)
        try await syncAll()
        try b.save("child", #"{"$parent":"list"}"#)
        try a.delete("list")
        try a.save("own", "{}")
        if isSentFirst {
            // The child is on its way to here when the deletion is sent.
            a.wire.plan(.recordsModify, .meanwhile { [b] in try await b.exchange.round() })
        } else {
            try await b.sync()
        }
        try await syncAll()
        try await expectEqual([
            "list": #"{"t":1}"#, "child": #"{"$parent":"list"}"#, "own": "{}",
        ])
        let conflict = try #require(try a.conflicts().first)
        #expect(conflict.stem == Stem("list") && conflict.fields.isEmpty)
        #expect(try a.store.syncState.text(of: .mine, in: conflict) == nil)
        #expect(try a.store.syncState.text(of: .theirs, in: conflict) != nil)
    }

    @Test("a record that was moved below one that is gone there stays and waits with the reason")
    func movedBelowDeleted() async throws {
        for name in ["p", "q"] { try a.save(name, "{}") }
        try a.save("x", #"{"$parent":"p","t":1}"#)
        try await syncAll()
        try b.delete("q")
        try await b.sync()
        try a.save("x", #"{"$parent":"q","t":1}"#)
        try a.save("y", "{}")
        try await a.sync()
        #expect(try a.outbox() == ["update x? VALIDATING_REFERENCE_ERROR"])
        #expect(try a.names() == ["p", "x", "y"])
        // Whoever moves it back sends it.
        try a.save("x", #"{"$parent":"p","t":2}"#)
        try await syncAll()
        try await expectEqual(["p": "{}", "x": #"{"$parent":"p","t":2}"#, "y": "{}"])
    }
}
