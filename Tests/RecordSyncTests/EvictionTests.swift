import Glibc
import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import Testing

/// Files that the server has too make room, and come again when they are read; nothing else does.
@Suite struct EvictionTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
    }

    private func bytes(_ count: Int, _ seed: Int = 0) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ seed) }
    }

    private func save(_ name: String, _ count: Int, _ seed: Int = 0) throws {
        try a.save(name, #"{"title":"\#(name)"}"#)
        try a.attach(bytes(count, seed), to: name)
    }

    private func read(_ replica: Replica, _ name: String) async throws -> [UInt8] {
        let downloads = AssetDownloads(replica.exchange)
        let entry = try #require(try replica.entry(name))
        let asset = try #require(try replica.store.assets.assets(of: entry.id).first)
        let bytes = try await downloads.read(asset, offset: 0, count: Int(asset.size))
        await downloads.stop()
        return bytes
    }

    private func isHere(_ replica: Replica, _ name: String) throws -> Bool {
        try #require(try replica.assets(of: name).values.first) != nil
    }

    @Test("what the server has goes as far as the limit says, and comes again when it is read")
    func evicts() async throws {
        for (number, name) in ["x", "y", "z"].enumerated() { try save(name, 1_000, number) }
        try await a.sync()
        #expect(try a.store.assets.evictAssets(keeping: 3_000) == 0)
        // As if it were read after the others.
        let entry = try #require(try a.entry("y"))
        let hash = try #require(try a.store.assets.assets(of: entry.id).first?.hash)
        let times = Array(repeating: timespec(tv_sec: Int(Int32.max), tv_nsec: 0), count: 2)
        #expect(utimensat(AT_FDCWD, a.store.assets.assetPath(hash), times, 0) == 0)
        #expect(try a.store.assets.evictAssets(keeping: 1_500) == 2)
        #expect(try ["x", "y", "z"].filter { try isHere(a, $0) } == ["y"])
        try a.expectSound()
        #expect(try await read(a, "x") == bytes(1_000, 0))
        #expect(try isHere(a, "x"))
        // Nothing of it is news for anybody.
        #expect(try a.outbox() == [])
        try await b.sync()
        #expect(try a.tree() == b.tree())
        #expect(try a.store.assets.evictAssets(keeping: 0) == 2)
        #expect(try a.store.assets.unknownAssets() == [])
        try a.restart()
        #expect(try await read(a, "z") == bytes(1_000, 2))
        try a.expectSound()
    }

    /// Who else than the server needs a file.
    enum Holder: CaseIterable, Sendable {
        case neverSent, editedSince, parked, onlyWrittenAnew, local, trash, otherVersion,
            waitingDelete
    }

    @Test("what anything else needs stays", arguments: Holder.allCases)
    func stays(holder: Holder) async throws {
        try save("x", 1_000)
        if holder != .neverSent { try await a.sync() }
        let text = try #require(try a.file("x"))
        switch holder {
        case .neverSent: break
        case .editedSince: try a.save("x", text.replacing(#":"x""#, with: #":"new""#))
        case .parked:
            try a.save("x", text.replacing(#":"x""#, with: #":"new""#))
            let refusal = CoreTransport.Fault.refused(ServerError(.limitExceeded, "too large"))
            a.wire.plan(.recordsModify, refusal, refusal)
            try await a.exchange.round()
            #expect(try a.outbox() == ["update x? LIMIT_EXCEEDED"])
        case .onlyWrittenAnew: try a.save("x", " " + text)
        case .local:
            try a.save("l", text, in: .local)
        case .trash:
            try save("other", 1_000)
            try await a.sync()
            try a.delete("other")
            try await a.sync()
        case .otherVersion:
            try save("other", 1_000)
            try await a.sync()
            try a.attach(bytes(10), to: "other")
            try await a.sync()
        case .waitingDelete:
            let entry = try #require(try a.entry("x"))
            try a.store.write(author: .mount) { transaction throws(RecordError) in
                try transaction.records.beginDelete(entry.id)
            }
        }
        let small = holder == .otherVersion ? 1 : 0
        #expect(try a.store.assets.evictAssets(keeping: 0) == small)
        #expect(try isHere(a, "x"))
        try a.expectSound()
    }

    @Test("what was edited and sent since may go, and an edit elsewhere is there without its bytes")
    func afterwards() async throws {
        try save("x", 1_000)
        try await a.sync()
        try a.save("x", try #require(try a.file("x")).replacing(#":"x""#, with: #":"new""#))
        try await a.sync()
        #expect(try a.store.assets.evictAssets(keeping: 0) == 1)
        try await b.sync()
        try b.save("x", try #require(try b.file("x")).replacing(#":"new""#, with: #":"newer""#))
        try await b.sync()
        try await a.sync()
        #expect(try a.tree() == b.tree())
        #expect(try await read(a, "x") == bytes(1_000))
        // An edit of what is not here is sent without it.
        #expect(try a.store.assets.evictAssets(keeping: 0) == 1)
        try a.save("x", try #require(try a.file("x")).replacing(#":"newer""#, with: #":"last""#))
        try await a.sync()
        try await b.sync()
        #expect(try a.tree() == b.tree())
        #expect(try await read(b, "x") == bytes(1_000))
    }

    private func hash(_ replica: Replica, _ name: String) throws -> ContentHash {
        let entry = try #require(try replica.entry(name))
        return try #require(try replica.store.assets.assets(of: entry.id).first?.hash)
    }

    @Test("bytes that came from the server stay for the versions that had them")
    func versions() async throws {
        try save("x", 1_000)
        try await a.sync()
        try await b.sync()
        #expect(try await read(b, "x") == bytes(1_000))
        let old = try hash(b, "x")
        try b.attach(bytes(10), to: "x")
        try b.store.assets.collectAssets()
        #expect(b.store.assets.sizeOfAsset(old) == 1_000)
    }

    @Test("a server that may be behind is not relied on")
    func restoredServer() async throws {
        try save("x", 1_000)
        try await a.sync()
        let zone = try #require(try a.store.zone(.private, .me, ZoneName("Box"))).id
        let points = try ["1", "2"].map { try #require(ChangePosition(tag: $0)) }
        try a.store.write(author: .sync) { transaction throws(RecordError) in
            for point in points { _ = try transaction.feed.noteRestorePoint(point, of: zone) }
        }
        #expect(try a.store.assets.evictAssets(keeping: 0) == 0)
        #expect(try isHere(a, "x"))
    }

    @Test("a copy of a record whose bytes are only on the server has them too")
    func copied() async throws {
        try save("x", 1_000)
        try await a.sync()
        #expect(try a.store.assets.evictAssets(keeping: 0) == 1)
        let text = try #require(try a.file("x"))
        #expect(text.contains("sha256"))
        try a.save("y", text)
        try await a.sync()
        #expect(try a.outbox() == [])
        try await b.sync()
        #expect(try a.tree() == b.tree())
        #expect(try await read(b, "y") == bytes(1_000))
        #expect(try await read(a, "y") == bytes(1_000))
    }

    @Test("a file that is gone comes again when the server has it, and is damage when it has not")
    func missing() async throws {
        try save("x", 1_000)
        let lost = try hash(a, "x")
        #expect(unlink(a.store.assets.assetPath(lost)) == 0)
        #expect(try !a.store.assets.noteMissingAsset(lost))
        try a.attach(bytes(1_000), to: "x")
        try await a.sync()
        #expect(try !a.store.assets.noteMissingAsset(lost), "it is here")
        #expect(unlink(a.store.assets.assetPath(lost)) == 0)
        #expect(try a.store.assets.noteMissingAsset(lost))
        #expect(try await read(a, "x") == bytes(1_000))
        try a.expectSound()
    }
}
