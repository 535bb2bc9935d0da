import FoundationEssentials
import RecordModel
import RecordSQL
import Testing

@testable import RecordStore

/// Who is killed while the log is moved into the database leaves some pages of it there, and the log.
@Suite struct CutCheckpointTests {
    private static let pageSize = 4_096
    private let directory = temporaryDirectory()
    /// The files of a store that is killed before its log is moved.
    private let database: Data
    private let log: Data
    /// The database when all of the log was moved.
    private let moved: Data

    init() throws {
        let fixture = try StoreFixture()
        for number in 0..<20 { try fixture.save("r\(number)", #"{"n":\#(number)}"#) }
        let path = fixture.directory + "/store.sqlite"
        database = try Data(contentsOf: URL(filePath: path))
        log = try Data(contentsOf: URL(filePath: path + "-wal"))
        let copy = try StoreFixture()
        try copy.store.close()
        let copied = copy.directory + "/store.sqlite"
        try database.write(to: URL(filePath: copied))
        try log.write(to: URL(filePath: copied + "-wal"))
        let queue = try SQLQueue(path: copied)
        try queue.use { connection throws(RecordError) in
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        queue.close()
        moved = try Data(contentsOf: URL(filePath: copied))
    }

    private func write(_ database: Data, _ log: Data) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        try database.write(to: URL(filePath: directory + "/store.sqlite"))
        try log.write(to: URL(filePath: directory + "/store.sqlite-wal"))
    }

    private func remove() throws { try FileManager.default.removeItem(atPath: directory) }

    @Test("a kill after any page leaves a store that opens with all it had")
    func afterEachPage() throws {
        let pages = moved.count / Self.pageSize
        #expect(pages > 20)
        for count in 0...pages {
            let end = count * Self.pageSize
            try write(moved.prefix(end) + database.dropFirst(end), log)
            let reader = try RecordStore.openForReading(directory: directory)
            #expect(
                try reader.syncState.counts().zones.first?.records == 20, "after \(count) pages")
            try reader.close()
            let store = try RecordStore.open(directory: directory)
            #expect(try store.syncState.counts().zones.first?.records == 20, "after \(count) pages")
            #expect(try store.upkeep.integrityCheck(deep: true) == [])
            try store.close()
            try remove()
        }
    }

    @Test("what is no database is refused beside a log too, and nothing is touched")
    func garbage() throws {
        for start in [Data("SQLite format 4\0".utf8), Data(repeating: 0, count: 16)] {
            let damaged = start + moved.prefix(Self.pageSize).dropFirst(16)
            try write(damaged, log)
            let error = failure { try RecordStore.open(directory: directory) }
            #expect(error?.code == .corrupt)
            #expect(try Data(contentsOf: URL(filePath: directory + "/store.sqlite")) == damaged)
            #expect(try Data(contentsOf: URL(filePath: directory + "/store.sqlite-wal")) == log)
            try remove()
        }
    }
}
