import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import ServerTestSupport
import Simulation
import Testing

/// Many zones that somebody makes at once are few requests.
@Suite struct ManyZonesTests {
    private func makeZones(_ count: Int, at replica: Replica) throws {
        try replica.store.write(author: .mount) { transaction throws(RecordError) in
            for number in 0..<count {
                _ = try transaction.makeZone(.private, .me, ZoneName("Zone\(number)"))
            }
        }
    }

    @Test("zones are made 200 a request, and their feeds are asked for as many at once")
    func together() async throws {
        let server = try await TestServer()
        let (a, b) = (try Replica(server), try Replica(server))
        try makeZones(450, at: a)
        try a.save("x", "{}", zone: "Zone7")
        try a.save("y", "{}", zone: "Zone449")
        _ = a.wire.takeSent()
        try await a.sync()
        let sent = a.wire.takeSent()
        #expect(sent.count { $0 == .zonesModify } == 3)
        #expect(sent.count { $0 == .zoneChanges } <= 6)
        #expect(sent.count { $0 == .recordsModify } == 2)
        try await b.sync()
        #expect(try b.zones.count == 450)
        #expect(try b.text("x", zone: "Zone7") == "{}")
        #expect(try a.outbox() == [])
    }

    @Test("zones that somebody else has made meanwhile keep what is in them")
    func alreadyThere() async throws {
        let server = try await TestServer()
        let (a, b) = (try Replica(server), try Replica(server))
        try makeZones(30, at: b)
        try b.save("x", #"{"p":1}"#, zone: "Zone11")
        try await b.sync()
        try makeZones(30, at: a)
        // Without a look at the database first.
        let first = try #require(try a.zone("Zone0"))
        let zone = try #require(try a.store.syncState.syncedZone(first.id))
        try await a.exchange.upload(zone)
        try await a.sync()
        #expect(try a.text("x", zone: "Zone11") == #"{"p":1}"#)
        #expect(try a.outbox() == [])
    }

    @Test("the zone over the limit is refused where it is made")
    func limit() async throws {
        let server = try await TestServer()
        let replica = try Replica(server)
        try makeZones(ServerLimits.zonesPerDatabase, at: replica)
        let error = #expect(throws: RecordError.self) {
            try makeZones(ServerLimits.zonesPerDatabase + 1, at: replica)
        }
        #expect(error?.code == .tooLarge)
        #expect(throws: Never.self) {
            try replica.store.write(author: .mount) { transaction throws(RecordError) in
                _ = try transaction.makeZone(.local, .me, ZoneName("Here"))
            }
        }
    }
}
