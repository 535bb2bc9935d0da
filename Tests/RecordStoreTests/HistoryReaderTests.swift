import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Programs that read the history with a saved token, and what they keep.
@Suite struct HistoryReaderTests {
    private static let day = Duration.seconds(24 * 3600)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture(.local) }

    private func name(_ text: String) throws -> HistoryReader.Name { try HistoryReader.Name(text) }

    private func save(_ text: String, _ token: Int64, known: Int64? = nil) throws {
        let name = try name(text)
        try fixture.write(.commandLine) { transaction throws(RecordError) in
            try transaction.upkeep.saveReader(name, token: token, known: known)
        }
    }

    private func readers() throws -> [String] {
        try fixture.store.past.readers().map {
            "\($0.name) \($0.token)\($0.isExpired ? " old" : "")"
        }
    }

    private func purge() throws { while try fixture.store.upkeep.keepSmall() {} }

    private func versions(_ fixture: StoreFixture? = nil) throws -> Int {
        let fixture = fixture ?? self.fixture
        return try fixture.store.past.history(of: RecordName("a"), in: fixture.zone.id).count
    }

    /// Saves a record in 31 versions.
    private func fill(_ fixture: StoreFixture? = nil) throws {
        for number in 0...30 { try (fixture ?? self.fixture).save("a", #"{"n":\#(number)}"#) }
    }

    @Test("a reader has a name, and a token that only who knows the last one moves")
    func tokens() throws {
        try save("b", 3)
        try save("a", 1)
        try save("b", 5, known: 3)
        #expect(try readers() == ["a 1", "b 5"])
        for (known, token) in [(nil, 9), (3, 9)] as [(Int64?, Int64)] {
            let error = #expect(throws: RecordError.self) { try save("b", token, known: known) }
            #expect(error?.code == .stale)
        }
        try save("b", 2, known: 5)
        try fixture.reopen()
        #expect(try readers() == ["a 1", "b 2"])
        let (a, gone) = (try name("a"), try name("gone"))
        try fixture.write { transaction throws(RecordError) in
            try transaction.upkeep.removeReader(a)
        }
        #expect(try readers() == ["b 2"])
        let error = #expect(throws: RecordError.self) {
            try fixture.write { transaction throws(RecordError) in
                try transaction.upkeep.removeReader(gone)
            }
        }
        #expect(error?.code == .notFound)
    }

    @Test("names are short and plain, and readers are few")
    func bounds() throws {
        for text in ["", "a b", "é", "a/b", "a\n", String(repeating: "x", count: 65)] {
            #expect(throws: RecordError.self, "\(text)") { try name(text) }
        }
        #expect(try name(String(repeating: "x", count: 64)).text.count == 64)
        for number in 0..<HistoryReader.most { try save("r\(number)", 0) }
        let error = #expect(throws: RecordError.self) { try save("more", 0) }
        #expect(
            error?.code == .invalidArgument && error?.message.contains("readers remove") == true)
        try save("r7", 1, known: 0)
    }

    @Test("what a reader has not read stays, until it has read it")
    func held() throws {
        try fill()
        try save("slow", 5)
        try save("fast", 12)
        fixture.clock.advance(Self.day * 89)
        try save("slow", 5, known: 5)
        try save("fast", 12, known: 12)
        fixture.clock.advance(Self.day * 2)
        let counted = try fixture.store.upkeep.collectGarbage(isRehearsal: true)
        #expect(counted.versions == 4, "the first one has the creation, and four are read")
        #expect(
            counted.readers.map { "\($0.reader.name) \($0.versions)" } == ["fast 9", "slow 16"])
        #expect(counted.readers.allSatisfy { $0.bytes >= Int64($0.versions) * 7 })
        try purge()
        #expect(try versions() == 31 - 4)
        try save("slow", 31, known: 5)
        let done = try fixture.store.upkeep.collectGarbage(isRehearsal: false)
        #expect(done.versions == 7)
        #expect(done.readers.map(\.versions) == [9, 0])
        try fixture.expectSound()
    }

    @Test("a reader that was not used for 90 days keeps nothing, and has expired")
    func expired() throws {
        try fill()
        try save("slow", 5)
        fixture.clock.advance(Self.day * 89)
        #expect(try readers() == ["slow 5"])
        fixture.clock.advance(Self.day * 2)
        #expect(try readers() == ["slow 5 old"])
        let counted = try fixture.store.upkeep.collectGarbage(isRehearsal: true)
        #expect(counted.readers.map(\.versions) == [0])
        try purge()
        #expect(try versions() == 11)
        try save("slow", 31, known: 5)
        #expect(try readers() == ["slow 31"])
    }

    @Test("what was not sent stays for twice that time")
    func unsent() throws {
        let fixture = try StoreFixture()
        try fill(fixture)
        fixture.clock.advance(Self.day * 91)
        while try fixture.store.upkeep.keepSmall() {}
        #expect(try versions(fixture) == 31)
        fixture.clock.advance(Self.day * 91)
        while try fixture.store.upkeep.keepSmall() {}
        #expect(try versions(fixture) == 11)
        try fixture.expectSound()
    }

    @Test("what was sent goes in its time, also while a later change waits")
    func sent() throws {
        let fixture = try StoreFixture()
        try fill(fixture)
        try fixture.sendAll(tag: "t1")
        try fixture.save("a", #"{"n":99}"#)
        fixture.clock.advance(Self.day * 91)
        while try fixture.store.upkeep.keepSmall() {}
        #expect(try versions(fixture) < 13)
    }
}
