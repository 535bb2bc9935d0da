import RecordModel
import RecordStore
import RecordWire
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
        let asset = try #require(try replica.store.assets.assets(of: record.id).first)
        download = try AssetDownload(
            asset, try #require(asset.hash), path: replica.store.assets.pathForUnfinishedAsset())
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

/// Another client's ending of a large field.
@Suite("Endings of assets of other clients")
struct ForeignEndingTests {
    @Test(
        "a record whose asset has an ending that no file can have is shown all the same",
        arguments: [
            ("jpg", "a@photo.jpg"), ("x/y", "a@photo.x%2Fy"), ("j\u{0}", "a@photo.j%00"),
            ("exe\u{202E}gpj", "a@photo.exe%E2%80%AEgpj"), ("7", "a@photo"),
            (String(repeating: "x", count: 300), "a@photo." + String(repeating: "x", count: 64)),
        ])
    func shown(_ ending: String, _ name: String) throws {
        let json = JSONValue.object([
            JSONMember(
                key: "fileChecksum", value: .string(Text("AQ" + String(repeating: "A", count: 26)))),
            JSONMember(key: "size", value: .number(JSONNumber(5))),
            JSONMember(key: "fileExtension", value: .string(Text(ending))),
        ])
        let asset = try WireAsset(JSONReader(json))
        let value = AssetValue(asset, of: RecordName("a"), FieldName("photo"), nil)
        #expect(value.fileName == Text(name))
        guard case .asset = value.entryName else {
            Issue.record("\(value.fileName) is no asset's name")
            return
        }
    }
}
