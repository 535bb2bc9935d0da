import RecordModel
import RecordSync
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// What happens to a name while something of it is on its way.
@Suite("A name whose change is on its way") struct NameMadeAgainTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
        try a.save("x", #"{"p":1,"q":1}"#)
        try a.save("stays", "{}")
        try await syncAll()
    }

    private func syncAll() async throws {
        for replica in [a, b, a, b] { try await replica.sync() }
    }

    private func expectEqual(_ text: String?) async throws {
        let fresh = try Replica(server)
        try await fresh.sync()
        var tree = ["stays": "{}"]
        tree["x"] = text
        for replica in [a, b, fresh] { try replica.expectSettled(tree) }
    }

    private static let losses: [CoreTransport.Fault] = [
        .requestLost, .answerLost, .crash(isAnswered: false), .crash(isAnswered: true),
    ]

    @Test("made again while its deletion is sent, it is there with the new values alone")
    func madeAgainMeanwhile() async throws {
        try a.delete("x")
        a.wire.plan(.recordsModify, .meanwhile { [a] in try a.save("x", #"{"p":5}"#) })
        try await a.exchange.round()
        try await syncAll()
        try await expectEqual(#"{"p":5}"#)
        #expect(try a.conflicts() == [] && b.conflicts() == [])
    }

    @Test("made again after a deletion without an answer, it is there with the new values alone")
    func madeAgainAfterLoss() async throws {
        for (number, loss) in Self.losses.enumerated() {
            try a.delete("x")
            a.wire.plan(.recordsModify, loss)
            await a.breakOff()
            _ = try a.restartAfterCrash()
            try a.save("x", #"{"p":\#(number)}"#)
            try await syncAll()
            try await expectEqual(#"{"p":\#(number)}"#)
        }
        #expect(try a.conflicts() == [] && b.conflicts() == [])
    }

    /// Simulation seed 1682.
    @Test("made again between two pages of a feed, it is there with the new values alone")
    func madeAgainBetweenPages() async throws {
        let c = try Replica(server) { $0.pageRecords = 1 }
        c.wire.plan(.zoneChanges, .meanwhile {}, .requestLost)
        await c.breakOff()
        for name in try c.names() { try c.save(name, #"{"p":5}"#) }
        for name in try c.names() {
            try c.delete(name)
            try c.save(name, #"{"r":6}"#)
        }
        let names = try c.names()
        try await c.sync()
        for name in names { #expect(try c.text(name) == #"{"r":6}"#) }
        #expect(try names.count == 1 && c.conflicts() == [])
    }

    @Test("made, deleted and made again many times between rounds, it is what it was last")
    func manyTimes() async throws {
        for number in 0..<5 {
            try a.delete("x")
            try a.save("x", #"{"p":\#(number)}"#)
            try b.save("y\(number)", "{}")
            try b.delete("y\(number)")
        }
        try await syncAll()
        try await expectEqual(#"{"p":4}"#)
        try a.delete("x")
        try a.save("x", "{}")
        try a.delete("x")
        try await syncAll()
        try await expectEqual(nil)
    }

    @Test("made again elsewhere and edited here, it has the fields of both")
    func madeAgainElsewhere() async throws {
        try b.delete("x")
        try await b.sync()
        try b.save("x", #"{"r":7}"#)
        try await b.sync()
        try a.save("x", #"{"p":1,"q":2}"#)
        try await syncAll()
        let text = try #require(try a.text("x"))
        #expect(text.contains(#""r":7"#) && text.contains(#""q":2"#))
        try await expectEqual(text)
    }

    @Test("an edit that is made while the one before it is sent goes next, without a conflict")
    func editedMeanwhile() async throws {
        try a.save("x", #"{"p":2,"q":1}"#)
        a.wire.plan(.recordsModify, .meanwhile { [a] in try a.save("x", #"{"p":3,"q":4}"#) })
        try await a.exchange.round()
        try await syncAll()
        try await expectEqual(#"{"p":3,"q":4}"#)
        #expect(try a.conflicts() == [] && b.conflicts() == [])
    }

    @Test("deleted while its edit is sent, it is gone")
    func deletedMeanwhile() async throws {
        try a.save("x", #"{"p":2,"q":1}"#)
        a.wire.plan(.recordsModify, .meanwhile { [a] in try a.delete("x") })
        try await a.exchange.round()
        try await syncAll()
        try await expectEqual(nil)
    }

    @Test("a conflict in a request holds up neither a new record nor a deletion in it")
    func besideConflict() async throws {
        try a.save("other", "{}")
        try await syncAll()
        try a.save("x", #"{"p":2,"q":1}"#)
        try a.save("new", "{}")
        try a.delete("other")
        // The same field, while the request is on its way.
        a.wire.plan(
            .recordsModify,
            .meanwhile { [b, server] in
                server.clock.advance(.seconds(1))
                try b.save("x", #"{"p":3,"q":1}"#)
                try await b.exchange.round()
            })
        try await a.exchange.round()
        try await syncAll()
        for replica in [a, b] {
            try replica.expectSettled(["stays": "{}", "new": "{}", "x": #"{"p":3,"q":1}"#])
        }
    }

    @Test("a record that is renamed is gone under its old name and there under the new one")
    func renamed() async throws {
        try a.rename("x", to: "y")
        try await syncAll()
        for replica in [a, b] {
            try replica.expectSettled(["stays": "{}", "y": #"{"p":1,"q":1}"#])
        }
    }
}
