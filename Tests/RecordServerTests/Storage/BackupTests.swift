import Glibc
import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore
@testable import RecordServerSQLite

@Suite("Backup and restore") struct BackupTests {
    typealias Sample = StorageSample

    /// A server's data with one zone, a viewer of it and assets, one of them not referred to.
    private struct Server {
        let directory: StorageDirectory
        let storage: SQLiteStorage
        let assets: AssetDirectory

        init() async throws {
            directory = try StorageDirectory()
            storage = try SQLiteStorage.open(path: directory.database)
            assets = try AssetDirectory(path: directory.path + "/assets")
            let names = ["aa", "bb"].map { String(repeating: $0, count: 32) }
            for name in names { try Self.write(assets, name, "content") }
            try await storage.write { transaction throws(ServerError) in
                try transaction.putSetting(ServerSetting.incarnation, [1])
                for (checksum, hash) in zip(["a", "b"], names) {
                    try transaction.putAsset(
                        AssetRow(
                            database: Sample.database, fileChecksum: Text(checksum),
                            sha256: ContentHash(hex: hash), size: 7, uploadedMilliseconds: 1))
                }
                var zone = try transaction.createZone(Sample.zone, incarnation: 5)
                try transaction.put(zone.handle, Sample.record("r", 1))
                try transaction.putAssetReferences(zone.handle, from: RecordName("r"), ["a"])
                zone.position = 1
                try transaction.updateZone(zone)
                try transaction.putSharedZone(
                    SharedZoneRow(
                        viewer: Sample.bob, zone: Sample.zone, incarnation: 6,
                        shares: [.zoneShare]))
            }
        }

        private static func write(
            _ assets: AssetDirectory, _ hash: String, _ content: String
        ) throws {
            let path = assets.path(of: ContentHash(hex: hash))
            mkdir(assets.folder(of: ContentHash(hex: hash)), 0o700)
            try StorageDirectory.write(content, to: path)
        }
    }

    @Test("a backup made while writers write is one point in time, with its assets")
    func online() async throws {
        let server = try await Server()
        let target = try StorageDirectory()
        let storage = server.storage
        let summary = try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for _ in 0..<50 {
                        try await storage.write { transaction throws(ServerError) in
                            guard var zone = try transaction.lockZone(Sample.zone) else {
                                throw ServerError(.zoneNotFound, "")
                            }
                            zone.position += 1
                            zone.recordCount += 1
                            let name = "w\(writer)-\(zone.position)"
                            try transaction.put(
                                zone.handle, Sample.record(name, zone.position))
                            try transaction.updateZone(zone)
                        }
                    }
                }
            }
            let summary = try await storage.backup(
                to: target.path + "/backup", assets: server.assets)
            try await group.waitForAll()
            return summary
        }
        #expect(summary.assetCount == 2)
        #expect(summary.databaseBytes > 0)
        let path = target.path + "/backup"
        #expect(StorageDirectory.names(path) == ["assets", "records.sqlite"])
        let copy = try SQLiteStorage.open(path: path + "/records.sqlite")
        try await copy.read { reader throws(ServerError) in
            let zone = try reader.zone(Sample.zone)
            #expect(zone?.incarnation == 5)
            guard let zone else { return }
            let feed = try reader.changes(
                zone.handle, after: 0, shares: nil, descending: false, limit: .max)
            #expect(feed.map(\.position) == Array(1...zone.position))
            #expect(zone.recordCount == zone.position - 1)
        }
        copy.close()
        storage.close()
    }

    @Test("a directory that holds anything takes neither a backup nor a restored server")
    func notEmpty() async throws {
        let server = try await Server()
        let backup = try StorageDirectory()
        let error = await #expect(throws: ServerError.self) {
            try await server.storage.backup(to: server.directory.path, assets: server.assets)
        }
        #expect(error?.code == .badRequest)
        try await server.storage.backup(to: backup.path, assets: server.assets)
        let refusal = await #expect(throws: ServerError.self) {
            try await SQLiteRestore.restore(backup.path, to: server.directory.path)
        }
        #expect(refusal?.code == .badRequest)
        server.storage.close()
    }

    @Test("a restored server has the records and assets, and every incarnation is new")
    func restore() async throws {
        let server = try await Server()
        let (backup, data) = (try StorageDirectory(), try StorageDirectory())
        try await server.storage.backup(to: backup.path, assets: server.assets)
        server.storage.close()
        try await SQLiteRestore.restore(backup.path, to: data.path)
        #expect(StorageDirectory.names(data.path) == ["assets", "records.sqlite"])
        let assets = try AssetDirectory(path: data.path + "/assets")
        let hash = ContentHash(hex: String(repeating: "aa", count: 32))
        #expect(try await assets.open(hash).read(at: 0, count: 99) == Array("content".utf8))
        let restored = try SQLiteStorage.open(path: data.database)
        let zone = try await restored.read { reader throws(ServerError) in
            #expect(try reader.setting(ServerSetting.incarnation)?.count == 16)
            let zone = try reader.zone(Sample.zone)
            let view = try reader.sharedZone(Sample.bob, Sample.zone)
            #expect(view != nil && view?.incarnation != 6)
            #expect(
                try zone.map { z throws(ServerError) in
                    try reader.records(z.handle, [RecordName("r")]).count
                } == 1)
            #expect(
                try zone.map { z throws(ServerError) in
                    try reader.refers(z.handle, RecordName("r"), to: "a")
                } == true)
            return zone
        }
        #expect(zone != nil && zone?.incarnation != 5)
        // Tags of the lost time are not given again, nor those after a restore that was restored again.
        let position = try #require(zone?.position)
        #expect(position > RestoreRenewal.positionGap)
        restored.close()
        let second = try StorageDirectory()
        try await SQLiteRestore.restore(backup.path, to: second.path)
        let again = try SQLiteStorage.open(path: second.database)
        let later = try await again.read { reader throws(ServerError) in
            try reader.zone(Sample.zone)
        }
        #expect(try #require(later?.position) > position + 1_000)
        again.close()
    }

    @Test("a backup without an asset that a record refers to is not restored")
    func missingAsset() async throws {
        let server = try await Server()
        let backup = try StorageDirectory()
        try await server.storage.backup(to: backup.path, assets: server.assets)
        server.storage.close()
        let copy = try AssetDirectory(path: backup.path + "/assets")
        let (used, unused) = ("aa", "bb")
        func remove(_ name: String) {
            unlink(copy.path(of: ContentHash(hex: String(repeating: name, count: 32))))
        }
        remove(unused)
        let data = try StorageDirectory()
        try await SQLiteRestore.restore(backup.path, to: data.path)
        let restored = try SQLiteStorage.open(path: data.database)
        let row = try await restored.read { reader throws(ServerError) in
            try reader.asset(Sample.database, fileChecksum: "b")
        }
        #expect(row == nil)
        restored.close()
        remove(used)
        let other = try StorageDirectory()
        let error = await #expect(throws: ServerError.self) {
            try await SQLiteRestore.restore(backup.path, to: other.path)
        }
        #expect(error?.reason.contains("--dry-run") == true)
        #expect(!StorageDirectory.names(other.path).contains("records.sqlite"))
    }

    @Test("a directory without a finished database is no backup")
    func incomplete() async throws {
        let (backup, data) = (try StorageDirectory(), try StorageDirectory())
        let error = await #expect(throws: ServerError.self) {
            try await SQLiteRestore.restore(backup.path, to: data.path)
        }
        #expect(error?.code == .badRequest)
    }
}
