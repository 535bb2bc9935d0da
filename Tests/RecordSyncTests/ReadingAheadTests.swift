import RecordSync
import ServerTestSupport
import Simulation
import Testing

/// The next page of a feed comes while one is applied.
@Suite struct ReadingAheadTests {
    @Test("pages that are fetched ahead are applied in their order, also when the feed begins anew")
    func readsAhead() async throws {
        let server = try await TestServer()
        let a = try Replica(server)
        for number in 0..<9 { try a.save("x\(number)", #"{"p":\#(number)}"#) }
        try await a.exchange.round()
        let c = try Replica(server) {
            $0.pageRecords = 2
            $0.readsAhead = true
        }
        _ = c.wire.takeSent()
        try await c.exchange.round()
        #expect(try c.tree() == a.tree())
        // One request a page: none is asked for twice.
        #expect(c.wire.takeSent().count { $0 == .zoneChanges } == 5)
        for number in 0..<9 { try a.save("x\(number)", #"{"p":\#(number + 10)}"#) }
        try a.delete("x3")
        try await a.exchange.round()
        c.wire.plan(nil, nil, .tokenExpired)
        try await c.exchange.round()
        #expect(try c.tree() == a.tree())
        for number in 0..<9 { try a.save("x\(number)", #"{"p":\#(number + 20)}"#) }
        try await a.exchange.round()
        c.wire.plan(nil, nil, .requestLost)
        await #expect(throws: SyncProblem.self) { try await c.exchange.round() }
        try await c.exchange.round()
        #expect(try c.tree() == a.tree())
        try c.expectSound()
    }
}
