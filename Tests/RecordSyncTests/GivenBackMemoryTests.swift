import RecordStore
import RecordSync
import ServerTestSupport
import Simulation
import Testing

/// What a daemon holds when it has nothing to do.
@Suite struct GivenBackMemoryTests {
    @Test("memory is given back after a download of several pages, not after a small one")
    func download() async throws {
        let server = try await TestServer()
        let a = try Replica(server)
        for number in 0..<9 { try a.save("x\(number)", #"{"p":\#(number)}"#) }
        try await a.exchange.round()
        let few = try Replica(server)
        try await few.exchange.round()
        #expect(try !few.store.upkeep.releaseMemory())
        let many = try Replica(server) { $0.pageRecords = 2 }
        try await many.exchange.round()
        #expect(try many.store.upkeep.releaseMemory() && many.store.upkeep.releaseMemory())
        #expect(try !many.store.upkeep.releaseMemory(), "once is enough")
    }
}
