import Logging
import RecordModel
import RecordStore
import RecordSync
import ServerTestSupport
import Simulation
import Testing

/// What is pinned comes without a read, and stays.
@Suite struct PinTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
    }

    private func save(_ names: String...) async throws {
        for name in names {
            try a.save(name, #"{"title":"\#(name)"}"#)
            try a.attach(Array("bytes of \(name)".utf8), to: name)
        }
        try await a.sync()
        try await b.sync()
    }

    private func pin(_ replica: Replica, _ target: PinTarget, _ isPinned: Bool = true) throws
        -> Bool
    {
        let zone = try #require(try replica.store.zones(in: .private).first).id
        return try replica.store.write(author: .commandLine) { (transaction) throws(RecordError) in
            isPinned
                ? try transaction.assets.pin(target, in: zone)
                : try transaction.assets.unpin(target)
        }
    }

    /// The records whose file is here.
    private func here(_ replica: Replica, _ names: String...) throws -> [String] {
        try names.filter { try #require(try replica.assets(of: $0).values.first) != nil }
    }

    /// With a keeper, until nothing that is pinned is missing.
    private func keep(_ replica: Replica, until isDone: () throws -> Bool) async throws {
        let downloads = AssetDownloads(replica.exchange)
        let keeper = PinKeeper(
            store: replica.store, downloads: downloads, logger: Logger(label: "test"),
            backoff: Backoff(first: .milliseconds(10)), jitter: { 0 })
        let task = Task { await keeper.run() }
        while try !isDone() { await Task.yield() }
        task.cancel()
        await downloads.stop()
        await task.value
    }

    private func missing(_ replica: Replica) throws -> Int {
        try replica.store.assets.missingPinnedAssets(limit: 100).count
    }

    @Test("records, types and zones are pinned, with the records to come")
    func brings() async throws {
        try await save("x", "y")
        #expect(try here(b, "x", "y") == [])
        let x = try #require(try b.entry("x"))
        #expect(try pin(b, .record(x.id)))
        #expect(try !pin(b, .record(x.id)))
        try await keep(b) { try missing(b) == 0 }
        #expect(try here(b, "x", "y") == ["x"])
        #expect(try pin(b, .type(x.type)))
        try await keep(b) { try missing(b) == 0 }
        try await save("z")
        #expect(try missing(b) == 1)
        try await keep(b) { try missing(b) == 0 }
        #expect(try here(b, "x", "y", "z") == ["x", "y", "z"])
        let pins = try b.store.assets.pins()
        #expect(pins.map(\.stem) == [nil, Stem("x")])
        #expect(pins.map(\.files) == [3, 1])
        #expect(pins.map(\.missingBytes) == [0, 0])
        try b.expectSound()
    }

    @Test("what is pinned by any of the three stays, and goes when nothing pins it any more")
    func stays() async throws {
        try await save("x", "y")
        let x = try #require(try a.entry("x"))
        let zone = try #require(try a.store.zones(in: .private).first).id
        for target in [PinTarget.record(x.id), .type(x.type), .zone(zone)] {
            #expect(try pin(a, target))
            let others = target == .record(x.id) ? 1 : 0
            #expect(try a.store.assets.evictAssets(keeping: 0) == others)
            #expect(try here(a, "x") == ["x"])
            #expect(try pin(a, target, false))
            #expect(try !pin(a, target, false))
            if others > 0 {
                #expect(try pin(a, .zone(zone)))
                try await keep(a) { try missing(a) == 0 }
                #expect(try pin(a, .zone(zone), false))
            }
        }
        #expect(try a.store.assets.evictAssets(keeping: 0) == 2)
        try a.expectSound()
    }

    @Test("a record that is renamed stays pinned, and its file goes on to it")
    func renamed() async throws {
        try await save("x", "y")
        let x = try #require(try a.entry("x"))
        #expect(try pin(a, .record(x.id)))
        try a.rename("x", to: "z")
        #expect(try a.store.assets.pins().map(\.stem) == [Stem("z")])
        try await a.sync()
        #expect(try a.store.assets.evictAssets(keeping: 0) == 1)
        #expect(try here(a, "y", "z") == ["z"])
        try a.expectSound()
    }

    @Test("a pin ends with what it pins, and the record that comes back is not pinned")
    func ends() async throws {
        try await save("x")
        let x = try #require(try a.entry("x"))
        #expect(try pin(a, .record(x.id)))
        try a.delete("x")
        #expect(try a.store.assets.pins() == [])
        try a.save("x", #"{"title":"again"}"#)
        #expect(try a.store.assets.pins() == [])
        try a.expectSound()
    }

    @Test(
        "files that do not come do not keep others from coming, and come when they can",
        .timeLimit(.minutes(1)))
    func failures() async throws {
        try await save("p", "q", "r", "s", "t")
        let zone = try #require(try b.store.zones(in: .private).first).id
        #expect(try pin(b, .zone(zone)))
        // Their bytes on the server are of a later edit that nobody here has heard of.
        for name in ["s", "t"] { try a.attach(Array("other bytes".utf8), to: name) }
        try await a.sync()
        try await keep(b) { try missing(b) == 2 }
        #expect(try here(b, "p", "q", "r", "s", "t") == ["p", "q", "r"])
        try await b.sync()
        try await keep(b) { try missing(b) == 0 }
        #expect(try a.tree() == b.tree())
        try b.expectSound()
    }

    @Test(
        "a file that is pinned later does not wait for one that cannot be had",
        .timeLimit(.minutes(1)))
    func laterPin() async throws {
        try await save("p", "s")
        try a.attach(Array("other bytes".utf8), to: "s")
        try await a.sync()
        let (p, s) = (try #require(try b.entry("p")), try #require(try b.entry("s")))
        #expect(try pin(b, .record(s.id)))
        let downloads = AssetDownloads(b.exchange)
        let (passes, pass) = AsyncStream.makeStream(of: Void.self)
        let keeper = PinKeeper(
            store: b.store, downloads: downloads, logger: Logger(label: "test"),
            backoff: Backoff(first: .seconds(3_600), longest: .seconds(3_600)),
            jitter: {
                pass.yield()
                return 0
            })
        let task = Task { await keeper.run() }
        // The wait of an hour begins.
        for await _ in passes { break }
        #expect(try pin(b, .record(p.id)))
        keeper.look()
        while try here(b, "p") == [] { await Task.yield() }
        #expect(try here(b, "p", "s") == ["p"])
        task.cancel()
        await downloads.stop()
        await task.value
    }
}
