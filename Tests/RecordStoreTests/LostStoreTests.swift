import Foundation
import RecordModel
import RecordSQL
import Testing

@testable import RecordStore

/// A state directory that has lost its database, or part of it, is left as it is.
@Suite struct LostStoreTests {
    /// How a store is lost; each leaves its assets and scratch files.
    enum Loss: String, CaseIterable, CustomTestStringConvertible {
        case databaseGone, databaseEmptied, databaseIsGarbage, headerIsGarbage, tablesGone
        case oneTableGone, anotherDatabase, cutAtItsEnd
        var testDescription: String { rawValue }

        func happen(in directory: String) throws {
            let path = directory + "/store.sqlite"
            let url = URL(filePath: path)
            switch self {
            case .databaseGone: try FileManager.default.removeItem(atPath: path)
            case .databaseEmptied: try Data().write(to: url)
            case .databaseIsGarbage: try Data(repeating: 0x55, count: 8192).write(to: url)
            case .headerIsGarbage:
                var data = try Data(contentsOf: url)
                data.replaceSubrange(0..<16, with: Data(repeating: 0, count: 16))
                try data.write(to: url)
            case .tablesGone:
                try FileManager.default.removeItem(atPath: path)
                try execute(path, "PRAGMA user_version = 1")
            case .oneTableGone: try execute(path, "DROP TABLE kept_asset")
            case .anotherDatabase:
                try FileManager.default.removeItem(atPath: path)
                try execute(path, "CREATE TABLE other (x)")
            case .cutAtItsEnd:
                let data = try Data(contentsOf: url)
                try data.prefix(data.count / 8192 * 4096).write(to: url)
            }
        }

        private func execute(_ path: String, _ sql: String) throws {
            let queue = try SQLQueue(path: path)
            try queue.use { connection throws(RecordError) in try connection.execute(sql) }
            queue.close()
        }
    }

    /// A directory with a store that has an asset and a scratch file, closed, and what is in it.
    private func closedStore(
        _ bytes: String = "hello"
    ) throws -> (StoreFixture, ContentHash) {
        let fixture = try StoreFixture()
        let record = try fixture.save("a", #"{"n":1}"#)
        try fixture.setAsset(record.id, "photo", bytes: bytes)
        let hash = try #require(try fixture.store.assets.assets(of: record.id).first?.hash)
        try fixture.store.close()
        try Data("kept".utf8).write(to: URL(filePath: fixture.directory + "/scratch/notes.md"))
        return (fixture, hash)
    }

    private func contents(_ directory: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
            // SQLite's index of the log is made by whoever reads.
            if name == "lock" || name == "reserve" || name.hasSuffix("-shm") { continue }
            if name.hasSuffix("-wal") { continue }
            if let data = FileManager.default.contents(atPath: directory + "/" + name) {
                files[name] = data
            }
        }
        return files
    }

    @Test(
        "a lost database is refused with advice, and nothing is touched", arguments: Loss.allCases)
    func lost(_ loss: Loss) throws {
        let (fixture, hash) = try closedStore()
        try loss.happen(in: fixture.directory)
        let before = try contents(fixture.directory)
        for _ in 0..<2 {
            let error = failure { try RecordStore.open(directory: fixture.directory) }
            #expect(error?.code == .corrupt, "\(String(describing: error))")
            #expect(error?.message.contains("backup") == true)
            #expect(error?.message.contains("mv \(fixture.directory)") == true)
        }
        #expect(try contents(fixture.directory) == before)
        #expect(before.keys.contains { $0.hasSuffix(hash.hex) })
        // Also to `recordfs fsck`, which has no better advice.
        let reading = failure { try RecordStore.openForReading(directory: fixture.directory) }
        #expect(reading?.code == .corrupt, "\(String(describing: reading))")
        #expect(reading?.message.contains("backup") == true)
        #expect(reading?.message.contains("mv \(fixture.directory)") == true)
    }

    @Test("a log without its database is refused and stays")
    func logAlone() throws {
        let directory = temporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let log = Data(repeating: 7, count: 4096)
        try log.write(to: URL(filePath: directory + "/store.sqlite-wal"))
        let error = failure { try RecordStore.open(directory: directory) }
        #expect(error?.code == .corrupt)
        #expect(FileManager.default.contents(atPath: directory + "/store.sqlite-wal") == log)
    }

    @Test("a directory in which a crash interrupted the making of a store becomes one")
    func interruptedMaking() throws {
        for size in [0, 4096] {
            let directory = temporaryDirectory()
            try FileManager.default.createDirectory(
                atPath: directory + "/assets/tmp", withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: directory) }
            let path = directory + "/store.sqlite"
            if size == 0 {
                try Data().write(to: URL(filePath: path))
            } else {
                let queue = try SQLQueue(path: path)
                try queue.use { connection throws(RecordError) in
                    try connection.execute("PRAGMA journal_mode = WAL")
                }
                queue.close()
            }
            let store = try RecordStore.open(directory: directory)
            #expect(try store.upkeep.integrityCheck(deep: true) == [])
            try store.close()
        }
    }

    @Test("an older database in place of a newer one does not remove the files it never knew")
    func restoredBackup() throws {
        let (fixture, hash) = try closedStore()
        let path = fixture.directory + "/store.sqlite"
        let backup = try Data(contentsOf: URL(filePath: path))
        try fixture.reopen()
        let record = try fixture.save("b", #"{"n":2}"#)
        try fixture.setAsset(record.id, "photo", bytes: "newer")
        let newer = try #require(try fixture.store.assets.assets(of: record.id).first?.hash)
        try fixture.store.close()
        try backup.write(to: URL(filePath: path))
        try fixture.reopen()
        try fixture.store.assets.collectAssets()
        #expect(fixture.exists(hash))
        #expect(fixture.exists(newer))
        #expect(try fixture.store.assets.unknownAssets() == [newer])
        try fixture.expectSound()
    }

    @Test("another store's database in place of this one's removes none of its files")
    func foreignStore() throws {
        let (fixture, hash) = try closedStore()
        let (other, otherHash) = try closedStore("bytes of the other")
        let database = try Data(contentsOf: URL(filePath: other.directory + "/store.sqlite"))
        #expect(other.exists(otherHash))
        try database.write(to: URL(filePath: fixture.directory + "/store.sqlite"))
        try fixture.reopen()
        #expect(try fixture.store.assets.collectAssets() == 0)
        #expect(fixture.exists(hash))
        #expect(try fixture.store.assets.unknownAssets() == [hash])
        let problems = try fixture.store.upkeep.integrityCheck()
        #expect(problems.count == 1 && problems[0].contains(otherHash.hex), "\(problems)")
    }
}
