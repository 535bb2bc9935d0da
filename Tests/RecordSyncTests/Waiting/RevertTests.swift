import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import ServerTestSupport
import Simulation
import Testing

/// What the server has refused can be given up: then it is again as the server has it.
@Suite("Giving up refused changes") struct RevertTests {
    private static let zone = "_defaultZone"
    private let server: TestServer
    /// Who makes the records, and who may not change them.
    private let maker: Replica
    private let other: Replica

    init() async throws {
        server = try await TestServer()
        maker = try Replica(server, as: .alice, in: .public)
        other = try Replica(server, as: .bob, in: .public)
    }

    private func make(_ files: [String: String]) async throws {
        for (name, text) in files { try maker.save(name, text, zone: Self.zone) }
        try await maker.exchange.round()
        try other.store.write(author: .mount) { transaction throws(RecordError) in
            let zone = try transaction.makeZone(.public, .me, ZoneName(Self.zone))
            _ = try transaction.makeType(zone.id, RecordTypeName("Note"))
        }
        try await other.exchange.round()
        #expect(try other.files(zone: Self.zone) == files)
    }

    private func revertAll(_ replica: Replica) throws -> Int {
        try replica.store.write(author: .sync) { transaction throws(RecordError) in
            var count = 0
            for change in try replica.store.syncState.refusedChanges(limit: 100)
            where try transaction.merging.revert(change) { count += 1 }
            return count
        }
    }

    private func expectAsMade(_ replica: Replica) async throws {
        let files = try maker.files(zone: Self.zone)
        #expect(try replica.files(zone: Self.zone) == files)
        #expect(try replica.outbox() == [])
        _ = replica.wire.takeSent()
        try await replica.exchange.round()
        #expect(!replica.wire.takeSent().contains(.recordsModify))
        #expect(try replica.files(zone: Self.zone) == files)
        try replica.expectSound()
    }

    @Test("an edit and a deletion are as if they had not been, and what the maker does next comes")
    func editAndDeletion() async throws {
        try await make(["p": "{ \"n\": 1,\n \"t\": \"x\" }", "q": #"{"n":1}"#])
        try other.save("p", #"{"n":2,"u":"new"}"#, zone: Self.zone)
        try other.delete("q", zone: Self.zone)
        try await other.exchange.round()
        #expect(try other.outbox() == ["update p? ACCESS_DENIED", "delete q? ACCESS_DENIED"])
        #expect(try revertAll(other) == 2)
        try await expectAsMade(other)
        // What was given up is in history.
        let zone = try #require(try other.store.zone(.public, .me, ZoneName(Self.zone)))
        let texts = try other.store.past.history(of: RecordName("p"), in: zone.id).compactMap {
            try other.store.past.version($0.token)?.text
        }
        #expect(texts.contains(Array(#"{"n":2,"u":"new"}"#.utf8)))
        try maker.save("p", #"{"n":3}"#, zone: Self.zone)
        try maker.delete("q", zone: Self.zone)
        try await maker.exchange.round()
        try await other.exchange.round()
        try await expectAsMade(other)
    }

    @Test("what the maker has changed meanwhile stays")
    func changedMeanwhile() async throws {
        try await make(["p": #"{"n":1,"t":"x"}"#])
        try other.save("p", #"{"n":2,"t":"x"}"#, zone: Self.zone)
        try await other.exchange.round()
        try maker.save("p", #"{"n":1,"t":"y"}"#, zone: Self.zone)
        try await maker.exchange.round()
        try await other.exchange.round()
        #expect(try other.tree(zone: Self.zone) == ["p": #"{"n":2,"t":"y"}"#])
        #expect(try revertAll(other) == 1)
        try await expectAsMade(other)
    }

    @Test("a file that was removed a moment ago is back, too")
    func removed() async throws {
        try await make(["p": #"{"n":1}"#])
        try other.save("p", #"{"n":2}"#, zone: Self.zone)
        try await other.exchange.round()
        let record = try #require(try other.entry("p", Self.zone))
        try other.store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.records.beginDelete(record.id)
        }
        #expect(try revertAll(other) == 1)
        try await expectAsMade(other)
    }

    @Test("a file beside the record is the maker's again")
    func asset() async throws {
        try await make(["p": #"{"n":1}"#])
        try maker.attach([1, 2, 3], to: "p", zone: Self.zone)
        try await maker.exchange.round()
        try await other.exchange.round()
        try other.attach([4], to: "p", zone: Self.zone)
        try other.attach([5], to: "p", "mine", zone: Self.zone)
        try await other.exchange.round()
        #expect(try other.outbox() == ["update p? ACCESS_DENIED"])
        #expect(try revertAll(other) == 1)
        try await expectAsMade(other)
        #expect(try other.assets(of: "p", zone: Self.zone).keys.sorted() == ["p@photo.jpg"])
    }

    @Test("a record that was refused when it was made goes into the trash, and can be sent again")
    func made() async throws {
        let replica = try Replica(server)
        try replica.save("child", #"{"$parent":"nobody"}"#)
        try replica.save("well", "{}")
        try await replica.exchange.round()
        #expect(try replica.outbox() == ["create child? VALIDATING_REFERENCE_ERROR"])
        #expect(try revertAll(replica) == 1)
        try replica.expectSettled(["well": "{}"])
        let zone = try #require(try replica.store.zone(.private, .me, ZoneName("Box")))
        let trashed = try #require(try replica.store.past.trash(in: zone.id).first)
        try replica.store.write(author: .commandLine) { transaction throws(RecordError) in
            _ = try transaction.records.restore(trashed.id)
        }
        try replica.save("nobody", "{}")
        try await replica.sync()
        try replica.expectSettled([
            "child": #"{"$parent":"nobody"}"#, "nobody": "{}", "well": "{}",
        ])
    }

    @Test("what waits, or was edited after it was refused, is not given up")
    func waiting() async throws {
        try await make(["p": #"{"n":1}"#])
        try other.save("p", #"{"n":2}"#, zone: Self.zone)
        try await other.exchange.round()
        let change = try #require(try other.store.syncState.refusedChanges(limit: 1).first)
        try other.save("p", #"{"n":3}"#, zone: Self.zone)
        let isReverted = try other.store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.merging.revert(change)
        }
        #expect(!isReverted)
        #expect(try other.tree(zone: Self.zone) == ["p": #"{"n":3}"#])
        #expect(try other.outbox() == ["update p"])
    }
}
