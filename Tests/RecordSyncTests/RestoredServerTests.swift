import RecordModel
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// A server that comes back from a backup is behind the machines that have seen more of it: what was
/// acknowledged is sent again, and nothing that was deleted comes back.
@Suite struct RestoredServerTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
    }

    private func syncAll() async throws {
        for replica in [a, b, a, b] { try await replica.sync() }
    }

    private func expectEqual(
        _ tree: [String: String], zone: String = "Box"
    ) async throws {
        let fresh = try Replica(server)
        try await fresh.sync()
        for replica in [a, b, fresh] { try replica.expectSettled(tree, zone: zone) }
    }

    @Test("edits and records that the server has lost are there again")
    func laterStates() async throws {
        try a.save("x", #"{"p":1,"q":1}"#)
        try a.save("same", #"{"p":1}"#)
        try await syncAll()
        let backup = try await server.backUp()
        try a.save("x", #"{"p":2,"q":1}"#)
        try b.save("y", #"{"p":3}"#)
        try await syncAll()
        try await server.restore(backup)
        try await syncAll()
        try await expectEqual([
            "x": #"{"p":2,"q":1}"#, "y": #"{"p":3}"#, "same": #"{"p":1}"#,
        ])
        #expect(try a.store.syncState.counts().trash == 0)
        #expect(try b.store.syncState.counts().trash == 0)
        #expect(try a.conflicts() == [] && b.conflicts() == [])
    }

    @Test("of a record made twice, while one of two restores was not heard of, nothing is lost")
    func missedRestore() async throws {
        let empty = try await server.backUp()
        try a.save("x", #"{"p":1}"#)
        try await a.sync()
        try await server.restore(empty)
        try b.save("x", #"{"p":2}"#)
        try await b.sync()
        let backup = try await server.backUp()
        try await server.restore(backup)
        try await syncAll()
        try await expectEqual(["x": #"{"p":2}"#])
        let conflict = try #require(try a.conflicts().first)
        #expect(
            try a.store.syncState.text(of: .mine, in: conflict)?.contains(UInt8(ascii: "1")) == true
        )
    }

    @Test("what a machine sends again is as old as it was, and not as new as that machine's clock")
    func sentAgain() async throws {
        let ahead = try Replica(server, clock: ShiftedClock(server.clock, by: .seconds(900)))
        try a.save("x", #"{"p":0}"#)
        for replica in [a, ahead] { try await replica.sync() }
        let backup = try await server.backUp()
        try a.save("x", #"{"p":1}"#)
        for replica in [a, ahead] { try await replica.sync() }
        try a.save("x", #"{"p":2}"#)
        try await a.sync()
        try await server.restore(backup)
        try await ahead.sync()
        try await syncAll()
        try await expectEqual(["x": #"{"p":2}"#])
    }

    @Test("what one machine alone has seen comes from there", arguments: [true, false])
    func oneMachine(isFirst: Bool) async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncAll()
        let backup = try await server.backUp()
        try a.save("x", #"{"p":2}"#)
        try a.save("y", #"{"p":1}"#)
        try await a.sync()
        try await server.restore(backup)
        if isFirst { try await b.sync() }
        try await syncAll()
        try await expectEqual(["x": #"{"p":2}"#, "y": #"{"p":1}"#])
    }

    @Test("what was deleted after the backup stays deleted, on all machines")
    func deleted() async throws {
        try a.save("x", #"{"p":1}"#)
        try a.save("y", #"{"p":1}"#)
        try await syncAll()
        let backup = try await server.backUp()
        try a.delete("x")
        try await syncAll()
        // The server hears of this one when it is back.
        try b.delete("y")
        try await server.restore(backup)
        try await syncAll()
        try await expectEqual([:])
    }

    @Test(
        "what was deleted before the backup stays deleted, where a machine had not heard of that",
        arguments: [true, false])
    func deletedBefore(isFirst: Bool) async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncAll()
        try a.delete("x")
        try await a.sync()
        try await server.restore(try await server.backUp())
        if isFirst { try await b.sync() }
        try await syncAll()
        try await expectEqual([:])
    }

    @Test(
        "what was deleted before the backup, and made anew after it, stays",
        arguments: [true, false])
    func madeAnewSince(isHeard: Bool) async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncAll()
        try a.delete("x")
        try await a.sync()
        let backup = try await server.backUp()
        try a.save("x", #"{"p":2}"#)
        try await a.sync()
        if isHeard { try await b.sync() }
        try await server.restore(backup)
        try await b.sync()
        try await syncAll()
        try await expectEqual(["x": #"{"p":2}"#])
    }

    @Test("a record that was deleted after the backup and is edited after the restore stays")
    func editedSince() async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncAll()
        let backup = try await server.backUp()
        try a.delete("x")
        try await a.sync()
        try await server.restore(backup)
        try b.save("x", #"{"p":2}"#)
        try await b.sync()
        try await syncAll()
        try await expectEqual(["x": #"{"p":2}"#])
    }

    @Test("zones that were made after the backup are made again, and removed ones removed")
    func zones() async throws {
        try a.save("x", #"{"p":1}"#, zone: "Old")
        try a.save("k", #"{"p":1}"#, zone: "Kept")
        try await syncAll()
        let backup = try await server.backUp()
        try a.removeZone("Old")
        try a.save("y", #"{"p":2}"#, zone: "New")
        try await syncAll()
        #expect(try b.zones.sorted() == ["Kept", "New"])
        try await server.restore(backup)
        try await syncAll()
        try await expectEqual(["y": #"{"p":2}"#], zone: "New")
        try await expectEqual([:], zone: "Old")
        let fresh = try Replica(server)
        try await fresh.sync()
        #expect(try a.zones.sorted() == ["Kept", "New"])
        #expect(try b.zones.sorted() == ["Kept", "New"])
        #expect(try fresh.zones.sorted() == ["Kept", "New"])
    }

    @Test(
        "what is deleted before its machine hears of the restore goes, though another makes it again"
    )
    func deletedUnaware() async throws {
        let backup = try await server.backUp()
        try a.save("x", #"{"p":1}"#)
        try await syncAll()
        try await server.restore(backup)
        try b.removeZone()
        try await syncAll()
        try await expectEqual([:])
    }

    /// Simulation seed 401511.
    @Test("an edit beside those of others, which its deleter cannot have seen, is in a conflict")
    func deletedUnseen() async throws {
        try a.save("x", #"{"t":1}"#)
        try await a.sync()
        try b.save("x", #"{"p":1}"#)
        let backup = try await server.backUp()
        try a.delete("x")
        try await b.sync()
        #expect(try b.text("x") == #"{"p":1,"t":1}"#)
        try await server.restore(backup)
        try await syncAll()
        try await expectEqual([:])
        let conflict = try #require(try b.conflicts().first)
        let mine = try #require(try b.store.syncState.text(of: .mine, in: conflict))
        #expect(String(decoding: mine, as: UTF8.self) == #"{"p":1,"t":1}"#)
    }

    @Test(
        "a record that was deleted here is deleted, though another makes an earlier state of it again"
    )
    func deletedLaterState() async throws {
        let backup = try await server.backUp()
        try a.save("x", #"{"p":1}"#)
        try a.save("y", #"{"p":1}"#, zone: "Cup")
        try await syncAll()
        try b.save("x", #"{"p":1,"q":2}"#)
        try await b.sync()
        try await server.restore(backup)
        try b.removeZone()
        try b.removeZone("Cup")
        // The server has no zone to remove anything from.
        try await b.sync()
        try await syncAll()
        try await expectEqual([:])
        try await expectEqual([:], zone: "Cup")
    }

    /// Simulation seed 107390. No version at B has all that A sends again: B had its own `n`.
    @Test(
        "what is deleted after a conflict about it stays deleted, though the other side is made again",
        arguments: [true, false])
    func deletedAfterConflict(isSent: Bool) async throws {
        try a.save("x", #"{"p":0,"n":0}"#)
        try await syncAll()
        let backup = try await server.backUp()
        try a.save("x", #"{"p":1,"n":1}"#)
        try await a.sync()
        server.clock.advance(.seconds(1))
        try b.save("x", #"{"p":0,"n":2}"#)
        b.wire.plan(.recordsModify, .answerLost)
        await #expect(throws: SyncProblem.self) { try await b.exchange.round() }
        try b.delete("x")
        if isSent { try await b.sync() }
        try await server.restore(backup)
        try await a.sync()
        #expect(try a.text("x") == #"{"n":1,"p":1}"#)
        try await b.sync()
        try await syncAll()
        try await expectEqual([:])
    }

    @Test(
        "a record that was made anew elsewhere before the backup is not deleted by who never saw it"
    )
    func madeAnewBefore() async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncAll()
        try a.delete("x")
        try await syncAll()
        try b.save("x", #"{"p":2}"#)
        try b.save("y", "{}")
        try await b.sync()
        let backup = try await server.backUp()
        try await server.restore(backup)
        try await syncAll()
        try await expectEqual(["x": #"{"p":2}"#, "y": "{}"])
    }

    @Test("a feed that begins anew in the middle still goes over a server that is behind")
    func expiredAgain() async throws {
        let replica = try Replica(server) { $0.pageRecords = 1 }
        for number in 1...3 { try replica.save("old\(number)", #"{"p":1}"#) }
        try await replica.sync()
        let backup = try await server.backUp()
        try replica.save("new", #"{"p":1}"#)
        try await replica.sync()
        try await server.restore(backup)
        let expired = CoreTransport.Fault.refused(ServerError(.changeTokenExpired, "old"))
        // The page that tells of the restore, the first of the new pass, and the second.
        replica.wire.plan(.zoneChanges, .meanwhile({}), .meanwhile({}), expired)
        try await replica.sync()
        for _ in 0..<2 { try await a.sync() }
        #expect(try replica.names().sorted() == ["new", "old1", "old2", "old3"])
        #expect(try a.names().sorted() == ["new", "old1", "old2", "old3"])
        #expect(try replica.store.syncState.counts().trash == 0)
    }

    /// Simulation seed 12110.
    @Test("a zone that is removed while its feed is read after a restore is made again whole")
    func removedMeanwhile() async throws {
        let replica = try Replica(server) { $0.pageRecords = 1 }
        for name in ["x", "y", "z"] { try replica.save(name, #"{"p":1}"#) }
        try await replica.sync()
        try await a.sync()
        try await server.restore(try await server.backUp())
        try await a.sync()
        try replica.save("x", #"{"p":2}"#)
        // The page that tells of the restore, the first of the new pass, and no second.
        replica.wire.plan(.zoneChanges, .meanwhile({}), .meanwhile({}), .requestLost)
        await #expect(throws: SyncProblem.self) { try await replica.exchange.round() }
        try a.removeZone()
        try await a.sync()
        try await replica.sync()
        #expect(try replica.tree() == ["x": #"{"p":2}"#, "y": #"{"p":1}"#, "z": #"{"p":1}"#])
        try await syncAll()
        try await expectEqual(["x": #"{"p":2}"#, "y": #"{"p":1}"#, "z": #"{"p":1}"#])
    }

    @Test("what somebody who knew less edits after the restore takes nothing back")
    func behind() async throws {
        let c = try Replica(server)
        try a.save("x", #"{"p":1,"q":1,"r":1}"#)
        try await syncAll()
        try await c.sync()
        let backup = try await server.backUp()
        try a.save("x", #"{"p":2,"q":1,"r":1}"#)
        try await a.sync()
        try b.save("x", #"{"p":1,"q":1,"r":2}"#)
        try await b.sync()
        try await a.sync()
        #expect(try a.text("x") == #"{"p":2,"q":1,"r":2}"#)
        try await server.restore(backup)
        server.clock.advance(.seconds(1))
        try c.save("x", #"{"p":1,"q":3,"r":1}"#)
        try await c.sync()
        try await syncAll()
        try await expectEqual(["x": #"{"p":2,"q":3,"r":2}"#])
    }

    @Test("an edit that is sent before the restore is known takes nothing back either")
    func uploadFirst() async throws {
        let c = try Replica(server)
        try a.save("x", #"{"p":1,"q":1}"#)
        try await syncAll()
        try await c.sync()
        let backup = try await server.backUp()
        try a.save("x", #"{"p":2,"q":1}"#)
        try await a.sync()
        try await server.restore(backup)
        server.clock.advance(.seconds(1))
        try c.save("x", #"{"p":1,"q":3}"#)
        try await c.sync()
        try a.save("new", #"{"p":1}"#)
        try a.save("x", #"{"p":2,"q":1,"r":1}"#)
        let zone = try #require(try a.store.zone(.private, .me, ZoneName("Box"))).id
        try await a.exchange.work(zone, downloads: false, uploads: true)
        try await syncAll()
        try await expectEqual(["x": #"{"p":2,"q":3,"r":1}"#, "new": #"{"p":1}"#])
    }

    @Test("two machines that make a lost record again keep the later fields of both")
    func madeByTwo() async throws {
        let backup = try await server.backUp()
        try a.save("x", #"{"p":1,"q":1}"#)
        try await syncAll()
        server.clock.advance(.seconds(1))
        try a.save("x", #"{"p":2,"q":1}"#)
        try await a.sync()
        server.clock.advance(.seconds(1))
        // It has not seen that.
        try b.save("x", #"{"p":1,"q":2}"#)
        try await server.restore(backup)
        try await b.sync()
        try await syncAll()
        try await expectEqual(["x": #"{"p":2,"q":2}"#])
    }

    @Test("an edit that was not sent yet stands over the state that another machine makes again")
    func pendingEdit() async throws {
        let backup = try await server.backUp()
        try a.save("x", #"{"p":1}"#)
        try await a.sync()
        try a.save("x", #"{"p":2}"#)
        server.clock.advance(.seconds(60))
        // It hears of the first state after the second was written.
        try await b.sync()
        try await server.restore(backup)
        try await b.sync()
        try await syncAll()
        try await expectEqual(["x": #"{"p":2}"#])
        #expect(try a.conflicts() == [])
    }

    @Test("files beside records come back too")
    func assets() async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncAll()
        let backup = try await server.backUp()
        try a.attach([1, 2, 3], to: "x")
        try await syncAll()
        try await server.restore(backup)
        try await syncAll()
        let fresh = try Replica(server)
        try await fresh.sync()
        #expect(try fresh.assets(of: "x").count == 1)
        #expect(try fresh.text("x") == a.text("x"))
        #expect(try a.outbox() == [])
    }

    @Test("the backup of a server that was just restored, twice within seconds, loses nothing")
    func twiceSoon() async throws {
        let first = try await server.backUp()
        try await server.restore(first)
        let backup = try await server.backUp()
        try await server.restore(backup)
        try a.save("x", #"{"p":1}"#)
        try await a.sync()
        try await server.restore(backup)
        try await syncAll()
        try await expectEqual(["x": #"{"p":1}"#])
    }

    @Test("the same backup twice, with work between, loses nothing")
    func twice() async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncAll()
        let backup = try await server.backUp()
        for number in 2...4 {
            try a.save("x", #"{"p":\#(number)}"#)
            try b.save("n\(number)", #"{"p":1}"#)
            try await syncAll()
            try await server.restore(backup)
        }
        try await syncAll()
        try await expectEqual([
            "x": #"{"p":4}"#, "n2": #"{"p":1}"#, "n3": #"{"p":1}"#, "n4": #"{"p":1}"#,
        ])
    }

    @Test("what was changed before the backup is not taken for a change by somebody who knew less")
    func changedBeforeBackup() async throws {
        try a.save("x", #"{"t":1}"#)
        try await syncAll()
        try b.save("x", #"{"p":1}"#)
        // The feed of the other is to begin anew, too.
        b.wire.plan(.databaseChanges, .tokenExpired)
        try await b.sync()
        try await server.restore(try await server.backUp())
        try await a.sync()
        #expect(try a.tree() == ["x": #"{"p":1}"#])
        try await syncAll()
        try await expectEqual(["x": #"{"p":1}"#])
        #expect(try a.conflicts() == [] && b.conflicts() == [])
    }
}
