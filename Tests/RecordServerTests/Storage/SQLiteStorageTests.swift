import Foundation
import RecordModel
import RecordSQL
import RecordWire
import Testing

@testable import RecordServerCore
@testable import RecordServerSQLite

@Suite("SQLite storage") struct SQLiteStorageTests {
    typealias Sample = StorageSample

    @Test("a file that is closed and opened again has everything, and is for its owner only")
    func reopen() async throws {
        let directory = try StorageDirectory()
        let record = Sample.record("a", 1, share: Sample.share)
        for round in 0..<3 {
            let storage = try SQLiteStorage.open(path: directory.database)
            let found = try await storage.write { transaction throws(ServerError) in
                var zone = try transaction.zone(Sample.zone)
                if zone == nil {
                    zone = try transaction.createZone(Sample.zone, incarnation: 3)
                }
                guard let zone else { throw ServerError(.zoneNotFound, "") }
                let found = try transaction.records(zone.handle, [record.name])
                try transaction.putTestTree(zone.handle, record.share)
                try transaction.put(zone.handle, record)
                return found
            }
            #expect(found[record.name] == (round == 0 ? nil : record))
            storage.close()
            storage.close()
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.database)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(StorageDirectory.names(directory.path) == ["records.sqlite"])
    }

    @Test(
        "each commit is as durable as the operator chose, with a log",
        arguments: [SQLiteStorage.Synchronous.normal, .full])
    func durability(choice: SQLiteStorage.Synchronous) throws {
        let directory = try StorageDirectory()
        let storage = try SQLiteStorage.open(path: directory.database, synchronous: choice)
        let found = try storage.database.writer.use { connection throws(RecordError) in
            [
                try connection.first("PRAGMA synchronous") { String($0.int64(0)) },
                try connection.first("PRAGMA journal_mode") { $0.string(0) },
            ]
        }
        storage.close()
        #expect(found == [choice == .full ? "2" : "1", "wal"])
    }

    @Test(
        "only a group of hints does not wait for stable storage",
        arguments: [SQLiteStorage.Synchronous.normal, .full])
    func hints(choice: SQLiteStorage.Synchronous) async throws {
        let directory = try StorageDirectory()
        let storage = try SQLiteStorage.open(path: directory.database, synchronous: choice)
        defer { storage.close() }
        let durable: Int64 = choice == .full ? 2 : 1
        for _ in 0..<2 {
            #expect(try await storage.writeHint(Self.synchronous) == 1)
            #expect(try await storage.write(Self.synchronous) == durable)
        }
        // All of these wait while the connection is busy.
        let gate = DispatchSemaphore(value: 0)
        storage.database.writer.enqueue { _ in gate.wait() }
        let (answers, feed) = AsyncStream<Result<Int64?, ServerError>>.makeStream()
        for isHint in [true, true, false, true] {
            storage.writes.add(WriteJob(isHint: isHint, Self.synchronous) { feed.yield($0) })
        }
        gate.signal()
        var found: [Int64?] = []
        for await answer in answers.prefix(4) { found.append(try answer.get()) }
        #expect(found == [1, 1, durable, durable])
    }

    /// Returns what the commit of a body will wait for. SQLite answers when it prepares a
    /// statement, so that each one has a text of its own.
    private static let synchronous:
        @Sendable (any StorageTransaction) throws(ServerError) -> Int64? = {
            transaction throws(ServerError) in
            guard let access = transaction as? SQLiteAccess else { return nil }
            let number = UInt64.random(in: 0 ... .max)
            return try access.first("PRAGMA synchronous -- \(number)") { $0.int64(0) }
        }

    @Test("what is asked of a closed storage fails")
    func closed() async throws {
        let directory = try StorageDirectory()
        let storage = try SQLiteStorage.open(path: directory.database)
        storage.close()
        await #expect(throws: ServerError.self) {
            try await storage.read { reader throws(ServerError) in try reader.containers() }
        }
        await #expect(throws: ServerError.self) {
            try await storage.write { transaction throws(ServerError) in
                try transaction.createContainer("x")
            }
        }
    }

    @Test("a database of a newer version is refused and not touched")
    func newer() async throws {
        let directory = try StorageDirectory()
        try SQLiteStorage.open(path: directory.database).close()
        let queue = try SQLQueue(path: directory.database)
        try queue.write { connection throws(RecordError) in
            try connection.execute("INSERT INTO grdb_migrations VALUES ('v999')")
        }
        queue.close()
        let error = #expect(throws: ServerError.self) {
            try SQLiteStorage.open(path: directory.database)
        }
        #expect(error?.reason.contains("newer recordfs-server") == true)
    }

    @Test("what is no database is refused with its path")
    func garbage() throws {
        let directory = try StorageDirectory()
        try StorageDirectory.write(
            String(repeating: "no database ", count: 1_000), to: directory.database)
        let error = #expect(throws: ServerError.self) {
            try SQLiteStorage.open(path: directory.database)
        }
        #expect(error?.reason.contains(directory.database) == true)
    }

    @Test("two storages on one file see each other's commits")
    func twoProcesses() async throws {
        let directory = try StorageDirectory()
        let one = try SQLiteStorage.open(path: directory.database)
        let two = try SQLiteStorage.open(path: directory.database)
        for name: Text in ["iCloud.a", "iCloud.b"] {
            let (writer, reader) = name == "iCloud.a" ? (one, two) : (two, one)
            try await writer.write { transaction throws(ServerError) in
                try transaction.createContainer(name)
            }
            let found = try await reader.read { reader throws(ServerError) in
                try reader.containers()
            }
            #expect(found.contains(name))
        }
        one.close()
        two.close()
    }

    @Test("a full disk fails the write with a time to try again, and nothing of it stays")
    func full() async throws {
        let directory = try StorageDirectory()
        let storage = try SQLiteStorage.open(path: directory.database)
        let zone = try await storage.write { transaction throws(ServerError) in
            try transaction.createZone(Sample.zone, incarnation: 3)
        }
        try storage.database.writer.use { connection throws(RecordError) in
            try connection.execute("PRAGMA max_page_count = 100")
        }
        let large = Sample.record("large", 1, fields: String(repeating: "x", count: 1 << 20))
        let error = await #expect(throws: ServerError.self) {
            try await storage.write { transaction throws(ServerError) in
                try transaction.put(zone.handle, Sample.record("small", 2))
                do throws(ServerError) {
                    try transaction.put(zone.handle, large)
                } catch {}
                // SQLite has rolled back: this must not be committed by itself.
                try transaction.put(zone.handle, Sample.record("late", 3))
            }
        }
        #expect(error?.code == .tryAgainLater)
        #expect(error?.retryAfter != nil)
        let found = try await storage.read { reader throws(ServerError) in
            try reader.records(zone.handle, ["small", "large", "late"].map { RecordName($0) })
        }
        #expect(found.isEmpty)
        try await storage.write { transaction throws(ServerError) in
            try transaction.put(zone.handle, Sample.record("small", 2))
        }
        storage.close()
    }
}
