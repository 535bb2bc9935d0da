import RecordModel
import RecordStore
import RecordStoreSync
import Testing

/// Changes that the server has refused, and that the user gives up or sends again.
@Suite struct TakingBackTests {
    private let fixture: StoreFixture
    private let zone: ZoneID

    /// The server has `a` with 1.
    init() throws {
        fixture = try StoreFixture()
        zone = fixture.zone.id
        try fixture.save("a", text(1))
        try fixture.sendAll(tag: "t1")
    }

    private func text(_ n: Int) -> String { "{ \"n\": \(n) }\n" }

    /// The server refuses everything that waits.
    private func refuseAll(_ reason: String = "refused") throws {
        for claim in try fixture.claim() { try fixture.fail(claim, error: reason) }
    }

    @discardableResult
    private func revert(_ name: String) throws -> Bool {
        let row = try #require(try fixture.outbox().first { $0.name == RecordName(name) })
        return try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.merging.revert(row)
        }
    }

    @Test("a refused edit is given up for what the server has, and stays in history")
    func edit() throws {
        try fixture.save("a", text(2))
        #expect(try !revert("a"), "it is not refused yet")
        #expect(try fixture.text("a") == text(2))
        try refuseAll()
        #expect(try fixture.store.syncState.refusedChanges().map(\.error) == ["refused"])
        #expect(try revert("a"))
        #expect(try fixture.text("a") == text(1))
        #expect(try fixture.pending() == [])
        #expect(try fixture.kinds("a") == [.created, .updated, .updated])
        let id = try #require(try fixture.record("a")).id
        #expect(try fixture.store.meta(of: id)?.changeTag == "t1")
        #expect(try fixture.conflicts() == [])
        try fixture.expectSound()
    }

    @Test("a refused new record goes to the trash, and a refused deletion brings its record back")
    func createAndDelete() throws {
        try fixture.save("new", text(5))
        try fixture.delete(try #require(try fixture.record("a")).id)
        try refuseAll()
        #expect(try revert("new") && revert("a"))
        #expect(try fixture.names() == ["a"] && fixture.text("a") == text(1))
        #expect(try fixture.trashed() == ["a", "new"])
        #expect(try fixture.pending() == [])
        try fixture.expectSound()
    }

    @Test("a refused edit of a record that somebody has just removed brings the record back")
    func waiting() throws {
        try fixture.save("a", text(2))
        try refuseAll()
        let row = try #require(try fixture.outbox().first)
        try fixture.beginDelete(row.record)
        #expect(try revert("a"))
        #expect(try fixture.text("a") == text(1))
    }

    @Test("giving up leaves the draft of the file")
    func draft() throws {
        try fixture.save("a", text(2))
        try refuseAll()
        _ = try fixture.draft("a", "{ half")
        #expect(try revert("a"))
        #expect(try fixture.text("a") == "{ half")
        #expect(try fixture.savedText(try #require(try fixture.record("a")).id) == text(1))
    }

    @Test("giving up during a pass is no sign that the server has the record")
    func pass() throws {
        try fixture.save("a", text(2))
        try refuseAll()
        try fixture.feed { (feed) throws(RecordError) in try feed.restartFeed(of: zone) }
        #expect(try revert("a"))
        try fixture.apply(fixture.page([], token: "one", isLast: true))
        #expect(try fixture.names() == [])
    }

    @Test("giving up is of what the server last reported, also after others have edited")
    func told() throws {
        try fixture.save("a", #"{"n":2,"m":1}"#)
        try refuseAll()
        try fixture.upsert("a", ["n": .int64(1), "k": .int64(9)], tag: "t2")
        #expect(try fixture.text("a")?.contains("\"k\":9") == true)
        #expect(try revert("a"))
        let text = try #require(try fixture.text("a"))
        #expect(text.contains("9") && !text.contains("m") && !text.contains("2"))
        #expect(try fixture.pending() == [])
    }

    enum Again: CaseIterable { case record, name, reason, all, edit }

    @Test(
        "a refused change is sent again when it is asked for, or edited", arguments: Again.allCases)
    func again(_ again: Again) throws {
        try fixture.save("a", text(2))
        try refuseAll("QUOTA_EXCEEDED: full")
        let other = try fixture.save("b", text(1)).id
        try refuseAll("no parent")
        let id = try #require(try fixture.record("a")).id
        #expect(try fixture.claim().isEmpty)
        try fixture.write { transaction throws(RecordError) in
            switch again {
            case .record: try transaction.outbox.retryOutbox(id)
            case .name: try transaction.outbox.retryOutbox(of: RecordName("a"), in: zone)
            case .reason: try transaction.outbox.retryOutbox(in: zone, refusedFor: "QUOTA_")
            case .all: try transaction.outbox.retryOutbox()
            case .edit: break
            }
        }
        if again == .edit { try fixture.save("a", text(3)) }
        let claims = try fixture.claim()
        #expect(claims.map(\.row.record) == (again == .all ? [id, other] : [id]))
        #expect(claims.first?.row.attempts == 2)
        #expect(claims.first?.base?.changeTag == "t1")
    }

    @Test("a deletion that the server refuses for its children comes back, with a conflict")
    func deleteOfParent() throws {
        let id = try #require(try fixture.record("a")).id
        try fixture.delete(id)
        let claim = try #require(try fixture.claim().first)
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.takeBackDelete(
                claim, StoreFixture.told("a", n: 1, tag: "t1"), in: zone)
        }
        #expect(try fixture.names() == ["a"] && fixture.pending() == [])
        #expect(try fixture.conflicts() == ["a"])
        try fixture.expectSound()
    }

    // MARK: Moves

    /// `a` goes to the zone Own, and the server refuses it there.
    private func refusedMove(editing text: String? = nil) throws -> ZoneInfo {
        let id = try #require(try fixture.record("a")).id
        let move = TreeMove(of: id, to: .private, .me, ZoneName("Own"))
        let plan = try fixture.write { transaction throws(RecordError) in
            try transaction.moves.move(move)
        }
        let own = try #require(try fixture.store.zone(.private, .me, ZoneName("Own")))
        if let text {
            let place = try #require(try fixture.store.record(plan.copies[0]))
            try fixture.save("a", text, type: place.type)
        }
        let claims = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.claimOutbox(in: own.id)
        }
        for claim in claims { try fixture.fail(claim, error: "refused") }
        return own
    }

    @Test(
        "giving up a refused copy brings the moved record back to its place, as the server has it")
    func moved() throws {
        for edit in [nil, text(2)] {
            let tests = try TakingBackTests()
            let fixture = tests.fixture
            let own = try tests.refusedMove(editing: edit)
            #expect(try fixture.names() == [])
            let row = try #require(try fixture.outbox().first { $0.zone == own.id })
            let isDone = try fixture.write(.sync) { transaction throws(RecordError) in
                try transaction.merging.revert(row)
            }
            #expect(isDone)
            #expect(try fixture.names() == ["a"] && fixture.text("a") == text(1))
            #expect(try fixture.store.record(named: RecordName("a"), in: own.id) == nil)
            #expect(try fixture.pending() == [] && !fixture.store.past.hasMoves())
            try fixture.expectSound()
        }
    }

    @Test("a moved record whose name another one has by now stays in the trash")
    func nameTaken() throws {
        let own = try refusedMove()
        try fixture.save("a", text(7))
        let row = try #require(try fixture.outbox().first { $0.zone == own.id })
        _ = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.merging.revert(row)
        }
        #expect(try fixture.text("a") == text(7))
        #expect(try fixture.trashed() == ["a"])
        try fixture.expectSound()
    }

    // MARK: Requests without an answer

    @Test("a request without an answer keeps its bytes and its changes over a restart")
    func sentRequest() throws {
        try fixture.save("a", text(2))
        try fixture.save("b", text(1))
        try fixture.delete(try fixture.save("c", text(1)).id)
        let claims = try fixture.claim()
        let batch = try #require(claims.first?.row.batch)
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.keepRequest([1, 2, 3], batch: batch, in: zone)
        }
        try fixture.save("later", text(1))
        try fixture.reopen()
        #expect(try fixture.pending() == ["a update*", "b create*", "later create"])
        let request = try #require(try fixture.store.syncState.sentRequest(in: zone))
        #expect(request.body == [1, 2, 3])
        #expect(request.claims.map(\.row) == claims.map(\.row))
        #expect(request.claims.map(\.base) == claims.map(\.base))
        #expect(request.claims.map { $0.base?.changeTag } == ["t1", nil])
        #expect(request.claims.allSatisfy { $0.document == nil })
        for claim in request.claims { try fixture.complete(claim, tag: "t2") }
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.forgetRequest(in: zone)
        }
        #expect(try fixture.store.syncState.sentRequest(in: zone) == nil)
        #expect(try fixture.pending() == ["later create"])
        let id = try #require(try fixture.record("a")).id
        #expect(try fixture.store.meta(of: id)?.changeTag == "t2")
    }

    @Test("the base of a change on its way is found although its record was deleted since")
    func sentDeleted() throws {
        try fixture.save("a", text(2))
        let claim = try #require(try fixture.claim().first)
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.keepRequest(
                [1], batch: claim.row.batch ?? 0, in: zone)
        }
        try fixture.delete(claim.row.record)
        let request = try #require(try fixture.store.syncState.sentRequest(in: zone))
        #expect(request.claims.first?.base == claim.base)
        try fixture.complete(try #require(request.claims.first), tag: "t2")
        #expect(try fixture.claim().map { $0.base?.changeTag } == ["t2"])
    }

    @Test("what nobody sends any more is released in its zone alone")
    func release() throws {
        try fixture.save("a", text(2))
        _ = try fixture.claim()
        let own = try fixture.write { transaction throws(RecordError) in
            let zone = try transaction.makeZone(.private, .me, ZoneName("Own"))
            let type = try transaction.makeType(zone.id, RecordTypeName("Note"))
            _ = try transaction.records.save(
                text: Array("{}".utf8), type: type.id, stem: Stem("o"))
            return zone.id
        }
        try fixture.write(.sync) { transaction throws(RecordError) in
            _ = try transaction.outbox.claimOutbox(in: own)
            try transaction.outbox.releaseOutbox(in: zone)
        }
        #expect(try fixture.pending() == ["a update", "o create*"])
    }
}
