import RecordModel
import RecordStore
import TestSupport
import Testing

@Suite struct LogTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func program<T>(_ name: String, _ body: () throws -> T) throws -> T {
        defer { fixture.clock.advance(Gesture.pause + .milliseconds(1)) }
        return try fixture.program(Int32(name.count), name, body)
    }

    private func log(_ set: (inout LogQuery) -> Void = { _ in }) throws -> [LogEntry] {
        var query = LogQuery()
        set(&query)
        return try fixture.store.past.log(query)
    }

    private func tools(_ set: (inout LogQuery) -> Void) throws -> [String] {
        try log(set).map { $0.gesture?.tool ?? $0.shownAuthor }
    }

    private func key(_ name: String) -> RecordKey {
        RecordKey(zone: fixture.zone.id, name: RecordName(name))
    }

    /// Three entries of programs, one from elsewhere in between, and a deletion that waits.
    private func fill() throws {
        try program("cp") {
            for stem in ["a", "b", "c"] { _ = try fixture.save(stem, #"{"n":1}"#) }
        }
        _ = try fixture.save("b", #"{"n":2}"#, author: .sync)
        try program("vim") { _ = try fixture.save("a", #"{"n":3}"#) }
        try program("rm") { try fixture.beginDelete(try #require(try fixture.record("c")).id) }
    }

    @Test("an entry is what one program has done, the last first")
    func entries() throws {
        try fill()
        let entries = try log()
        #expect(try tools { _ in } == ["rm", "vim", "sync", "cp"])
        #expect(entries.map(\.counts.all) == [1, 1, 1, 3])
        #expect(entries.map(\.counts.made) == [0, 0, 0, 3])
        #expect(entries.map(\.counts.removed) == [1, 0, 0, 0])
        let last = try fixture.store.past.lastToken()
        #expect(entries[0].token == nil && entries[1].token == last)
        #expect(entries[2].shownAuthor == "sync")
        let first = try #require(entries[3].token)
        let task = RestoreScope(type: RecordTypeName("Task"))
        #expect(try tools { $0.limit = 2 } == ["rm", "vim"])
        #expect(try tools { $0.author = "sync" } == ["sync"])
        #expect(try tools { $0.records = [key("a")] } == ["vim", "cp"])
        #expect(try tools { $0.scope = task }.isEmpty)
        #expect(try tools { $0.until = .token(first) } == ["cp"])
        #expect(try tools { $0.since = .token(first) } == ["rm", "vim", "sync"])
        #expect(try fixture.store.past.logEntry(with: first - 1)?.counts.made == 3)
        #expect(try fixture.store.past.logEntry(with: first + 1)?.author == .sync)
        #expect(try fixture.store.past.logEntry(with: 9_999) == nil)
    }

    @Test("an interleaved gesture is one entry, also where the list is cut or long")
    func interleaved() throws {
        for n in 0..<2_500 {
            for name in ["cp", "tar"] {
                try fixture.program(Int32(name.count), name) {
                    _ = try fixture.save("\(name)\(n)", #"{"n":1}"#)
                }
            }
        }
        let all = try log().map(\.counts.made)
        let one = try log { $0.limit = 1 }.map(\.counts.made)
        #expect(all == [2_500, 2_500] && one == [2_500])
    }

    @Test("an undo is an entry, and what it has taken back says so")
    func undone() throws {
        try fill()
        let undo = { [fixture] (choice: GestureChoice) throws in
            _ = try fixture.write(.commandLine) { transaction throws(RecordError) in
                try transaction.undoing.undo(choice)
            }
        }
        try undo(.latest(2))
        var entries = try log()
        #expect(entries.filter(\.isUndone).compactMap { $0.gesture?.tool } == ["rm", "vim"])
        #expect(entries.filter(\.isUndo).count == 2)
        try undo(.latestUndone(1))
        entries = try log()
        let undone = entries.filter { $0.isUndone && !$0.isUndo }
        #expect(undone.compactMap { $0.gesture?.tool } == ["rm"])
    }

    @Test("two moments differ in what was changed between them")
    func differences() throws {
        let past = fixture.store.past
        try fill()
        let tokens = try log().compactMap(\.token).reversed().map { $0 }
        func names(_ from: RestorePoint, _ to: RestorePoint? = nil) throws -> [String] {
            try past.differences(in: RestoreScope(), from: from, to: to).map {
                "\($0.place.name) \($0.old == nil ? "+" : $0.new == nil ? "-" : "~")"
            }
        }
        #expect(try names(.token(0)) == ["a +", "b +"], "c is removed")
        #expect(try names(.token(0), .token(tokens[0])) == ["a +", "b +", "c +"])
        #expect(try names(.token(tokens[0])) == ["a ~", "b ~", "c -"])
        #expect(try names(.token(tokens[1]), .token(tokens[0])) == ["b ~"], "backwards")
        #expect(try names(.token(tokens[2]), .token(tokens[2])).isEmpty)
        #expect(try names(.time(fixture.clock.now)) == ["c -"])
        let one = try past.differences(
            in: RestoreScope(), of: [key("b")], from: .token(tokens[0]))
        #expect(one.count == 1 && one[0].place.name == RecordName("b"))
    }

    @Test("a record is followed through its renames")
    func renames() throws {
        let record = try fixture.save("a", #"{"n":1}"#).id
        for (old, new) in [("a", "b"), ("b", "c")] {
            try program("mv") {
                let id = try #require(try fixture.record(old)).id
                _ = try fixture.write { transaction throws(RecordError) in
                    try transaction.records.rename(
                        id, toType: fixture.note, stem: Stem(new))
                }
            }
        }
        _ = record
        try program("rm") { try fixture.delete(try fixture.save("x", #"{"n":1}"#).id) }
        #expect(try fixture.store.past.withFormerNames(key("c")) == [key("a"), key("b"), key("c")])
        #expect(try fixture.store.past.withFormerNames(key("x")) == [key("x")])
    }
}
