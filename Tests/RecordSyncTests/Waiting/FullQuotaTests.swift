import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import Testing

/// What does not fit the quota waits; what makes room does not.
@Suite("A full quota") struct FullQuotaTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        // Room for two records of `large`, each of which is there as values and as a file.
        server = try await TestServer { $0.service.quotaBytes = 6_000 }
        a = try Replica(server) { $0.claims.records = 2 }
        b = try Replica(server)
    }

    private static let large = #"{"t":"\#(String(repeating: "x", count: 1_000))"}"#

    private func fill() async throws {
        for name in ["a", "b"] { try a.save(name, Self.large) }
        try await a.sync()
        try await b.sync()
        #expect(try b.names() == ["a", "b"])
    }

    private func expectFull() async {
        let problem = await #expect(throws: SyncProblem.self) { try await a.exchange.round() }
        #expect(problem.map { "\($0)" }?.contains("QUOTA_EXCEEDED") == true)
        #expect(problem.map { "\($0)" }?.contains("of 6000 bytes") == true)
    }

    @Test("what does not fit waits and says why, other zones go on, and it goes when there is room")
    func waits() async throws {
        try await fill()
        try a.save("c", Self.large)
        try a.save("small", "{}", zone: "Other")
        await expectFull()
        #expect(try a.outbox() == ["create c"])
        try await b.sync()
        #expect(try b.names() == ["a", "b"] && b.names(zone: "Other") == ["small"])
        try b.delete("a")
        try await b.sync()
        for replica in [a, b] { try await replica.sync() }
        for replica in [a, b] { try replica.expectSettled(["b": Self.large, "c": Self.large]) }
    }

    @Test("deletions that make room go before new records, however many of those are in front")
    func deletionsFirst() async throws {
        try await fill()
        for number in 0..<7 { try a.save("n\(number)", Self.large) }
        try a.delete("a")
        try a.delete("b")
        await expectFull()
        #expect(try a.outbox().allSatisfy { $0.hasPrefix("create n") })
        try await b.sync()
        #expect(try b.names().count == 2 && b.names().allSatisfy { $0.hasPrefix("n") })
        // More room is bought.
        try await server.changeUser(.alice) { $0.quotaBytes = 1 << 20 }
        for replica in [a, b] { try await replica.sync() }
        #expect(try b.names() == (0..<7).map { "n\($0)" })
        for replica in [a, b] { try replica.expectSettled(a.tree()) }
    }

    @Test("an edit that makes a record smaller goes before new records that wait for room")
    func smaller() async throws {
        try await fill()
        for number in 0..<7 { try a.save("n\(number)", Self.large) }
        try a.save("a", #"{"t":"small"}"#)
        await expectFull()
        try await b.sync()
        #expect(try b.text("a") == #"{"t":"small"}"#)
        #expect(try b.names().count == 3)
        try b.expectSound()
    }

    @Test("a file that does not fit waits and says why, and goes when there is room")
    func files() async throws {
        try a.save("a", #"{"t":1}"#)
        try a.attach([UInt8](repeating: 7, count: 9_000), to: "a")
        try a.save("b", #"{"t":1}"#)
        let problem = await #expect(throws: SyncProblem.self) { try await a.exchange.round() }
        #expect(problem.map { "\($0)" }?.contains("QUOTA_EXCEEDED") == true)
        #expect(try a.outbox() == ["create a"])
        try await b.sync()
        #expect(try b.names() == ["b"])
        try await server.changeUser(.alice) { $0.quotaBytes = 1 << 20 }
        for replica in [a, b] { try await replica.sync() }
        #expect(try b.assets(of: "a").count == 1)
        #expect(try a.outbox() == [])
    }
}
