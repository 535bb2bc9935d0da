import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordStore
import RecordSync
import ServerTestSupport
import Simulation
import Synchronization
import TestSupport
import Testing

/// Bytes that the server has taken and forgotten again, and files that change while they are sent.
@Suite("Files on their way") struct ReceiptTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer { $0.service.receiptSeconds = 60 }
        a = try Replica(server)
        b = try Replica(server)
        try a.save("x", #"{"p":1}"#)
        try a.save("stays", "{}")
        for replica in [a, b] { try await replica.sync() }
    }

    private static func bytes(_ seed: UInt8) -> [UInt8] { [UInt8](repeating: seed, count: 900) }

    /// The bytes of x as somebody reads them at the other machine.
    private func readElsewhere() async throws -> [UInt8] {
        try await b.sync()
        let entry = try #require(try b.entry("x"))
        let asset = try #require(try b.store.assets.assets(of: entry.id).first)
        let downloads = AssetDownloads(b.exchange)
        let bytes = try await downloads.read(asset, offset: 0, count: Int(asset.size))
        await downloads.stop()
        return bytes
    }

    /// Work in which something is done once before bytes are sent.
    private func roundDoing(_ body: @escaping @Sendable () throws -> Void) async throws {
        let isDone = Mutex(false)
        var wire = HookedTransport(wire: a.wire)
        wire.beforeBytes = { () throws(SyncProblem) in
            let isFirst = isDone.withLock { done in
                defer { done = true }
                return !done
            }
            guard isFirst else { return }
            do {
                try body()
            } catch {
                throw .unreadable("\(error)")
            }
        }
        try await a.exchange(over: wire).round()
    }

    private func expectWhole(_ bytes: [UInt8]) async throws {
        try await a.sync()
        #expect(try await readElsewhere() == bytes)
        #expect(try a.tree() == b.tree())
        for replica in [a, b] {
            #expect(try replica.outbox() == [])
            #expect(try replica.conflicts() == [])
            try replica.expectSound()
        }
    }

    @Test(
        "bytes whose receipt the server has forgotten are sent anew, and the record is not parked",
        arguments: [true, false])
    func expired(isRestored: Bool) async throws {
        let backup = try await server.backUp()
        try a.attach(Self.bytes(1), to: "x")
        // The bytes are there, the record is not.
        let exchange = a.exchange
        a.wire.plan(.recordsModify, .requestLost)
        await #expect(throws: SyncProblem.self) { try await exchange.round() }
        #expect(a.wire.uploadedBytes == 900)
        if isRestored {
            try await server.restore(backup)
        } else {
            server.clock.advance(.seconds(120))
            await Maintenance(server.application).round()
        }
        // The same process, which keeps its receipts.
        for _ in 0..<3 { try await exchange.round() }
        #expect(try a.outbox() == [])
        #expect(a.wire.uploadedBytes == 1_800)
        try await expectWhole(Self.bytes(1))
    }

    @Test(
        "an address for bytes whose time has passed is asked for anew, and the record is not gone")
    func expiredAddress() async throws {
        try a.attach(Self.bytes(1), to: "x")
        try await roundDoing { [server] in server.clock.advance(.seconds(3_600)) }
        try await expectWhole(Self.bytes(1))
    }

    @Test("a file that is written anew while its bytes are sent is there with the new ones")
    func replaced() async throws {
        try a.attach(Self.bytes(1), to: "x")
        try await roundDoing { [a] in try a.attach(Self.bytes(2), to: "x") }
        try await expectWhole(Self.bytes(2))
        try a.attach(Self.bytes(3), to: "x")
        a.wire.plan(.recordsModify, .meanwhile { [a] in try a.attach(Self.bytes(4), to: "x") })
        try await a.exchange.round()
        try await expectWhole(Self.bytes(4))
    }

    @Test("a file whose unused bytes are collected while they are sent is there with the new ones")
    func collected() async throws {
        try a.attach(Self.bytes(1), to: "x")
        try await roundDoing { [a] in
            try a.attach(Self.bytes(2), to: "x")
            _ = try a.store.assets.collectAssets()
        }
        try await expectWhole(Self.bytes(2))
    }

    @Test("a record that is deleted while its file is sent is gone, here and there")
    func deleted() async throws {
        try a.attach(Self.bytes(1), to: "x")
        try await roundDoing { [a] in try a.delete("x") }
        for replica in [a, b] { try await replica.sync() }
        for replica in [a, b] { try replica.expectSettled(["stays": "{}"]) }
    }
}
