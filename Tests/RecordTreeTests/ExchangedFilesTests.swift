import Glibc
import RecordModel
import RecordStore
import RecordTree
import Testing

/// RENAME_EXCHANGE of two names of any kind, while a program has one of the files open: it goes on
/// in its file under the other name, as on ext4 (MountContract, "Scratch" and "Exchanges and links").
@Suite("Files that are exchanged while they are open")
struct ExchangedFilesTests {
    struct Pair: Sendable, CustomTestStringConvertible {
        let one, other: String
        /// Indicates whether the program has the other file open.
        let isOther: Bool
        var testDescription: String { "\(one) and \(other), \(isOther ? other : one) is open" }
    }

    static let pairs = [
        ("a.json", "b.json"), ("a.json", "s"), ("s", "a.json"), ("s", "t"), ("a@x.bin", "s"),
        ("s", "a@x.bin"), ("a@x.bin", "b@x.bin"),
    ].flatMap { one, other in
        [false, true].map { Pair(one: one, other: other, isOther: $0) }
    }

    private let fixture: TreeFixture

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
        for (number, name) in ["a", "b"].enumerated() {
            try fixture.put(text(number), as: "\(name).json")
            try fixture.put(text(number + 2), as: "\(name)@x.bin")
        }
        try fixture.put(text(4), as: "s")
        try fixture.put(text(5), as: "t")
    }

    /// A record's text of one length.
    private func text(_ number: Int) -> String { #"{"n":\#(number)}"# }

    /// The number in a file, whatever the mount has added to the text of a record.
    private func number(_ text: String?) throws -> Int64? {
        try JSONParser.parse(#require(text).b)["n"]?.int64
    }

    private func number(of name: String) throws -> Int64? {
        try number(fixture.text(name, by: Requester(threadID: 9)))
    }

    @Test("a writer goes on in its file under the other name", arguments: pairs)
    func writer(pair: Pair) throws {
        let (mine, theirs) = pair.isOther ? (pair.other, pair.one) : (pair.one, pair.other)
        let (before, expected) = (try number(of: mine), try number(of: theirs))
        let handle = try fixture.openNew(mine, flags: O_RDWR)
        try fixture.rename(pair.one, to: pair.other, flags: 2)
        #expect(try number(fixture.read(handle)) == before)
        #expect(try number(of: theirs) == before && number(of: mine) == expected)
        let length = try fixture.read(handle).utf8.count
        let written = text(7) + String(repeating: " ", count: length - 7)
        try fixture.write(written, to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try number(of: theirs) == 7)
        #expect(try number(of: mine) == expected)
        #expect(try fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
    }

    @Test("a reader sees what is written into its file under the other name", arguments: pairs)
    func reader(pair: Pair) throws {
        let (mine, theirs) = pair.isOther ? (pair.other, pair.one) : (pair.one, pair.other)
        let before = try number(of: mine)
        let handle = try fixture.openNew(mine, flags: O_RDONLY)
        defer { fixture.tree.release(handle) }
        try fixture.rename(pair.one, to: pair.other, flags: 2)
        #expect(try number(fixture.read(handle)) == before)
        try fixture.put(text(8), as: mine)
        #expect(try number(fixture.read(handle)) == before, "that is the other file")
        guard !theirs.hasSuffix(".json") else { return }
        try fixture.put(text(9), as: theirs)
        #expect(try number(fixture.read(handle)) == 9)
    }

    @Test("an exchange back leaves everything as it was", arguments: pairs)
    func back(pair: Pair) throws {
        func all() throws -> [Int64?] {
            try ["a.json", "b.json", "a@x.bin", "b@x.bin", "s", "t"].map { try number(of: $0) }
        }
        let before = try all()
        let names = try fixture.names()
        for _ in 1...2 {
            let (one, other) = pair.isOther ? (pair.other, pair.one) : (pair.one, pair.other)
            try fixture.rename(one, to: other, flags: 2)
            #expect(try fixture.names() == names)
        }
        #expect(try all() == before)
        #expect(try fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
    }
}
