import Foundation
import RecordModel
import RecordStore
import TestSupport
import Testing

/// Counts what saves write, in pages, and how large a store becomes, in bytes.
@Suite struct WrittenPagesTests {
    /// The pages in the database's log, of which SQLite keeps count in the log's index.
    private func pagesInLog(of fixture: StoreFixture) throws -> Int {
        let file = try #require(
            FileHandle(forReadingAtPath: fixture.directory + "/store.sqlite-shm"))
        defer { try? file.close() }
        try file.seek(toOffset: 16)
        let count = try #require(try file.read(upToCount: 4))
        return count.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// The pages of a closed store, without those that are free for what comes next: how many these are is a
    /// matter of when the index of words was put together. Both counts are in the header of the file.
    private func pagesInUse(of fixture: StoreFixture) throws -> Int {
        let file = try #require(FileHandle(forReadingAtPath: fixture.directory + "/store.sqlite"))
        defer { try? file.close() }
        let header = try #require(try file.read(upToCount: 40))
        func count(at place: Int) -> Int {
            header[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        return count(at: 28) - count(at: 36)
    }

    /// Words as in a language: few are in each text, most are in few.
    private func text(_ random: inout SeededRandom, words: Int) -> String {
        let said = (0..<words).map { _ in
            let rank = random.below(random.below(5_000) + 1)
            return String(1_000 + rank * 7, radix: 36) + "er"
        }
        return #"{"title":"note","text":"\#(said.joined(separator: " "))"}"#
    }

    /// How many pages each of some saves wrote, in a store that has others already.
    private func pages(in database: Database, _ save: (StoreFixture, Int) throws -> Void) throws
        -> Double
    {
        let fixture = try StoreFixture(database)
        var random = SeededRandom(seed: 59)
        for number in 0..<200 { try fixture.save("r\(number)", text(&random, words: 60)) }
        let before = try pagesInLog(of: fixture)
        let count = 50
        for number in 0..<count { try save(fixture, number) }
        return Double(try pagesInLog(of: fixture) - before) / Double(count)
    }

    @Test(
        "a new record of 300 bytes writes few pages, and fewer where no server is told",
        arguments: [(Database.private, 11.0), (.local, 8.0)])
    func create(database: Database, most: Double) throws {
        var random = SeededRandom(seed: 60)
        let written = try pages(in: database) { fixture, number in
            try fixture.save("n\(number)", text(&random, words: 60))
        }
        #expect(written > 1 && written <= most, "\(written) pages")
    }

    @Test("a save of a record that is there writes no more pages than a new one")
    func update() throws {
        var random = SeededRandom(seed: 61)
        let written = try pages(in: .private) { fixture, number in
            try fixture.save("r\(number)", text(&random, words: 60))
        }
        #expect(written > 1 && written <= 11, "\(written) pages")
    }

    @Test("a store of small records that can be searched and are sent is at most twice its input")
    func size() throws {
        let fixture = try StoreFixture()
        var random = SeededRandom(seed: 62)
        var input = 0
        try fixture.write { transaction throws(RecordError) in
            for number in 0..<3_000 {
                let text = text(&random, words: 160)
                input += text.utf8.count
                _ = try transaction.records.save(
                    text: Array(text.utf8), type: fixture.note, stem: Stem("r\(number)"))
            }
        }
        _ = try fixture.store.index.search(fixture.zone.id, words: "none")
        while case let claimed = try fixture.claim(), !claimed.isEmpty {
            for change in claimed { try fixture.complete(change) }
        }
        try fixture.store.close()
        let used = try pagesInUse(of: fixture)
        let ratio = Double(used * 4_096) / Double(input)
        #expect(ratio > 1 && ratio <= 2, "\(ratio) times \(input) bytes")
    }
}
