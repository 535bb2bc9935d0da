import FoundationEssentials
import RecordModel
import RecordSQL
import Testing

@testable import RecordStore

#if canImport(Glibc)
import Glibc
#endif

@Suite struct OpeningTests {
    @Test("a database that cannot have a write-ahead log is refused with what to do")
    func noLog() {
        var options = SQLOptions()
        options.hasLog = true
        let error = failure { try SQLQueue(path: "file::memory:", options) }
        #expect(error?.code == .ioFailure)
        #expect(error?.message.contains("local disk") == true)
    }

    @Test("a second writer is refused with the pid of the first, and may open after it")
    func lock() throws {
        let fixture = try StoreFixture()
        let error = failure { try RecordStore.open(directory: fixture.directory) }
        #expect(error?.code == .storeLocked)
        #expect(error?.message.contains("\(getpid())") == true)
        try fixture.save("a", "{}")
        try fixture.reopen()
        #expect(try fixture.record("a") != nil)
    }

    @Test("a closed store opens again while a child process is just beginning")
    func childProcess() throws {
        let fixture = try StoreFixture()
        // Until its exec, a child has copies of all open files of its parent.
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let place = fixture.directory + "/lock"
        let locks = descriptors.compactMap { Int32($0) }.filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))
                == place
        }
        let copy = dup(try #require(locks.first))
        defer { close(copy) }
        try fixture.reopen()
        #expect(
            failure { try RecordStore.open(directory: fixture.directory) }?.code == .storeLocked)
    }

    @Test("a reader beside the writer sees what is committed, also new fields, and cannot write")
    func readerBesideWriter() throws {
        let fixture = try StoreFixture()
        try fixture.save("a", #"{"n":1}"#)
        let reader = try RecordStore.openForReading(directory: fixture.directory)
        #expect(try reader.record(fixture.note, Stem("a")) != nil)
        #expect(try reader.schema(of: RecordTypeName("Note")).fields.count == 1)
        try fixture.save("b", #"{"n":2,"m":"x"}"#)
        #expect(try reader.record(fixture.note, Stem("b")) != nil)
        #expect(try reader.schema(of: RecordTypeName("Note")).fields.count == 2)
        let write = failure {
            try reader.write(author: .commandLine) { transaction throws(RecordError) in
                try transaction.records.setModified(RecordID(1), Timestamp(seconds: 0))
            }
        }
        #expect(write?.code == .readOnly)
        #expect(try reader.upkeep.integrityCheck(deep: true) == [])
        try reader.close()
        try fixture.save("c", "{}")
    }

    @Test("a store that nobody has open can be opened for reading")
    func readerAlone() throws {
        let fixture = try StoreFixture()
        try fixture.save("a", "{}")
        try fixture.store.close()
        let reader = try RecordStore.openForReading(directory: fixture.directory)
        #expect(try reader.record(fixture.note, Stem("a")) != nil)
        try reader.close()
        try fixture.reopen()
    }

    @Test("opening for reading where no store is says so and makes nothing")
    func nothingThere() throws {
        let directory = temporaryDirectory()
        let error = failure { try RecordStore.openForReading(directory: directory) }
        #expect(error?.code == .notFound)
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test("the store's files are for this user alone")
    func rights() throws {
        let fixture = try StoreFixture()
        for (name, mode) in [("", 0o700), ("/store.sqlite", 0o600), ("/lock", 0o600)] {
            var information = stat()
            #expect(lstat(fixture.directory + name, &information) == 0)
            #expect(Int(information.st_mode & 0o777) == mode)
        }
    }

    @Test("an empty directory that is there already becomes a store and keeps its mode")
    func givenDirectory() throws {
        let directory = temporaryDirectory()
        #expect(mkdir(directory, 0o755) == 0 && chmod(directory, 0o755) == 0)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try RecordStore.open(directory: directory).close()
        let names = ["", "/store.sqlite", "/lock", "/assets", "/scratch"]
        for (name, mode) in zip(names, [0o755, 0o600, 0o600, 0o700, 0o700]) {
            var information = stat()
            #expect(lstat(directory + name, &information) == 0)
            #expect(Int(information.st_mode & 0o777) == mode, "\(name)")
        }
    }

    @Test("a directory with other files does not become a store, and stays as it is")
    func foreignDirectory() throws {
        let directory = temporaryDirectory()
        #expect(mkdir(directory, 0o777) == 0 && chmod(directory, 0o1777) == 0)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try Data("mine".utf8).write(to: URL(filePath: directory + "/notes.txt"))
        for _ in 0..<2 {
            let error = failure { try RecordStore.open(directory: directory) }
            #expect(error?.code == .notEmpty)
            #expect(error?.message.contains("notes.txt") == true)
        }
        var information = stat()
        #expect(lstat(directory, &information) == 0 && information.st_mode & 0o7777 == 0o1777)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["notes.txt"])
    }

    @Test("what a start that failed and a new file system leave does not prevent a store")
    func earlierStart() throws {
        let directory = temporaryDirectory()
        for folder in ["assets/tmp", "scratch", "lost+found", "imports"] {
            try FileManager.default.createDirectory(
                atPath: "\(directory)/\(folder)", withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(atPath: directory) }
        for name in ["lock", "reserve", "recordfs.log", "put-4711"] {
            try Data().write(to: URL(filePath: "\(directory)/\(name)"))
        }
        let store = try RecordStore.open(directory: directory)
        #expect(try store.upkeep.integrityCheck(deep: true) == [])
        try store.close()
    }

    @Test("a file that is no database is reported as damaged")
    func damaged() throws {
        let directory = temporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let garbage = Data(repeating: 0x55, count: 8192)
        try garbage.write(to: URL(filePath: directory + "/store.sqlite"))
        let error = failure { try RecordStore.open(directory: directory) }
        #expect(error?.code == .corrupt)
    }

    @Test("a store of a newer version is refused for writing and for reading")
    func newer() throws {
        let fixture = try StoreFixture()
        try fixture.write { transaction throws(RecordError) in
            try transaction.connection.run(
                "INSERT INTO grdb_migrations (identifier) VALUES ('v99')")
        }
        try fixture.store.close()
        #expect(
            failure { try RecordStore.open(directory: fixture.directory) }?.code == .storeTooNew)
        let reading = failure { try RecordStore.openForReading(directory: fixture.directory) }
        #expect(reading?.code == .storeTooNew)
        let queue = try SQLQueue(path: fixture.directory + "/store.sqlite")
        try queue.write { connection throws(RecordError) in
            try connection.execute("DELETE FROM grdb_migrations WHERE identifier = 'v99'")
        }
        queue.close()
        try fixture.reopen()
    }

    @Test("a failed sync fails every later one until the store is opened again")
    func latchedSync() throws {
        let fixture = try StoreFixture()
        try fixture.save("a", "{}")
        try fixture.store.sync()
        fixture.store.log?.latch(RecordError(.ioFailure, "the disk failed"))
        #expect(failure { try fixture.store.sync() }?.code == .ioFailure)
        try fixture.save("b", "{}")
        #expect(failure { try fixture.store.sync() }?.code == .ioFailure)
        #expect(failure { try fixture.store.close() }?.code == .ioFailure)
        try fixture.reopen()
        try fixture.save("c", "{}")
        try fixture.store.sync()
        #expect(try fixture.record("b") != nil)
    }

    @Test("a full disk refuses the save, keeps what was there, and goes on when there is room")
    func fullDisk() throws {
        let fixture = try StoreFixture()
        let limits = RecordLimits.standard
        try fixture.save("kept", #"{"n":1}"#)
        try fixture.write { transaction throws(RecordError) in
            let pages = try transaction.connection.first("PRAGMA page_count") { $0.int64(0) }
            try transaction.connection.run("PRAGMA max_page_count = \((pages ?? 0) + 8)")
        }
        let long = String(repeating: "x", count: limits.shownValueBytes)
        let error = failure { try fixture.save("long", #"{"t":"\#(long)"}"#) }
        #expect(error?.code == .noSpace)
        #expect(try fixture.record("long") == nil)
        #expect(try fixture.text("kept") == #"{"n":1}"#)
        try fixture.expectSound()
        try fixture.write { transaction throws(RecordError) in
            try transaction.connection.run("PRAGMA max_page_count = 1000000")
        }
        #expect(try fixture.save("long", #"{"t":"\#(long)"}"#).outcome == .created)
        try fixture.expectSound()
    }
}
