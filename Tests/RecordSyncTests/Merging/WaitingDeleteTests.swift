import RecordModel
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// Changes that come from elsewhere while a record that was removed waits for its deletion.
@Suite("Waiting deletes") struct WaitingDeleteTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server, grace: .seconds(3))
        try a.save("x", #"{"f":"old","g":"old"}"#)
        try await a.sync()
        try await b.sync()
    }

    /// A edits a field, and B the same one later, without hearing of that; B removes the record then.
    private func crossAndRemove() async throws {
        try a.save("x", #"{"f":"a","g":"old"}"#)
        try await a.sync()
        server.clock.advance(.seconds(1))
        try b.save("x", #"{"f":"b","g":"old"}"#)
        try b.delete("x")
    }

    private func settle() async throws {
        server.clock.advance(.seconds(4))
        try b.finalizeDeletes()
        for replica in [b, a, b, a] { try await replica.sync() }
        for replica in [a, b] {
            #expect(try replica.outbox() == [])
            #expect(try replica.problems() == [])
        }
    }

    @Test(
        "an edit that lost to one whose record is removed already brings the record back",
        arguments: [false, true])
    func lostToRemoved(_ isRefused: Bool) async throws {
        try await crossAndRemove()
        // B hears of the edit before the deletion is final. Its own one may not get through then.
        if isRefused {
            b.wire.plan(.recordsModify, .refused(ServerError(.tryAgainLater, "busy")))
            await #expect(throws: SyncProblem.self) { try await b.exchange.round() }
        } else {
            try await b.sync()
        }
        #expect(try b.text("x") == #"{"f":"b","g":"old"}"#)
        let conflict = try #require(try b.conflicts().first)
        let theirs = try #require(try b.store.syncState.text(of: .theirs, in: conflict))
        #expect(String(decoding: theirs, as: UTF8.self).contains(#""a""#))
        try await settle()
        #expect(try a.text("x") == #"{"f":"b","g":"old"}"#)
        #expect(try a.conflicts().first?.fields == [FieldName("f")])
    }

    @Test("a record that was removed before anybody heard of it takes none of its name along")
    func neverSent() async throws {
        try a.save("y", #"{"f":"a"}"#)
        try await a.sync()
        server.clock.advance(.seconds(1))
        try b.save("y", #"{"f":"b"}"#)
        try b.delete("y")
        try await b.sync()
        try await settle()
        #expect(try a.text("y") == #"{"f":"b"}"#)
        #expect(try a.conflicts().first?.fields == [FieldName("f")])
    }

    @Test("an edit of another field brings the record back, with all that it had")
    func otherField() async throws {
        try a.save("x", #"{"f":"old","g":"a"}"#)
        try await a.sync()
        server.clock.advance(.seconds(1))
        try b.save("x", #"{"f":"b","g":"old"}"#)
        try b.delete("x")
        try await b.sync()
        #expect(try b.text("x") == #"{"f":"b","g":"a"}"#)
        #expect(try b.conflicts().count == 1)
        try await settle()
        #expect(try a.text("x") == #"{"f":"b","g":"a"}"#)
    }

    @Test("nothing is a conflict when the deletion is taken back and nobody edits")
    func takenBack() async throws {
        try b.delete("x")
        try await b.sync()
        try b.save("x", #"{"f":"old","g":"old"}"#)
        try await settle()
        #expect(try a.text("x") == #"{"f":"old","g":"old"}"#)
        #expect(try a.conflicts() + b.conflicts() == [])
    }

    @Test(
        "a record that is renamed back within the time of both deletions is there, once",
        arguments: [false, true], [[0, 1], [1, 0]])
    func renamedBack(_ isEdited: Bool, _ order: [Int]) async throws {
        let c = try Replica(server, grace: .seconds(3))
        try await c.sync()
        try b.rename("x", to: "y")
        try await b.sync()
        server.clock.advance(.seconds(1))
        try await c.sync()
        if isEdited { try c.save("y", #"{"f":"c","g":"old"}"#) }
        // It shows both names as long as the deletion waits.
        try c.rename("y", to: "x")
        try await c.sync()
        server.clock.advance(.seconds(10))
        for _ in 0..<3 {
            for replica in order.map({ [b, c][$0] }) {
                try replica.finalizeDeletes()
                try await replica.sync()
            }
        }
        try await settle()
        let tree = try a.tree()
        let value = isEdited ? "c" : "old"
        #expect(Array(tree.values) == [#"{"f":"\#(value)","g":"old"}"#])
        for replica in [b, c] { #expect(try replica.tree() == tree) }
    }
}
