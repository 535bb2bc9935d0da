import Glibc
import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore

@Suite("Asset sweeper") struct AssetSweeperTests {
    private let fixture: AssetFixture
    private var sweeper: AssetSweeper {
        AssetSweeper(
            storage: fixture.server.storage, assets: fixture.service.assets,
            receiptSeconds: fixture.service.settings.receiptSeconds)
    }

    init() async throws { fixture = try await AssetFixture() }

    @Test("what nothing refers to stays as long as its receipt, and goes then")
    func expiry() async throws {
        let asset = try await fixture.upload(pattern(5000))
        fixture.server.clock.advance(.seconds(24 * 3600))
        try await sweeper.sweep(now: fixture.server.clock.now)
        #expect(try await fixture.row(asset) != nil)
        #expect(try await fixture.files.count == 1)
        fixture.server.clock.advance(.seconds(1))
        try await sweeper.sweep(now: fixture.server.clock.now)
        #expect(try await fixture.row(asset) == nil)
        #expect(try await fixture.files == [])
    }

    @Test("what a record refers to stays, and goes a day after its last reference")
    func referred() async throws {
        let asset = try await fixture.upload(pattern(5000))
        try await fixture.put([asset])
        try await fixture.put([asset], record: "n-2")
        fixture.server.clock.advance(.seconds(48 * 3600))
        try await sweeper.sweep(now: fixture.server.clock.now)
        #expect(try await fixture.files.count == 1)
        try await fixture.put([])
        try await sweeper.sweep(now: fixture.server.clock.now)
        #expect(try await fixture.files.count == 1)
        try await fixture.put([], record: "n-2")
        fixture.server.clock.advance(.seconds(24 * 3600))
        try await sweeper.sweep(now: fixture.server.clock.now)
        #expect(try await fixture.files.count == 1)
        fixture.server.clock.advance(.seconds(1))
        try await sweeper.sweep(now: fixture.server.clock.now)
        #expect(try await fixture.files == [])
    }

    @Test("a file that two databases know stays until both have forgotten it")
    func shared() async throws {
        let mine = try await fixture.upload(pattern(5000))
        fixture.server.clock.advance(.seconds(3600))
        let other = try await fixture.upload(
            pattern(5000), as: .bob, zone: ["zoneName": "_defaultZone"])
        #expect(mine.fileChecksum == other.fileChecksum)
        fixture.server.clock.advance(.seconds(24 * 3600 - 1800))
        try await sweeper.sweep(now: fixture.server.clock.now)
        #expect(try await fixture.row(mine) == nil)
        #expect(try await fixture.files.count == 1)
        fixture.server.clock.advance(.seconds(3600))
        try await sweeper.sweep(now: fixture.server.clock.now)
        #expect(try await fixture.files == [])
    }

    @Test("bringing the same bytes again makes them young again")
    func renewed() async throws {
        _ = try await fixture.upload(pattern(5000))
        fixture.server.clock.advance(.seconds(20 * 3600))
        let asset = try await fixture.upload(pattern(5000))
        fixture.server.clock.advance(.seconds(20 * 3600))
        try await sweeper.sweep(now: fixture.server.clock.now)
        #expect(try await fixture.row(asset) != nil)
        #expect(try await fixture.files.count == 1)
    }

    @Test("recovery at start removes what no row knows and keeps the rest")
    func recovery() async throws {
        let asset = try await fixture.upload(pattern(5000))
        let directory = try fixture.directory
        let stray = try await directory.begin()
        try await stray.append([9, 9])
        _ = try await stray.place()
        Glibc.close(creat(directory.path + "/tmp/left", 0o600))
        // As a crash between the two steps of a removal leaves it.
        let known = try #require(try await fixture.row(asset)).sha256
        _ = try #require(try directory.doom(known))
        try await directory.removeLeftovers()
        try await sweeper.recover()
        // `stray` is unfinished as long as the test has it.
        #expect(fixture.filesNow.filter { $0.utf8.count == 64 } == [known.hex])
        #expect(AssetFixture.names(in: directory.path + "/doomed") == [])
        #expect(!fixture.filesNow.contains("left"))
    }

    /// The steps of an upload and of any number of removals of the same content.
    private enum Step: Hashable { case place, commit, confirm, look(Int), doom(Int), settle(Int) }

    private static func interleavings(_ lists: [[Step]]) -> [[Step]] {
        guard lists.contains(where: { !$0.isEmpty }) else { return [[]] }
        return lists.indices.filter { !lists[$0].isEmpty }.flatMap { index in
            var rest = lists
            let step = rest[index].removeFirst()
            return interleavings(rest).map { [step] + $0 }
        }
    }

    @Test(
        "in whatever order an upload and removals of the same bytes come, a row has its file",
        arguments: [1, 2])
    func races(_ sweepers: Int) async throws {
        let removals = (0..<sweepers).map { [Step.look($0), .doom($0), .settle($0)] }
        let orders = Self.interleavings([[.place, .commit, .confirm]] + removals)
        #expect(orders.count == (sweepers == 1 ? 20 : 1680))
        let folder = try TemporaryDirectory()
        // Of two removals it does not matter which is which, and a part of the orders is enough.
        let chosen = orders.enumerated().filter { number, order in
            sweepers == 1
                || number % 5 == 0
                    && order.firstIndex(of: .look(0)) ?? 0 < order.firstIndex(of: .look(1)) ?? 0
        }
        for (number, order) in chosen {
            let directory = try AssetDirectory(path: folder.path + "/\(number)")
            // Old bytes are there, and no row knows them any more.
            let old = try UnfinishedAsset(in: directory)
            _ = try old.placeNow()
            let hash = SHA256.hash([])
            let upload = try UnfinishedAsset(in: directory)
            var isKnown = false
            var wanted: Set<Int> = []
            var doomed: [Int: DoomedAsset] = [:]
            for step in order {
                switch step {
                case .place: _ = try upload.placeNow()
                case .commit: isKnown = true
                case .confirm: try upload.confirmNow(hash)
                case .look(let index): if !isKnown { wanted.insert(index) }
                case .doom(let index):
                    if wanted.contains(index) { doomed[index] = try directory.doom(hash) }
                case .settle(let index):
                    guard let asset = doomed[index] else { break }
                    if isKnown { try directory.pardon(asset) } else { try directory.destroy(asset) }
                }
            }
            #expect(directory.hasFile(hash), "\(order)")
            #expect(try directory.doomed().isEmpty, "\(order)")
        }
    }
}
