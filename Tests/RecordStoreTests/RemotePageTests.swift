import RecordModel
import RecordStore
import RecordStoreSync
import Synchronization
import TestSupport
import Testing

/// Pages of a zone's feed, with the tokens that end them.
@Suite struct RemotePageTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func page(_ numbers: Range<Int>, n: Int64 = 1, token: String? = nil) -> RemotePage {
        let changes = numbers.map { number in
            RemoteChange(
                type: RecordTypeName("Note"), name: RecordName("r\(number)"),
                operation: .upsert(
                    [
                        RecordField(name: FieldName("n"), value: .int64(n)),
                        RecordField(name: FieldName("title"), value: .string(Text("t\(number)"))),
                    ], parent: nil), changeTag: "t\(n)", modified: Timestamp(seconds: 5))
        }
        return RemotePage(
            zone: fixture.zone.id, changes: changes, token: token.map { Array($0.utf8) })
    }

    @discardableResult
    private func apply(_ page: RemotePage) throws(RecordError) -> [RemoteResult.Outcome] {
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.feed.applyRemote(page).map(\.outcome)
        }
    }

    private func token() throws -> String? {
        try fixture.store.syncState.feedToken(of: .zone(fixture.zone.id)).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// How many statements `body` makes, BEGIN and COMMIT included.
    private func statements(_ body: () throws -> Void) throws -> Int {
        let count = Counter()
        fixture.store.traceWrites { _ in count.add() }
        defer { fixture.store.traceWrites(nil) }
        try body()
        return count.value
    }

    private final class Counter: Sendable {
        private let number = Mutex(0)
        func add() { number.withLock { $0 += 1 } }
        var value: Int { number.withLock { $0 } }
    }

    @Test("a new record of a page costs six statements")
    func newRecords() throws {
        try apply(page(0..<1))
        let count = try statements { try apply(page(1..<201, token: "a")) }
        // The page itself costs eleven: the token of a first page ends the note of the zone's making.
        #expect(count <= 200 * 6 + 11, "\(count)")
        #expect(try fixture.store.records(in: fixture.note, limit: 300).count == 201)
        #expect(try fixture.pending() == [])
        try fixture.expectSound()
    }

    @Test("a changed record of a page, and one that is as it was, cost little more")
    func changedRecords() throws {
        try apply(page(0..<200))
        let again = try statements { try apply(page(0..<200)) }
        let changed = try statements { try apply(page(0..<200, n: 2)) }
        #expect(again <= 200 * 8 + 10 && changed <= 200 * 12 + 10, "\(again), \(changed)")
        #expect(try fixture.text("r7") == "{\n  \"n\": 2,\n  \"title\": \"t7\"\n}\n")
        try fixture.expectSound()
    }

    @Test("a page and its token are applied both or neither")
    func pageAndToken() throws {
        #expect(try token() == nil)
        try apply(page(0..<3, token: "one"))
        #expect(try token() == "one")
        var bad = page(3..<6, token: "two")
        bad.changes[1] = RemoteChange(
            type: RecordTypeName("no type"), name: RecordName("x"),
            operation: .upsert([], parent: nil))
        #expect(failure { try apply(bad) }?.code == .invalidName)
        #expect(try token() == "one")
        #expect(try fixture.store.records(in: fixture.note, limit: 9).count == 3)
    }

    @Test("a page that comes again changes nothing and makes no history")
    func again() throws {
        #expect(try apply(page(0..<3, token: "one")) == [.created, .created, .created])
        let history = try fixture.store.past.lastToken()
        _ = fixture.changes()
        #expect(try apply(page(0..<3, token: "one")) == [.unchanged, .unchanged, .unchanged])
        #expect(try fixture.store.past.lastToken() == history)
    }

    @Test(
        "tokens of databases and zones are apart, outlive a restart, and go when the zone is gone there"
    )
    func tokens() throws {
        let feeds: [Feed] = [.database(.private), .database(.shared), .zone(fixture.zone.id)]
        try fixture.write(.sync) { transaction throws(RecordError) in
            for (number, feed) in feeds.enumerated() {
                try transaction.feed.setFeedToken([UInt8(number)], of: feed)
            }
        }
        try fixture.reopen()
        for (number, feed) in feeds.enumerated() {
            #expect(try fixture.store.syncState.feedToken(of: feed) == [UInt8(number)])
        }
        try fixture.write { transaction throws(RecordError) in
            try transaction.removeType(self.fixture.note)
            try transaction.removeType(self.fixture.task)
            try transaction.removeZone(self.fixture.zone.id)
        }
        // The server has to be told that it was removed here.
        #expect(try fixture.store.syncState.feedToken(of: .zone(fixture.zone.id)) != nil)
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.feed.removeZoneOfServer(self.fixture.zone.id)
        }
        #expect(try fixture.store.syncState.feedToken(of: .zone(fixture.zone.id)) == nil)
        #expect(try fixture.store.syncState.feedToken(of: .database(.private)) == [0])
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.feed.setFeedToken(nil, of: .database(.private))
        }
        #expect(try fixture.store.syncState.feedToken(of: .database(.private)) == nil)
    }

    @Test("a directory's time is that of its last entry, also when one call comes and goes in it")
    func directoryTime() throws {
        fixture.clock.advance(.seconds(60))
        try apply(page(0..<2))
        let now = fixture.clock.now
        #expect(try fixture.store.type(fixture.note)?.modified == now)
        try fixture.write { transaction throws(RecordError) in
            _ = try transaction.records.save(
                text: Array("{}".utf8), type: self.fixture.note, stem: Stem("a"))
            try transaction.records.setModified(self.fixture.note, Timestamp(seconds: 7))
            _ = try transaction.records.save(
                text: Array("{}".utf8), type: self.fixture.note, stem: Stem("b"))
        }
        #expect(try fixture.store.type(fixture.note)?.modified == fixture.clock.now)
    }
}
