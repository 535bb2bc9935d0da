import RecordModel
import RecordStore
import RecordStoreSync
import Testing

/// What the engine gets to send, and in which order.
@Suite struct ClaimTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func names(_ limits: ClaimLimits = ClaimLimits()) throws -> [String] {
        try fixture.claim(limits).map(\.row.name.description)
    }

    @Test("a claim has the record as it is and what the server had of it")
    func content() throws {
        try fixture.save("a", #"{"n":1}"#)
        let create = try #require(try fixture.claim().first)
        #expect(create.base == nil)
        #expect(create.document?.text == Array(#"{"n":1}"#.utf8))
        #expect(create.fileText == create.document?.text && create.bytes == 14)
        try fixture.complete(create, tag: "t1")

        try fixture.save("a", #"{"n":2}"#)
        let update = try #require(try fixture.claim().first)
        #expect(update.row.operation == .update)
        #expect(update.base?.changeTag == "t1")
        #expect(update.base?.text == Array(#"{"n":1}"#.utf8))
        #expect(update.document?.text == Array(#"{"n":2}"#.utf8))
        try fixture.complete(update, tag: "t2")

        try fixture.delete(try #require(try fixture.record("a")).id)
        let delete = try #require(try fixture.claim().first)
        #expect(delete.row.operation == .delete && delete.document == nil)
        #expect(delete.base?.changeTag == "t2")
        #expect(delete.base?.text == Array(#"{"n":2}"#.utf8))
    }

    @Test("a base that the server merged is kept though no version has it")
    func mergedBase() throws {
        try fixture.save("a", #"{"n":1,"m":1}"#)
        try fixture.sendAll(tag: "t1")
        try fixture.save("a", #"{"n":2,"m":1}"#)
        _ = try fixture.upsert("a", ["n": .int64(1), "m": .int64(5)], tag: "t2")
        let claim = try #require(try fixture.claim().first)
        #expect(try fixture.text("a") == #"{"n":2,"m":5}"#)
        #expect(claim.base?.changeTag == "t2")
        let base = try #require(claim.base?.text)
        #expect(
            try RecordDocument(
                parsing: base, schema: try fixture.store.schema(of: RecordTypeName("Note"))
            )
            .hasSameValues(
                as: try RecordDocument(
                    parsing: Array(#"{"n":1,"m":5}"#.utf8),
                    schema: try fixture.store.schema(of: RecordTypeName("Note")))))
        try fixture.expectSound()
    }

    @Test("parents and targets of references go before what needs them, however late they came")
    func order() throws {
        try fixture.save("leaf", #"{"$parent":"twig"}"#)
        try fixture.save("note", #"{"to":{"$ref":"leaf"}}"#)
        try fixture.save("twig", #"{"$parent":"stem"}"#)
        try fixture.save("far", #"{"to":{"$ref":"x","zone":"Elsewhere"}}"#)
        try fixture.save("list", #"{"all":[{"$ref":"stem"},{"$ref":"twig"}]}"#)
        try fixture.save("stem", #"{"n":1}"#)
        #expect(try names() == ["stem", "twig", "leaf", "note", "far", "list"])
    }

    @Test("records that refer to each other go as they come")
    func cycle() throws {
        try fixture.save("a", #"{"to":{"$ref":"b"}}"#)
        try fixture.save("b", #"{"to":{"$ref":"c"}}"#)
        try fixture.save("c", #"{"to":{"$ref":"a"}}"#)
        try fixture.save("self", #"{"to":{"$ref":"self"}}"#)
        #expect(try Set(names()) == ["a", "b", "c", "self"])
    }

    @Test("a child waits for a parent that is on its way, and goes when it has arrived")
    func parentInFlight() throws {
        try fixture.save("parent", #"{"n":1}"#)
        let parent = try #require(try fixture.claim().first)
        try fixture.save("child", #"{"$parent":"parent"}"#)
        try fixture.save("other", #"{"n":1}"#)
        #expect(try names() == ["other"])
        try fixture.complete(parent)
        #expect(try names() == ["child"])
    }

    @Test("a child waits for a parked parent, and holds nothing else")
    func parkedParent() throws {
        let parent = try fixture.save("parent", #"{"n":1}"#).id
        try fixture.fail(try #require(try fixture.claim().first), error: "quota")
        for number in 0..<300 {
            try fixture.save("child\(number)", #"{"$parent":"parent"}"#)
        }
        try fixture.save("other", #"{"n":1}"#)
        #expect(try names() == ["other"])
        try fixture.write { transaction throws(RecordError) in
            try transaction.outbox.retryOutbox(parent)
        }
        let claimed = try names(ClaimLimits(records: 400))
        #expect(claimed.first == "parent" && claimed.count == 301)
    }

    @Test("a long chain of parents is taken from its root on")
    func chain() throws {
        let length = 1000
        for number in (1...length).reversed() {
            try fixture.save("r\(number)", "{\"$parent\":\"r\(number - 1)\"}")
        }
        try fixture.save("r0", "{}")
        let claimed = try names(ClaimLimits(records: 300))
        #expect(claimed == (0..<300).map { "r\($0)" })
    }

    @Test("a request holds as many records and bytes as it may, and at least one record")
    func limits() throws {
        let text = "{\"s\":\"\(String(repeating: "x", count: 92))\"}"
        for number in 0..<6 { try fixture.save("r\(number)", text) }
        #expect(try names(ClaimLimits(records: 2, bytes: 10_000)) == ["r0", "r1"])
        #expect(try names(ClaimLimits(records: 9, bytes: 600)) == ["r2", "r3", "r4"])
        #expect(try names(ClaimLimits(records: 9, bytes: 10)) == ["r5"])
    }

    @Test("a claim is of one zone")
    func zones() throws {
        let zone = try fixture.write { transaction throws(RecordError) in
            try transaction.makeZone(.private, .me, ZoneName("Other"))
        }
        let type = try fixture.write { transaction throws(RecordError) in
            try transaction.makeType(zone.id, RecordTypeName("Note")).id
        }
        try fixture.save("a", "{}")
        try fixture.save("b", "{}", type: type)
        #expect(try names() == ["a"])
        let others = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.claimOutbox(in: zone.id)
        }
        #expect(others.map(\.row.name.description) == ["b"])
    }

    // MARK: Lost answers

    @Test("a record that arrived although its answer got lost is no conflict with its next edit")
    func lostCreate() throws {
        try fixture.save("a", #"{"n":1,"m":1}"#)
        let claim = try #require(try fixture.claim().first)
        try fixture.save("a", #"{"n":2,"m":1}"#)
        try fixture.fail(claim)
        let result = try fixture.upsert("a", ["n": .int64(1), "m": .int64(1)], tag: "t1")
        #expect(result.conflicts == [])
        #expect(try fixture.text("a") == #"{"n":2,"m":1}"#)
        let update = try #require(try fixture.claim().first)
        #expect(update.row.operation == .update && update.base?.changeTag == "t1")
    }

    @Test("what was sent and told before its failed answer is not sent again")
    func toldBeforeFailure() throws {
        try fixture.save("a", #"{"n":1}"#)
        let claim = try #require(try fixture.claim().first)
        _ = try fixture.upsert("a", ["n": .int64(1)], tag: "t1")
        try fixture.fail(claim)
        #expect(try fixture.pending() == [])
        try fixture.expectSound()
    }

    @Test("a record deleted after a lost answer stays deleted, on the tag that it arrived with")
    func lostCreateDeleted() throws {
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.fail(try #require(try fixture.claim().first))
        try fixture.delete(id)
        #expect(try fixture.upsert("a", ["n": .int64(1)], tag: "t1").outcome == .unchanged)
        #expect(try fixture.record("a") == nil)
        let delete = try #require(try fixture.claim().first)
        #expect(delete.row.operation == .delete && delete.base?.changeTag == "t1")
    }

    @Test("somebody's edit of a record that is being deleted brings it back, its echo does not")
    func deleteInFlight() throws {
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.sendAll(tag: "t1")
        try fixture.delete(id)
        let delete = try #require(try fixture.claim().first)
        #expect(try fixture.upsert("a", ["n": .int64(1)], tag: "t1").outcome == .unchanged)
        #expect(try fixture.record("a") == nil)
        // The server refuses the delete, which is of t1.
        #expect(try fixture.upsert("a", ["n": .int64(9)], tag: "t2").outcome == .created)
        try fixture.fail(delete)
        #expect(try fixture.pending() == [])
        #expect(try fixture.text("a")?.contains("9") == true)
        // And it can go again, by whoever has it.
        #expect(try fixture.remoteDelete("a").outcome == .deleted)
        try fixture.expectSound()
    }

    @Test("an answer that comes after news of a later change does not put the base back")
    func lateAnswer() throws {
        let id = try fixture.save("a", #"{"n":1}"#).id
        let claim = try #require(try fixture.claim().first)
        _ = try fixture.upsert("a", ["n": .int64(5)], tag: "t2")
        try fixture.complete(claim, tag: "t1")
        #expect(try fixture.store.meta(of: id)?.changeTag == "t2")
    }

    @Test("a parent that is made again while its deletion is on its way holds its child back")
    func parentMadeAgain() throws {
        let parent = try fixture.save("parent", #"{"n":1}"#).id
        try fixture.sendAll(tag: "t1")
        try fixture.delete(parent)
        let delete = try #require(try fixture.claim().first)
        try fixture.save("parent", #"{"n":2}"#)
        try fixture.save("child", #"{"$parent":"parent"}"#)
        #expect(try fixture.claim().isEmpty)
        try fixture.complete(delete)
        #expect(try fixture.claim().map(\.row.name.description) == ["parent", "child"])
    }

    @Test("a deletion that fails puts no base back that the server has told of anew since")
    func failedDelete() throws {
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.sendAll(tag: "t1")
        try fixture.delete(id)
        let delete = try #require(try fixture.claim().first)
        try fixture.save("a", #"{"n":1,"k":1}"#)
        _ = try fixture.upsert("a", ["n": .int64(1), "m": .int64(5)], tag: "t2")
        try fixture.fail(delete)
        let update = try #require(try fixture.claim().first)
        #expect(update.base?.changeTag == "t2" && update.changedFields == [FieldName("k")])
    }
}
