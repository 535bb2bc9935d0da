import RecordModel
import RecordStore
import RecordSync
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// Edits of three machines, one of which ends the record meanwhile.
@Suite("Three machines") struct ThreeMachinesTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica
    private let c: Replica
    private var all: [Replica] { [a, b, c] }

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
        c = try Replica(server)
    }

    private func make(_ text: String, on replica: Replica) async throws {
        try replica.save("x", text)
        try await replica.sync()
        for replica in all { try await replica.sync() }
    }

    private func settle() async throws {
        for replica in all + all { try await replica.sync() }
        let fresh = try Replica(server)
        try await fresh.sync()
        for replica in all {
            for zone in ["Box", "Side"] {
                let (mine, its) = (try fresh.files(zone: zone), try replica.files(zone: zone))
                #expect(mine == its)
            }
            #expect(try replica.outbox() == [])
        }
    }

    /// The sides of the conflicts that a machine lists.
    private func mine(_ replica: Replica) throws -> [String] {
        try replica.conflicts().compactMap {
            try replica.store.syncState.text(of: .mine, in: $0).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
    }

    /// Tries and fails to send, once it has heard what there is.
    private func hear(_ replica: Replica) async throws {
        replica.wire.plan(.recordsModify, .requestLost)
        await replica.breakOff()
    }

    /// B has f2 and A f1; C, who knows of B's edit alone, moves the record away; both edit once more.
    private func editAround(_ maker: Replica) async throws {
        try await make(#"{"f1":"b1"}"#, on: maker)
        try b.save("x", #"{"f1":"b1","f2":"b2"}"#)
        try await b.sync()
        try await c.sync()
        try a.save("x", #"{"f1":"a1"}"#)
        try c.save("x", try c.text("x") ?? "", zone: "Side")
        try c.delete("x")
        try await c.sync()
        server.clock.advance(.seconds(5))
        try a.save("x", #"{"f0":"a2","f1":"a1"}"#)
        try b.save("x", #"{"f0":"b3","f1":"b1","f2":"b2"}"#)
        for replica in [a, b] { try await hear(replica) }
    }

    @Test(
        "an edit stands where others make the record again that a third has moved away",
        arguments: [0, 1, 2])
    func movedAway(_ maker: Int) async throws {
        for (first, second) in [(a, b), (b, a)] {
            try await editAround(all[maker])
            try await first.sync()
            try await second.sync()
            try await settle()
            let text = try #require(try a.text("x"))
            #expect(text.contains(#""f1":"a1""#), "\(text)")
            #expect(text.contains(#""f2":"b2""#), "\(text)")
            try a.delete("x")
            try await settle()
        }
    }

    @Test(
        "a text that was read before a deletion, and written after it, is no edit of all its fields"
    )
    func writtenBack() async throws {
        for (first, second) in [(a, b), (b, a)] {
            try await make(#"{"f0":"0","f1":"b1"}"#, on: b)
            try a.save("x", #"{"f0":"0","f1":"a1"}"#)
            try c.delete("x")
            try await c.sync()
            server.clock.advance(.seconds(5))
            try await b.sync()
            try b.save("x", #"{"f0":"b3","f1":"b1"}"#)
            try await hear(a)
            try await first.sync()
            try await second.sync()
            try await settle()
            let text = try #require(try c.text("x"))
            #expect(text.contains(#""f0":"b3""#) && text.contains(#""f1":"a1""#), "\(text)")
            try a.delete("x")
            try await settle()
        }
    }

    @Test("of three edits of a field, the machines of both that lost list the conflict")
    func allHear() async throws {
        try await make(#"{"p":"0"}"#, on: a)
        for (number, replica) in all.enumerated() {
            server.clock.advance(.seconds(1))
            try replica.save("x", #"{"p":"\#(number + 1)"}"#)
        }
        for replica in all { try await replica.sync() }
        try await settle()
        #expect(try a.text("x") == #"{"p":"3"}"#)
        #expect(try mine(a) == [#"{"p":"1"}"#])
        #expect(try mine(b).contains(#"{"p":"2"}"#))
    }

    @Test("of two records made with one name, the machine of the one that lost lists the conflict")
    func madeTwice() async throws {
        for (number, replica) in all.enumerated() {
            server.clock.advance(.seconds(1))
            try replica.save("x", #"{"p":"\#(number)","q":"\#(number)"}"#)
        }
        for replica in all { try await replica.sync() }
        try await settle()
        #expect(try c.text("x") == #"{"p":"2","q":"2"}"#)
        #expect(try mine(a) == [#"{"p":"0","q":"0"}"#])
        #expect(try mine(b).contains(#"{"p":"1","q":"1"}"#))
    }

    @Test(
        "whose lines another has built on lists the conflict that they lost in, too",
        arguments: [false, true])
    func linesBuiltOn(_ isHeard: Bool) async throws {
        try a.save("x", #"{"t":"a1\na2\na3\n"}"#)
        try await a.sync()
        try await b.sync()
        try b.save("x", #"{"t":"a1\nb2\na3\n"}"#)
        server.clock.advance(.seconds(1))
        try c.save("x", #"{"t":"c1\nc2\nc3\n"}"#)
        try await b.sync()
        if isHeard { try await a.sync() }
        try await c.sync()
        try await settle()
        #expect(try a.text("x") == #"{"t":"c1\nc2\nc3\n"}"#)
        for replica in [a, b] {
            #expect(try mine(replica).contains { $0.contains("a1") && $0.contains("a3") })
        }
        // Once.
        try c.save("x", #"{"t":"c1\nc2\nc4\n"}"#)
        try await settle()
        #expect(try a.conflicts().count == 1)
    }

    @Test("who writes over a value that had won against another lists nothing, and tells on")
    func toldOn() async throws {
        try await make(#"{"p":"0"}"#, on: a)
        try a.save("x", #"{"p":"1"}"#)
        server.clock.advance(.seconds(1))
        try b.save("x", #"{"p":"2"}"#)
        try await a.sync()
        try await b.sync()
        try await c.sync()
        try c.save("x", #"{"p":"3"}"#)
        try await c.sync()
        try await settle()
        #expect(try a.text("x") == #"{"p":"3"}"#)
        #expect(try mine(a) == [#"{"p":"1"}"#])
        #expect(try mine(c) == [])
        // Nobody hears of it again.
        try b.save("x", #"{"p":"4"}"#)
        try await settle()
        #expect(try mine(a) == [#"{"p":"1"}"#] && mine(c) == [])
    }
}
