import RecordModel
import RecordStore
import RecordStoreSync
import Testing

/// Passes over a whole feed, which show what the server no longer has.
@Suite struct FeedPassTests {
    private let fixture: StoreFixture
    private let zone: ZoneID

    /// `a`, `b` and `c` are on the server, `own` is not.
    init() throws {
        fixture = try StoreFixture()
        zone = fixture.zone.id
        try fixture.apply(
            fixture.page(["a", "b", "c"].map { StoreFixture.told($0, n: 1) }, token: "old"))
        try fixture.save("own", #"{"n":1}"#)
    }

    private func restart() throws {
        try fixture.feed { (feed) throws(RecordError) in try feed.restartFeed(of: zone) }
    }

    @Test("a feed that starts again forgets its token and removes what it does not report")
    func restarted() throws {
        try restart()
        #expect(try fixture.token() == nil)
        #expect(try fixture.store.syncState.hasFeedPass(zone))
        #expect(try untold() == ["a", "b", "c"])
        try fixture.apply(fixture.page([StoreFixture.told("a", n: 1)], token: "one"))
        #expect(try fixture.names() == ["a", "b", "c", "own"], "the pass is not at its end")
        #expect(try untold() == ["b", "c"])
        let last = fixture.page([StoreFixture.told("new", n: 1)], token: "two", isLast: true)
        #expect(try fixture.apply(last) == [.created, .deleted, .deleted])
        #expect(try fixture.names() == ["a", "new", "own"])
        #expect(try fixture.trashed() == ["b", "c"])
        #expect(try fixture.pending() == ["own create"])
        #expect(try !fixture.store.syncState.hasFeedPass(zone))
        try fixture.expectSound()
    }

    @Test("a pass outlives the process, and one that is asked for again goes on where it was")
    func goesOn() throws {
        try restart()
        try fixture.apply(fixture.page([StoreFixture.told("a", n: 1)], token: "one"))
        try fixture.reopen()
        try fixture.feed { (feed) throws(RecordError) in try feed.beginFeedPass(of: zone) }
        #expect(try fixture.token() == "one")
        try fixture.apply(fixture.page([], token: "two", isLast: true))
        #expect(try fixture.names() == ["a", "own"])
    }

    @Test("what a last page reports without a pass removes nothing")
    func noPass() throws {
        try fixture.apply(fixture.page([], token: "one", isLast: true))
        #expect(try fixture.names() == ["a", "b", "c", "own"])
    }

    @Test("a pass that starts anew counts nothing of the one before")
    func anew() throws {
        try restart()
        try fixture.apply(fixture.page(["a", "b"].map { StoreFixture.told($0, n: 1) }))
        try restart()
        try fixture.apply(fixture.page([StoreFixture.told("a", n: 1)], isLast: true))
        #expect(try fixture.names() == ["a", "own"])
    }

    enum Sign: String, CaseIterable {
        case told, toldInList, asked, passedOver, acknowledged, edited, abandoned
    }

    /// The part of `b` that is seen in a pass that does not report it otherwise, and what becomes of it.
    @Test("a record of which a pass has any sign stays", arguments: Sign.allCases)
    func sign(_ sign: Sign) throws {
        try restart()
        var page = fixture.page(["a", "c"].map { StoreFixture.told($0, n: 1) }, isLast: true)
        let name = RecordName("b")
        switch sign {
        case .told: page.changes.append(StoreFixture.told("b", n: 1))
        case .toldInList:
            try fixture.feed { (feed) throws(RecordError) in
                let different = try feed.noteTold(
                    [(name, "r1"), (RecordName("d"), "r1")], in: zone)
                #expect(different == [RecordName("d")])
                #expect(try feed.noteTold([(name, "r2")], in: zone) == [name], "another state")
            }
        case .asked:
            try fixture.feed { (feed) throws(RecordError) in try feed.noteTold(name, in: zone) }
        case .passedOver: page.passedOver = [PassedOver(name, "too large")]
        case .acknowledged:
            try fixture.save("b", #"{"n":2}"#)
            for claim in try fixture.claim() { try fixture.complete(claim, tag: "r2") }
        case .edited: try fixture.save("b", #"{"n":2}"#)
        case .abandoned:
            try fixture.feed { (feed) throws(RecordError) in try feed.abandonFeedPass(of: zone) }
        }
        try fixture.apply(page)
        #expect(try fixture.names() == ["a", "b", "c", "own"])
        // An edit wins against the deletion, and makes the record again.
        let isEdit = sign == .edited
        #expect(
            try fixture.pending().sorted() == (isEdit ? ["b create"] : [])
                + (sign == .acknowledged ? [] : ["own create"]))
        #expect(try fixture.conflicts() == (isEdit ? ["b"] : []))
        try fixture.expectSound()
    }

    @Test("on a full disk a page only removes, keeps its token, and comes again whole")
    func removals() throws {
        try restart()
        let page = fixture.page(
            [
                StoreFixture.told("a", n: 7), StoreFixture.gone("b"),
                StoreFixture.told("new", n: 1),
            ], token: "one", isLast: true, passedOver: [PassedOver(RecordName("c"), "too large")])
        let outcomes = try fixture.feed { (feed) throws(RecordError) in
            try feed.applyRemovals(of: page).map(\.outcome)
        }
        #expect(outcomes == [.deleted])
        #expect(try fixture.names() == ["a", "c", "own"])
        #expect(try fixture.text("a") == "{\n  \"n\": 1\n}\n")
        #expect(try fixture.token() == nil)
        #expect(try fixture.store.syncState.hasFeedPass(zone))
        try fixture.apply(page)
        #expect(try fixture.names() == ["a", "c", "new", "own"])
        #expect(try fixture.text("a") == "{\n  \"n\": 7\n}\n")
        #expect(try fixture.token() == "one")
    }

    @Test("on a full disk the end of a pass removes what it has not reported, and no page before")
    func removalsAtTheEnd() throws {
        try restart()
        var page = fixture.page([StoreFixture.told("a", n: 1)])
        func removals() throws -> [RemoteResult.Outcome] {
            try fixture.feed { (feed) throws(RecordError) in
                try feed.applyRemovals(of: page).map(\.outcome)
            }
        }
        #expect(try removals() == [])
        page.isLast = true
        #expect(try removals() == [.deleted, .deleted])
        #expect(try fixture.names() == ["a", "own"])
    }

    @Test("a token moves on only from the one that is known")
    func advanced() throws {
        func advance(from known: String, to token: String) throws {
            try fixture.feed { (feed) throws(RecordError) in
                try feed.advanceFeed(
                    .zone(zone), from: Array(known.utf8), to: Array(token.utf8))
            }
        }
        try advance(from: "other", to: "new")
        #expect(try fixture.token() == "old")
        try advance(from: "old", to: "new")
        #expect(try fixture.token() == "new")
        try restart()
        try advance(from: "new", to: "newer")
        #expect(try fixture.token() == nil)
    }

    private func untold() throws -> [String] {
        let all = try fixture.store.syncState.untoldRecords(
            RecordTypeName("Note"), in: zone, limit: 10
        ).map(\.description)
        #expect(
            try fixture.store.syncState.untoldRecords(RecordTypeName("Note"), in: zone, limit: 1)
                .map(\.description) == Array(all.prefix(1)))
        #expect(
            try fixture.store.syncState.untoldRecords(RecordTypeName("Task"), in: zone, limit: 9)
                .isEmpty)
        return all
    }

    @Test("the server's records are known by name, also when they are deleted here")
    func isOfServer() throws {
        func isOfServer(_ name: String) throws -> Bool {
            try fixture.store.syncState.isOfServer(RecordName(name), in: zone)
        }
        #expect(try isOfServer("a") && !isOfServer("own") && !isOfServer("none"))
        try fixture.delete(try #require(try fixture.record("a")).id)
        #expect(try isOfServer("a"))
    }
}
