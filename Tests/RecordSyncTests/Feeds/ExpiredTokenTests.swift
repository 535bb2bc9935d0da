import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// Who was away for longer than the server remembers what was deleted.
@Suite("Tokens that have expired") struct ExpiredTokenTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer { $0.service.tombstoneSeconds = 60 }
        a = try Replica(server)
        b = try Replica(server)
    }

    private func syncAll() async throws {
        for replica in [a, b, a, b] { try await replica.sync() }
    }

    /// The server forgets what was deleted by now.
    private func forget() async {
        server.clock.advance(.seconds(120))
        await Maintenance(server.application).round()
    }

    private func expectEqual(_ tree: [String: String], zone: String = "Box") async throws {
        let fresh = try Replica(server)
        try await fresh.sync()
        for replica in [a, b, fresh] { try replica.expectSettled(tree, zone: zone) }
    }

    @Test("deletions that the server has forgotten are found, and nothing else is lost or doubled")
    func forgottenDeletions() async throws {
        for name in ["kept", "gone", "edited", "changed"] { try a.save(name, #"{"p":1}"#) }
        try await syncAll()
        try a.delete("gone")
        try a.delete("edited")
        try a.save("changed", #"{"p":2}"#)
        try await a.sync()
        try b.save("edited", #"{"p":3}"#)
        try b.save("own", #"{"p":4}"#)
        await forget()
        _ = b.wire.takeSent()
        try await b.sync()
        // The feed did begin anew.
        let asked = b.wire.takeBodies(of: .zoneChanges)
        #expect(asked.contains { !$0.contains("syncToken") }, "\(asked)")
        try await syncAll()
        try await expectEqual([
            "kept": #"{"p":1}"#, "changed": #"{"p":2}"#, "edited": #"{"p":3}"#,
            "own": #"{"p":4}"#,
        ])
        let box = try #require(try b.store.zone(.private, .me, ZoneName("Box")))
        #expect(try b.store.past.history(of: RecordName("kept"), in: box.id).count == 1)
    }

    @Test("zones whose removal the server has forgotten go, and what was made in a new one stays")
    func forgottenZones() async throws {
        for zone in ["Box", "Cup"] { try a.save("old", #"{"p":1}"#, zone: zone) }
        try await syncAll()
        try a.removeZone("Box")
        try a.removeZone("Cup")
        try await a.sync()
        try a.save("new", #"{"p":2}"#)
        try await a.sync()
        await forget()
        try await syncAll()
        #expect(try b.zones == ["Box"])
        try await expectEqual(["new": #"{"p":2}"#])
    }

    @Test("a feed that begins anew over and over still ends")
    func overAndOver() async throws {
        let c = try Replica(server) { $0.pageRecords = 1 }
        for number in 1...4 { try a.save("x\(number)", #"{"p":1}"#) }
        try await a.sync()
        for pages in 1...3 {
            for _ in 0..<pages { c.wire.plan(.zoneChanges, .meanwhile({})) }
            c.wire.plan(.zoneChanges, .tokenExpired)
        }
        try await c.sync()
        try c.expectSettled(a.tree())
    }
}
