import RecordStore
import RecordStoreSync
import RecordSync
import ServerTestSupport
import Simulation
import Synchronization
import TestSupport
import Testing

/// A copy of many files is few requests: an upload waits for more after a request that had room left.
@Suite struct FewRequestsTests {
    /// A machine whose uploads wait until a save of more is over.
    private static func replica(
        _ server: TestServer, claims: Int = 200, _ more: @escaping @Sendable () async -> Void
    ) throws -> Replica {
        try Replica(server) {
            $0.claims.records = claims
            $0.waitForMore = more
        }
    }

    @Test("what is saved while an upload waits for more goes with what came before")
    func together() async throws {
        let server = try await TestServer()
        let saving = Mutex<(@Sendable () -> Void)?>(nil)
        let replica = try Self.replica(server) { saving.withLock(\.self)?() }
        let waits = Mutex(0)
        saving.withLock {
            $0 = { [unowned replica] in
                waits.withLock { $0 += 1 }
                for number in 1...5 { Self.save(replica, "late\(number)") }
            }
        }
        try replica.save("first", "{}")
        replica.wire.plan(
            .recordsModify, .meanwhile { [unowned replica] in try replica.save("meanwhile", "{}") })
        try await replica.sync()
        #expect(waits.withLock(\.self) == 1)
        #expect(replica.wire.takeSent().count { $0 == .recordsModify } == 2)
        let fresh = try Replica(server)
        try await fresh.sync()
        #expect(try fresh.names().count == 7)
    }

    @Test("after a full request, and when nothing more is there, nobody waits", arguments: [1, 8])
    func alone(records: Int) async throws {
        let server = try await TestServer()
        let waits = Mutex(0)
        let replica = try Self.replica(server, claims: 4) { waits.withLock { $0 += 1 } }
        for number in 0..<records { try replica.save("x\(number)", "{}") }
        try await replica.sync()
        #expect(waits.withLock(\.self) == 0)
    }

    private static func save(_ replica: Replica, _ name: String) {
        do {
            try replica.save(name, "{}")
        } catch {
            Issue.record(error)
        }
    }
}
