import RecordModel
import RecordStore
import RecordSync
import ServerTestSupport
import Simulation
import Testing

/// The server knows a record by its name alone, and there a record keeps its type.
@Suite("A record with the name of one that was deleted in another type")
struct NameOfOtherTypeTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer()
        (a, b) = (try Replica(server), try Replica(server))
    }

    private func save(
        _ text: String, _ type: String, on replica: Replica, zone: String = "Box"
    ) throws {
        try replica.store.write(author: .mount) { transaction throws(RecordError) in
            let zone = try transaction.makeZone(replica.database, .me, ZoneName(zone))
            let type = try transaction.makeType(zone.id, RecordTypeName(type))
            _ = try transaction.records.save(text: Array(text.utf8), type: type.id, stem: Stem("x"))
        }
    }

    private func entry(
        _ type: String, on replica: Replica, zone: String = "Box"
    ) throws -> RecordEntry? {
        guard let zone = try replica.store.zone(replica.database, .me, ZoneName(zone)),
            let type = try replica.store.type(zone.id, RecordTypeName(type))
        else { return nil }
        return try replica.store.record(type.id, Stem("x"))
    }

    private func text(
        _ type: String, on replica: Replica, zone: String = "Box"
    ) throws -> String? {
        try entry(type, on: replica, zone: zone).flatMap { try replica.store.savedText(of: $0.id) }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private func delete(_ type: String, on replica: Replica, isFinal: Bool) throws {
        let id = try #require(try entry(type, on: replica)).id
        try replica.store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.records.beginDelete(id)
            if isFinal { try transaction.records.finalizeDelete(id) }
        }
    }

    @Test("is there on all machines, and the other one is gone", arguments: [true, false])
    func made(isFinal: Bool) async throws {
        try save(#"{"a":1}"#, "Old", on: a)
        for replica in [a, b] { try await replica.sync() }
        try delete("Old", on: a, isFinal: isFinal)
        try save(#"{"b":2}"#, "New", on: a)
        for replica in [a, b] { try await replica.sync() }
        // A deletion that waits keeps its time, because the server keeps the name until it is sent.
        _ = try a.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        for replica in [a, b, a] { try await replica.sync() }
        for replica in [a, b] {
            #expect(try text("New", on: replica) == #"{"b":2}"#)
            #expect(try text("Old", on: replica) == nil)
            #expect(try replica.outbox() == [])
            try replica.expectSound()
        }
    }

    @Test("stays when somebody has changed the other one meanwhile, which is back")
    func changedElsewhere() async throws {
        try save(#"{"a":1}"#, "Old", on: a)
        for replica in [a, b] { try await replica.sync() }
        try delete("Old", on: a, isFinal: true)
        try save(#"{"b":2}"#, "New", on: a)
        try save(#"{"a":3}"#, "Old", on: b)
        for replica in [b, a, b, a] { try await replica.sync() }
        for replica in [a, b] {
            #expect(try text("New", on: replica) == #"{"b":2}"#)
            #expect(try text("Old", on: replica) == #"{"a":3}"#)
            #expect(try replica.outbox() == [])
            try replica.expectSound()
        }
    }

    @Test("stays when the deletion is refused")
    func refused() async throws {
        let zone = "_defaultZone"
        let maker = try Replica(server, as: .bob, in: .public)
        let other = try Replica(server, as: .alice, in: .public)
        try save(#"{"a":1}"#, "Old", on: maker, zone: zone)
        try await maker.exchange.round()
        try other.store.write(author: .mount) { transaction throws(RecordError) in
            let zone = try transaction.makeZone(.public, .me, ZoneName(zone))
            _ = try transaction.makeType(zone.id, RecordTypeName("Old"))
        }
        try await other.exchange.round()
        let id = try #require(try entry("Old", on: other, zone: zone)).id
        try other.store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.records.beginDelete(id)
            try transaction.records.finalizeDelete(id)
        }
        try await other.exchange.round()
        #expect(try other.outbox() == ["delete x? ACCESS_DENIED"])
        try save(#"{"b":2}"#, "New", on: other, zone: zone)
        for _ in 0..<3 { try await other.exchange.round() }
        #expect(try text("New", on: other, zone: zone) == #"{"b":2}"#)
        #expect(try other.outbox() == ["delete x? ACCESS_DENIED"])
        try other.expectSound()
    }

    @Test("cannot be restored before the server knows of the deletion, and can afterwards")
    func restored() async throws {
        try save(#"{"b":1}"#, "New", on: a)
        try await a.sync()
        try delete("New", on: a, isFinal: true)
        try await a.sync()
        try save(#"{"a":1}"#, "Old", on: a)
        try await a.sync()
        try delete("Old", on: a, isFinal: true)
        let type = try #require(
            try a.store.past.keptZone(.private, .me, ZoneName("Box"))
                .flatMap { try a.store.type($0.id, RecordTypeName("New")) })
        let trashed = try #require(try a.store.past.trash(in: type.id).first)
        let restore = {
            try a.store.write(author: .commandLine) { transaction throws(RecordError) in
                _ = try transaction.records.restore(trashed.id)
            }
        }
        let error = #expect(throws: RecordError.self) { try restore() }
        #expect(error?.message.contains("Run recordfs sync, then restore again") == true)
        try await a.sync()
        try restore()
        for replica in [a, b] { try await replica.sync() }
        for replica in [a, b] {
            #expect(try text("New", on: replica) == #"{"b":1}"#)
            #expect(try text("Old", on: replica) == nil)
            #expect(try replica.outbox() == [])
        }
    }
}
