import RecordModel
import RecordServerCore
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import Testing

/// Zones that are gone at the server, for whatever reason.
@Suite("Zones that are gone there") struct GoneZoneTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
    }

    /// Why a zone is gone.
    enum Reason: CaseIterable, Sendable {
        /// Somebody removed it.
        case deleted
        /// All that the account has was erased at the server.
        case purged
    }

    private func remove(_ reason: Reason) async throws {
        switch reason {
        case .deleted:
            try b.removeZone()
            try await b.sync()
        case .purged:
            try await server.storage.write { (transaction) throws(ServerError) in
                try transaction.erase(
                    ContainerKey(container: TestServer.container, environment: .development),
                    reason: .purged)
            }
        }
    }

    private func syncAll() async throws {
        for replica in [a, b, a, b] { try await replica.sync() }
    }

    @Test(
        "what came from there goes into the trash and is not sent again", arguments: Reason.allCases
    )
    func goes(reason: Reason) async throws {
        try a.save("x", #"{"p":1}"#)
        try a.save("y", #"{"p":1}"#)
        try await syncAll()
        try await remove(reason)
        try await syncAll()
        for replica in [a, b] {
            #expect(try replica.zones == [])
            #expect(try replica.outbox() == [])
            try replica.expectSound()
        }
        #expect(try a.store.syncState.counts().trash == 2)
        let list = try await server.call(.zonesList)
        #expect(!list.text.contains("Box"))
    }

    @Test(
        "what was edited or made here and not sent stays, in a zone that is made anew",
        arguments: Reason.allCases)
    func editsStay(reason: Reason) async throws {
        try a.save("x", #"{"p":1}"#)
        try a.save("y", #"{"p":1}"#)
        try await syncAll()
        try a.save("x", #"{"p":2}"#)
        try a.save("new", #"{"p":3}"#)
        try await remove(reason)
        try await syncAll()
        for replica in [a, b] {
            try replica.expectSettled(["x": #"{"p":2}"#, "new": #"{"p":3}"#])
        }
    }

    @Test(
        "what is on its way while the zone goes is in a new one afterwards, once",
        arguments: Reason.allCases)
    func onItsWay(reason: Reason) async throws {
        try a.save("x", #"{"p":1}"#)
        try await syncAll()
        try a.save("new", #"{"p":3}"#)
        // It goes before the request arrives.
        a.wire.plan(.recordsModify, .meanwhile { try await self.remove(reason) })
        try await a.sync()
        try await syncAll()
        for replica in [a, b] { try replica.expectSettled(["new": #"{"p":3}"#]) }
    }
}
