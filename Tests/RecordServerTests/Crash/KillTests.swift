import Foundation
import Glibc
import Logging
import RecordModel
import RecordSQL
import RecordWire
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

/// kill -9 of the real server, again and again, while writers write and a reader reads.
@Suite("Killed server", .serialized)
struct KillTests {
    private static let writers = 8
    private static let kills = LongForm.isAskedFor ? 200 : 60

    @Test(
        "after kills under 8 writers every acknowledged change is there once, the feed has no gap and assets match their checksums"
    )
    func kills() async throws {
        let data = try TemporaryDirectory()
        let access = try await KilledServer.prepare(data.path)
        let server = KilledServer()
        let writers = (0..<Self.writers).map { KillWriter(number: $0, access: access) }
        let reader = KillReader(access: access)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in writers {
                group.addTask { try await RawHTTP.run { try writer.run(server) } }
            }
            group.addTask { try await RawHTTP.run { try reader.run(server) } }
            group.addTask {
                do {
                    try await Self.killAgainAndAgain(data.path, server, writers)
                } catch {
                    // Those who wait for the server would wait for ever.
                    server.end()
                    throw error
                }
            }
            try await group.waitForAll()
        }
        try await check(data.path, access, writers, reader)
    }

    private static func killAgainAndAgain(
        _ path: String, _ server: KilledServer, _ writers: [KillWriter]
    ) async throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<kills {
            let process = try await ServerProcess.serve(
                data: path, arguments: KilledServer.arguments)
            let wanted = writers.count / 2 + Int.random(in: 0..<writers.count, using: &generator)
            let spins = Int.random(in: 0..<200_000, using: &generator)
            try await RawHTTP.run {
                try server.run(on: process.port, untilAcknowledged: wanted)
                var noise: UInt64 = 1
                for _ in 0..<spins { noise = noise &* 6_364_136_223_846_793_005 &+ 1 }
                #expect(noise != 0)
            }
            process.signal(SIGKILL)
            _ = try await process.wait()
        }
        let last = try await ServerProcess.serve(data: path, arguments: KilledServer.arguments)
        try await RawHTTP.run { try server.finish(on: last.port) }
        last.signal(SIGTERM)
        #expect(try await last.wait() == 0)
    }

    private func check(
        _ path: String, _ access: KillAccess, _ writers: [KillWriter], _ reader: KillReader
    ) async throws {
        let process = try await ServerProcess.serve(data: path, arguments: KilledServer.arguments)
        let expected = writers.reduce(into: [String: KillRecord]()) { all, writer in
            all.merge(writer.acknowledged.withLock { $0 }) { first, _ in first }
        }
        #expect(expected.count > Self.kills * Self.writers / 2)
        let fresh = KillReader(access: access)
        try await RawHTTP.run { try fresh.readAll(port: process.port) }
        let all = fresh.seen.withLock { $0 }
        #expect(Set(all.keys) == Set(expected.keys))
        #expect(all.allSatisfy { expected[$0.key]?.number == $0.value.number })
        // The one that read beside the kills, page by page, has the same, and nothing twice.
        try await RawHTTP.run { try reader.readAll(port: process.port) }
        #expect(reader.seen.withLock { $0 }.mapValues(\.number) == all.mapValues(\.number))
        #expect(reader.repeated.withLock { $0 } == [])
        let withAssets = expected.filter { $0.value.content != nil }
        #expect(withAssets.count > 20)
        for (name, record) in withAssets {
            let url = try #require(all[name]?.downloadURL)
            let answer = try await RawHTTP.request(
                port: process.port, "GET", KillAccess.target(url))
            #expect(answer.status == 200 && answer.body == record.content)
        }
        process.signal(SIGTERM)
        #expect(try await process.wait() == 0)
        let database = try SQLQueue(path: path + "/records.sqlite")
        let verdict = try database.read { connection throws(RecordError) in
            try connection.first("PRAGMA quick_check") { $0.string(0) }
        }
        #expect(verdict == "ok")
    }
}
