import RecordModel
import RecordStore
import RecordStoreSync
import Testing

@Suite("Remote changes beside local ones")
struct RemoteChangeTests {
    private static let base: KeyValuePairs<String, FieldValue> = [
        "x": .string("base"), "y": .string("base"),
    ]

    @Test("an edit on its way to the server wins over a remote one of the same field")
    func claimedEditWins() throws {
        let fixture = try StoreFixture()
        try fixture.upsert("a", Self.base, tag: "1")
        try fixture.save("a", #"{"x": "mine", "y": "base"}"#)
        #expect(try fixture.claim().count == 1)
        let result = try fixture.upsert(
            "a", ["x": .string("theirs"), "y": .string("theirs")], tag: "2")
        #expect(result.conflicts == [FieldName("x")])
        #expect(try fixture.text("a") == #"{"x": "mine", "y": "theirs"}"#)
        try fixture.expectSound()
    }

    @Test("what arrived, though its answer got lost, is known field by field")
    func arrivedInPart() throws {
        let fixture = try StoreFixture()
        try fixture.save("a", #"{"p":1}"#)
        try fixture.fail(try #require(try fixture.claim().first))
        try fixture.save("a", #"{"q":1}"#)
        // Somebody else has added to it meanwhile.
        let result = try fixture.upsert("a", ["p": .int64(1), "z": .int64(9)], tag: "1")
        #expect(result.conflicts.isEmpty)
        #expect(try fixture.text("a") == #"{"q":1,"z":9}"#)
        let claim = try #require(try fixture.claim().first)
        #expect(Set(claim.changedFields) == [FieldName("p"), FieldName("q")])
        try fixture.expectSound()
    }

    @Test("a plain value that the server marks as JSON makes a field of JSON, in its place")
    func plainJSON() throws {
        let fixture = try StoreFixture()
        try fixture.upsert("a", ["p": .int64(1), "w": .json(1), "q": .string("x")])
        try fixture.upsert("b", ["w": .json("x")])
        let schema = try fixture.store.schema(of: RecordTypeName("Note"))
        #expect(schema.fields.map(\.name.description) == ["p", "w", "q"])
        #expect(schema.fields.map(\.type) == [.int64, .json, .string])
        #expect(try fixture.text("b") == "{\n  \"w\": \"x\"\n}\n")
        // A field that has a type here keeps it.
        try fixture.upsert("c", ["p": .json(2)])
        #expect(try fixture.store.schema(of: RecordTypeName("Note")) == schema)
        try fixture.expectSound()
    }

    @Test("a pending $parent stays when another field changes on the server")
    func pendingParent() throws {
        let fixture = try StoreFixture()
        try fixture.upsert("a", ["x": .string("base")], tag: "1")
        try fixture.save("a", #"{"x": "base", "$parent": "p"}"#)
        let result = try fixture.upsert("a", ["x": .string("theirs")], tag: "2")
        #expect(result.conflicts.isEmpty)
        #expect(try fixture.text("a") == #"{"x": "theirs", "$parent": "p"}"#)
    }

    @Test("a $parent that both sides set differently is a conflict")
    func parentConflict() throws {
        let fixture = try StoreFixture()
        try fixture.upsert("a", ["x": .string("base")], tag: "1")
        try fixture.save("a", #"{"x": "base", "$parent": "p"}"#)
        let result = try fixture.upsert("a", ["x": .string("base")], parent: "q", tag: "2")
        #expect(result.conflicts == [FieldName("$parent")])
        #expect(try fixture.text("a") == #"{"x": "base", "$parent": "p"}"#)
    }

    @Test("a pending edit that the server has by itself is not sent again")
    func sameEditOnBothSides() throws {
        let fixture = try StoreFixture()
        try fixture.upsert("a", ["x": .string("base")], tag: "1")
        try fixture.save("a", #"{"x": "new"}"#)
        try fixture.upsert("a", ["x": .string("new")], tag: "2")
        #expect(try fixture.pending() == [])
    }

    @Test("a remote deletion leaves what is typed in the file as a draft")
    func deletionKeepsDraft() throws {
        let fixture = try StoreFixture()
        try fixture.upsert("a", ["x": .string("base")], tag: "1")
        _ = try fixture.draft("a", "{ half")
        #expect(try fixture.remoteDelete("a").outcome == .deleted)
        #expect(try fixture.text("a") == "{ half")
        #expect(try fixture.record("a")?.state == .draftOnly)
        #expect(try fixture.store.past.trash(in: fixture.note).count == 1)
        try fixture.expectSound()
    }

    @Test("a record that comes from the server leaves the draft of its name in the file")
    func creationKeepsDraft() throws {
        let fixture = try StoreFixture()
        let draft = try fixture.draft("a", "{ half")
        let result = try fixture.upsert("a", ["x": .string("base")], tag: "1")
        #expect(result.id == draft.id)
        #expect(try fixture.text("a") == "{ half")
        #expect(try fixture.savedText(draft.id)?.contains("base") == true)
        #expect(try fixture.record("a")?.state == .saved)
        try fixture.expectSound()
    }

    @Test("an edit on the server wins over a deletion here, which is not sent")
    func editWinsOverDeletion() throws {
        let fixture = try StoreFixture()
        let id = try #require(try fixture.upsert("a", ["x": .string("base")], tag: "1").id)
        try fixture.delete(id)
        #expect(try fixture.pending() == ["a delete"])
        try fixture.upsert("a", ["x": .string("theirs")], tag: "2")
        #expect(try fixture.pending() == [])
        #expect(try fixture.text("a")?.contains("theirs") == true)
    }

    @Test("the state that was deleted here does not come back when the server repeats it")
    func echoOfDeleted() throws {
        let fixture = try StoreFixture()
        let id = try #require(try fixture.upsert("a", ["x": .string("base")], tag: "1").id)
        try fixture.delete(id)
        #expect(try fixture.upsert("a", ["x": .string("base")], tag: "1").outcome == .unchanged)
        #expect(try fixture.pending() == ["a delete"])
        #expect(try fixture.record("a") == nil)
    }

    @Test("a deletion that the server refuses is dropped when the record came back meanwhile")
    func refusedDeletion() throws {
        let fixture = try StoreFixture()
        let id = try #require(try fixture.upsert("a", ["x": .string("base")], tag: "1").id)
        try fixture.delete(id)
        let row = try #require(try fixture.claim().first)
        try fixture.upsert("a", ["x": .string("theirs")], tag: "2")
        try fixture.fail(row)
        #expect(try fixture.pending() == [])
        #expect(try fixture.record("a")?.state == .saved)
    }

    @Test("a deletion on the server of a record that waits here leaves nothing to send")
    func deletionOfWaiting() throws {
        let fixture = try StoreFixture()
        try fixture.upsert("a", ["x": .string("base")], tag: "1")
        let id = try fixture.save("a", #"{"x": "mine"}"#).id
        try fixture.beginDelete(id)
        try fixture.remoteDelete("a")
        #expect(try fixture.pending() == [])
        try fixture.expectSound()
    }

    @Test("an edit on its way to the server is made anew there after a remote deletion")
    func claimedEditAfterDeletion() throws {
        let fixture = try StoreFixture()
        try fixture.upsert("a", ["x": .string("base")], tag: "1")
        try fixture.save("a", #"{"x": "mine"}"#)
        let row = try #require(try fixture.claim().first)
        #expect(try fixture.remoteDelete("a").outcome == .kept)
        try fixture.fail(row)
        #expect(try fixture.pending() == ["a create"])
        #expect(try fixture.text("a") == #"{"x": "mine"}"#)
        try fixture.expectSound()
    }

    @Test("a record that waits for its deletion stays so when the server repeats its state")
    func echoOfWaiting() throws {
        let fixture = try StoreFixture()
        let id = try #require(try fixture.upsert("a", ["x": .string("base")], tag: "1").id)
        try fixture.beginDelete(id)
        try fixture.upsert("a", ["x": .string("base")], tag: "1")
        #expect(try fixture.record("a")?.state == .waitingDelete)
        try fixture.upsert("a", ["x": .string("theirs")], tag: "2")
        #expect(try fixture.record("a")?.state == .saved)
        #expect(fixture.changes().last?.kind == .restored)
    }

    @Test("a record that the server does not know keeps its file when its name comes as another")
    func nameTakenByAnotherType() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"x": "mine"}"#).id
        try fixture.upsert("a", ["y": .string("theirs")], type: "Task", tag: "1")
        #expect(try fixture.text("a") == #"{"x": "mine"}"#)
        #expect(try fixture.store.meta(of: id)?.name == RecordName("a:Note"))
        #expect(try fixture.pending() == ["a:Note create"])
        #expect(try fixture.record("a", type: fixture.task)?.state == .saved)
        try fixture.expectSound()
    }
}
