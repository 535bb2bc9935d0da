import RecordModel
import RecordServerCore
import RecordStore
import RecordStoreSync
import RecordSync
import ServerTestSupport
import Simulation
import Testing

/// Zones that are removed here soon after they were made: what was asked before does not bring them
/// back.
@Suite("Zones that are removed here") struct RemovedZoneTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
    }

    private func id(of zone: String) throws -> ZoneID { try #require(try a.zone(zone)).id }

    /// Both machines and the server have these zones, and nothing is left to do.
    private func expectZones(_ zones: [String], _ exchange: Exchange) async throws {
        // The later rounds hear what the earlier ones did.
        for _ in 0..<3 { try await exchange.round() }
        try await b.sync()
        for replica in [a, b] {
            #expect(try replica.zones.sorted() == zones)
            #expect(try replica.outbox() == [])
            #expect(try replica.store.syncState.zonesWithWork(in: .private) == [])
            try replica.expectSound()
        }
        let list = try await server.call(.zonesList).text
        for zone in ["Old", "New"] {
            #expect(list.contains(#""\#(zone)""#) == zones.contains(zone))
        }
    }

    @Test("the upload of another zone does not ask for its feed while it is uploaded itself")
    func besideAnother() async throws {
        let (a, exchange) = (a, a.exchange)
        try a.save("x", "{}", zone: "Old")
        // The server has the zone, and its feed was not read yet.
        a.wire.plan(
            .zoneChanges,
            .meanwhile {
                try a.save("x", "{}", zone: "New")
                let new = try #require(try a.zone("New"))
                try await exchange.work(new.id, downloads: false, uploads: true)
            })
        try await exchange.work(id(of: "Old"), downloads: false, uploads: true)
        try a.removeZone("Old")
        try await expectZones(["New"], exchange)
    }

    @Test("it goes there too when the upload of another zone is making it")
    func madeWithAnother() async throws {
        let (a, exchange) = (a, a.exchange)
        try a.save("x", "{}", zone: "Old")
        try a.save("x", "{}", zone: "New")
        a.wire.plan(.zonesModify, .meanwhile { try a.removeZone("Old") })
        try await exchange.work(id(of: "New"), downloads: false, uploads: true)
        try await expectZones(["New"], exchange)
    }

    /// What is lost of the request that makes a zone.
    enum Loss: CaseIterable, Sendable { case request, answer }

    @Test("it goes there too when the answer to its making was lost", arguments: Loss.allCases)
    func unanswered(loss: Loss) async throws {
        try a.save("x", "{}", zone: "Old")
        a.wire.plan(.zonesModify, loss == .request ? .requestLost : .answerLost)
        let old = try id(of: "Old")
        await #expect(throws: SyncProblem.self) {
            try await a.exchange.work(old, downloads: false, uploads: true)
        }
        try a.removeZone("Old")
        try a.restart()
        try await expectZones([], a.exchange)
    }

    @Test("one that somebody makes again comes back, also when the first look at it was lost")
    func madeAgain() async throws {
        try a.save("x", "{}", zone: "Old")
        for replica in [a, b] { try await replica.sync() }
        try a.removeZone("Old")
        for replica in [a, b] { try await replica.sync() }
        try b.store.write(author: .mount) { transaction throws(RecordError) in
            _ = try transaction.makeZone(.private, .me, ZoneName("Old"))
        }
        try await b.sync()
        a.wire.plan(.zoneChanges, .requestLost)
        await #expect(throws: SyncProblem.self) { try await a.exchange.round() }
        try await expectZones(["Old"], a.exchange)
    }

    @Test("what somebody else put into it meanwhile stays, although it cannot be shown here")
    func passedOver() async throws {
        try a.save("n", #"{"w":"text"}"#, zone: "Old")
        a.wire.plan(.zonesModify, .requestLost)
        let old = try id(of: "Old")
        await #expect(throws: SyncProblem.self) {
            try await a.exchange.work(old, downloads: false, uploads: true)
        }
        try a.removeZone("Old")
        try b.save("x", #"{"w":1}"#, zone: "Old")
        try await b.sync()
        for _ in 0..<3 { try await a.exchange.round() }
        #expect(try a.store.syncState.passedOver(limit: 10).map(\.record.name) == [RecordName("x")])
        try await b.sync()
        for replica in [a, b] { #expect(try replica.zones == ["Old"]) }
    }
}
