import RecordModel
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// A zone that Alice shares and Bob has, each with a machine.
@Suite struct SharedZoneTests {
    private let server: TestServer
    private let alice: Replica
    private let bob: Replica

    init() async throws {
        server = try await TestServer()
        alice = try Replica(server)
        let owner = OwnerName(bytes: TestServer.Person.alice.user?.bytes ?? [])
        bob = try Replica(server, as: .bob, in: .shared, of: owner)
        try alice.save("x", #"{"p":1}"#)
        try await alice.sync()
    }

    /// As any client of the protocol does it.
    private func share(
        _ permission: JSONValue, isNew: Bool = true, of zone: String = "Box"
    ) async throws {
        let title = TestServer.title("Our box")
        guard !isNew else {
            return try await server.share(nil, in: zone, permission: permission, [title])
        }
        _ = try await server.modifyShare(
            "forceUpdate", of: nil, in: zone,
            [TestServer.invitation(ofBob: permission), title])
    }

    private func zone() throws -> ZoneInfo? { try bob.store.zones(in: .shared).first }

    @Test("what is shared appears, with its owner, and edits go both ways")
    func bothWays() async throws {
        try await share("READ_WRITE")
        try await bob.sync()
        let zone = try #require(try zone())
        #expect(zone.owner.description == "alice@example.org")
        #expect(zone.permission == .readWrite)
        #expect(try bob.tree() == ["x": #"{"p":1}"#])
        try bob.save("x", #"{"p":2}"#)
        try bob.save("y", #"{"p":3}"#)
        try await bob.sync()
        try await alice.sync()
        try alice.expectSettled(["x": #"{"p":2}"#, "y": #"{"p":3}"#])
        try alice.delete("y")
        try await alice.sync()
        try await bob.sync()
        #expect(try bob.tree() == ["x": #"{"p":2}"#])
        #expect(try bob.outbox() == [])
        try bob.expectSound()
    }

    @Test("both have the share as the server tells it, and hear when it changes")
    func shares() async throws {
        try await share("READ_WRITE")
        try await alice.sync()
        try await bob.sync()
        for (replica, database) in [(alice, Database.private), (bob, .shared)] {
            let zone = try #require(try replica.store.zones(in: database).first)
            let share = try #require(try replica.store.sharing.shares(in: zone.id).first)
            let json = try JSONParser.parse(share.text)
            #expect(json.at("title") == "Our box")
            #expect(json.at("participants.0.permission") == "READ_WRITE")
            #expect(json.at("participants.0.status") == "ACCEPTED")
            #expect(share.root == nil && share.permission == .readWrite)
        }
        try await share("READ_ONLY", isNew: false)
        try await bob.sync()
        #expect(try zone()?.permission == .readOnly)
        let failed = #expect(throws: RecordError.self) { try bob.save("x", #"{"p":2}"#) }
        #expect(failed?.code == .accessDenied)
        #expect(try bob.outbox() == [])
        try await alice.sync()
        let own = try #require(try alice.store.zones(in: .private).first)
        #expect(own.permission == .readWrite)
    }

    @Test("who may only read cannot write, nor remove anything", arguments: ["x", nil])
    func readOnly(name: String?) async throws {
        try await share("READ_ONLY")
        try await bob.sync()
        let zone = try #require(try zone())
        #expect(zone.permission == .readOnly)
        let failed = #expect(throws: RecordError.self) {
            try bob.store.write(author: .mount) { transaction throws(RecordError) in
                guard let name else { return try transaction.removeZone(zone.id) }
                let type = try transaction.makeType(zone.id, RecordTypeName("Note"))
                let record = try bob.store.record(type.id, Stem(name))
                if let record { try transaction.records.beginDelete(record.id) }
            }
        }
        #expect(failed?.code == (name == nil ? .notPermitted : .accessDenied))
        #expect(try bob.outbox() == [])
    }

    @Test("what is not shared any more is gone, with what was not sent, and nobody makes it again")
    func revoked() async throws {
        try await share("READ_WRITE")
        try await bob.sync()
        try bob.save("x", #"{"p":9}"#)
        try bob.save("new", #"{"p":9}"#)
        try await server.endShare(of: nil)
        try await bob.sync()
        #expect(try zone() == nil)
        #expect(try bob.outbox() == [])
        try await alice.sync()
        try alice.expectSettled(["x": #"{"p":1}"#])
        try bob.expectSound()
    }

    @Test(
        "a share that a restored server has lost is gone, and nothing of it is sent after a new one"
    )
    func lostByRestore() async throws {
        let early = try await server.backUp()
        try alice.save("own", #"{"p":1}"#, zone: "Late")
        try alice.save("x", #"{"p":1}"#, zone: "Late")
        try await alice.sync()
        try await share("READ_WRITE", of: "Late")
        try await bob.sync()
        try bob.save("own", #"{"p":2}"#, zone: "Late")
        try await bob.sync()
        try await alice.sync()
        try await server.restore(early)
        try await alice.sync()
        try bob.delete("x", zone: "Late")
        try await bob.sync()
        #expect(try zone() == nil)
        #expect(try bob.outbox() == [])
        let tree = ["own": #"{"p":2}"#, "x": #"{"p":1}"#]
        try await share("READ_WRITE", of: "Late")
        for replica in [bob, alice] { try await replica.sync() }
        try alice.expectSettled(tree, zone: "Late")
        #expect(try bob.tree(zone: "Late") == tree)
        try bob.expectSound()
    }
}
