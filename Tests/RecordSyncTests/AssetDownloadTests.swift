import RecordModel
import RecordStore
import ServerTestSupport
import Simulation
import Testing

@testable import RecordSync

/// The bytes of one asset as they come, and who waits for them.
@Suite struct AssetDownloadTests {
    private let replica: Replica
    private let download: AssetDownload

    init() async throws {
        let replica = try Replica(try await TestServer())
        try replica.save("x", "{}")
        try replica.attach(Array(repeating: 0, count: 1_000), to: "x")
        let record = try #require(try replica.entry("x"))
        let asset = try #require(try replica.store.assets(of: record.id).first)
        download = try AssetDownload(
            asset, try #require(asset.hash), path: replica.store.pathForUnfinishedAsset())
        self.replica = replica
    }

    @Test("who waits for all of it keeps it coming, until the wait is given up")
    func givenUp() async throws {
        let task = Task { [download] in try await download.waitForEnd() }
        while download.idle != .zero { await Task.yield() }
        task.cancel()
        let error = await #expect(throws: RecordError.self) { try await task.value }
        #expect(error?.code == .interrupted)
        #expect(download.idle > .zero)
        // Nobody is left who would be answered twice.
        download.end(.success(()))
    }

    @Test("who is given up before the wait begins does not wait")
    func givenUpBefore() async throws {
        let task = Task { [download] in
            while !Task.isCancelled { await Task.yield() }
            try await download.waitForEnd()
        }
        task.cancel()
        await #expect(throws: RecordError.self) { try await task.value }
    }

    @Test("others go on waiting")
    func others() async throws {
        let one = Task { [download] in try await download.waitForEnd() }
        let other = Task { [download] in try await download.wait(upTo: 10) }
        while download.idle != .zero { await Task.yield() }
        one.cancel()
        await #expect(throws: RecordError.self) { try await one.value }
        try download.append(Array(repeating: 0, count: 10))
        try await other.value
    }
}
