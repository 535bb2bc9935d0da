import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// What a machine knows of the room that its server has for it.
@Suite("Known quotas") struct QuotaTests {
    private let server: TestServer
    private let alice: Replica
    private let bob: Replica

    init() async throws {
        server = try await TestServer { $0.service.quotaBytes = 1 << 20 }
        alice = try Replica(server)
        let owner = OwnerName(bytes: TestServer.Person.alice.user?.bytes ?? [])
        bob = try Replica(server, as: .bob, in: .shared, of: owner)
        try alice.save("x", #"{"p":1}"#)
        try await alice.sync()
    }

    @Test("the account's own is known after a round, as it is then")
    func own() async throws {
        try await alice.sync()
        let before = try #require(try alice.store.sharing.ownQuota())
        #expect(before.totalBytes == 1 << 20)
        #expect(before.freeBytes < 1 << 20)
        try alice.save("y", #"{"t":"\#(String(repeating: "x", count: 50_000))"}"#)
        try await alice.sync()
        let after = try #require(try alice.store.sharing.ownQuota())
        #expect(after.freeBytes < before.freeBytes - 50_000)
        try await server.changeUser(.alice) { $0.quotaBytes = .max }
        try await alice.sync()
        #expect(try alice.store.sharing.ownQuota() == nil)
    }

    @Test("of a shared zone what its owner has left is known, and no longer when that ends")
    func ofOthers() async throws {
        try await server.share(nil)
        try await bob.sync()
        let zone = try #require(try bob.store.zones(in: .shared).first)
        // The directory has another name than the one by which the server knows the owner.
        #expect(zone.owner.description == "alice@example.org")
        let quota = try #require(try bob.store.sharing.quota(ofOwnerOf: zone.id))
        #expect(quota.totalBytes == nil)
        #expect(quota.freeBytes == 917_504)
        #expect(try bob.store.sharing.ownQuota() == nil)
        try await server.endShare(of: nil)
        try await bob.sync()
        #expect(try bob.store.sharing.quotas(of: .shared) == [])
    }

    @Test("what is told of a database takes the place of all that was told of it before")
    func replaced() async throws {
        let store = alice.store
        let quotas = [
            Quota(owner: OwnerName(bytes: Array("_b".utf8)), totalBytes: nil, freeBytes: 0),
            Quota(owner: OwnerName(bytes: Array("_c".utf8)), totalBytes: 9, freeBytes: 7),
        ]
        try store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.sharing.setQuotas(quotas, of: .shared)
        }
        #expect(try store.sharing.quotas(of: .shared) == quotas)
        #expect(try store.sharing.quotas(of: .private).count == 1)
        try store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.sharing.setQuotas([quotas[1]], of: .shared)
        }
        #expect(try store.sharing.quotas(of: .shared) == [quotas[1]])
        #expect(try store.sharing.quotas(of: .private).count == 1)
    }
}
