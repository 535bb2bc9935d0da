import Foundation
import RecordModel
import RecordSQL
import TestSupport
import Testing

@testable import RecordStore

/// Versions that are read from the pages of a database, without the help of SQLite.
@Suite struct StrayVersionsTests {
    /// A version as SQLite reads it.
    private struct Row: Hashable {
        let token: Int64
        let record: Int64
        let text: [UInt8]

        init(_ version: StrayVersions.Version) {
            (token, record, text) = (version.token, version.record, version.text)
        }

        init(token: Int64, record: Int64, text: [UInt8]) {
            (self.token, self.record, self.text) = (token, record, text)
        }
    }

    /// A store with random versions of random lengths, as one file with pages of this size.
    private func store(seed: UInt64, pageSize: Int) throws -> (StoreFixture, path: String) {
        var random = SeededRandom(seed: seed)
        let fixture = try StoreFixture()
        // Lengths around those at which a row needs one more page.
        let lengths = [0, 1, 300, 900, 3800, 3900, 4000, 4050, 4100, 8200, 20_000]
        for number in 0..<60 {
            let name = "r\(random.below(12))"
            let length = max(0, random.pick(lengths) + random.below(120) - 60)
            let text = String(repeating: "\(number % 10)", count: length)
            try fixture.save(name, "{\"n\":\(number),\"s\":\"\(text)\"}")
            if random.below(8) == 0, let id = try fixture.record(name)?.id {
                try fixture.delete(id)
            }
        }
        try fixture.store.close()
        let path = fixture.directory + "/pages.sqlite"
        let queue = try SQLQueue(path: fixture.directory + "/store.sqlite")
        try queue.use { connection throws(RecordError) in
            try connection.run("PRAGMA journal_mode = DELETE")
            try connection.run("PRAGMA page_size = \(pageSize)")
            try connection.run("VACUUM INTO ?", [.text(path)])
        }
        queue.close()
        return (fixture, path)
    }

    private func rows(_ path: String) throws -> Set<Row> {
        let queue = try SQLQueue(path: path)
        defer { queue.close() }
        return Set(
            try queue.use { connection throws(RecordError) in
                try connection.all(
                    "SELECT token, record_id, text FROM history WHERE length(text) > 0"
                ) { Row(token: $0.int64(0), record: $0.int64(1), text: $0.bytes(2)) }
            })
    }

    @Test(
        "every version is found, with its number and its whole text, whatever the size of a page",
        arguments: [512, 1024, 4096, 65_536])
    func all(_ pageSize: Int) throws {
        let (fixture, path) = try store(seed: UInt64(pageSize), pageSize: pageSize)
        let right = try rows(path)
        #expect(right.count > 40)
        let found = try #require(try StrayVersions(path: path)).all().map { Row($0) }
        #expect(found.count == right.count && Set(found) == right)
        try fixture.reopen()
    }

    @Test(
        "damaged pages give no wrong version, and all versions of whole pages",
        arguments: LongForm.seeds(4, of: 200))
    func damaged(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let (fixture, path) = try store(seed: UInt64(seed), pageSize: 1024)
        let right = try rows(path)
        let whole = try Data(contentsOf: URL(filePath: path))
        for _ in 0..<6 {
            var file = whole
            switch random.below(4) {
            case 0: file = file.prefix(random.below(file.count - 1024) + 1024)
            case 1:
                for _ in 0..<random.below(40) + 1 {
                    file[100 + random.below(file.count - 100)] = UInt8(random.below(256))
                }
            case 2:
                // Pages that change places lead the search for the rest of a row astray.
                let (first, second) = (random.below(30) + 1, random.below(30) + 1)
                let pages = [first, second].map { file.subdata(in: $0 * 1024..<($0 + 1) * 1024) }
                file.replaceSubrange(first * 1024..<(first + 1) * 1024, with: pages[1])
                file.replaceSubrange(second * 1024..<(second + 1) * 1024, with: pages[0])
            default:
                let start = (random.below(file.count / 1024 - 1) + 1) * 1024
                file.replaceSubrange(
                    start..<start + 1024, with: [UInt8](repeating: 255, count: 1024))
            }
            try file.write(to: URL(filePath: path))
            let found = try #require(try StrayVersions(path: path)).all()
            let wrong = found.filter { version in !right.contains { $0.text == version.text } }
            #expect(wrong.isEmpty, "seed \(seed)")
        }
        // The page at the top of the tables is lost: SQLite finds no version, the pages all.
        var file = whole
        file.replaceSubrange(100..<1024, with: [UInt8](repeating: 0, count: 924))
        try file.write(to: URL(filePath: path))
        let found = try #require(try StrayVersions(path: path)).all().map { Row($0) }
        #expect(Set(found) == right)
        try fixture.reopen()
    }

    @Test("a file that is no database, or too short for one, has no versions")
    func foreign() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/file"
        let magic = Array("SQLite format 3\0".utf8)
        let rest = [UInt8](repeating: 0, count: 600)
        var header = magic + rest
        // 1000 bytes is no size of a page; 512 is, but not with so many unused bytes.
        (header[16], header[17]) = (0x03, 0xE8)
        var unused = magic + rest
        (unused[16], unused[17], unused[20]) = (0x02, 0x00, 200)
        var empty = magic + rest
        (empty[16], empty[17]) = (0x02, 0x00)
        for (bytes, isDatabase) in [
            ([], false), (magic, false), (rest + magic, false), (header, false), (unused, false),
            (empty, true),
        ] {
            try Data(bytes).write(to: URL(filePath: path))
            let versions = try StrayVersions(path: path)
            #expect((versions != nil) == isDatabase)
            #expect(versions?.all().isEmpty ?? true)
        }
    }
}
