import RecordModel
import RecordStore
import RecordStoreSync
import Testing

@Suite struct RemoteTests {
    @Test("a record of the server is printed, is not pending, and keeps the server's times")
    func create() throws {
        let fixture = try StoreFixture()
        let change = RemoteChange(
            type: RecordTypeName("Recipe"), name: RecordName("a"),
            operation: .upsert(
                [
                    RecordField(name: FieldName("title"), value: .string("Soup")),
                    RecordField(name: FieldName("at"), value: .timestamp(milliseconds: 0)),
                ], parent: RecordName("p")), changeTag: "r1",
            created: Timestamp(seconds: 100), createdBy: "_x", modified: Timestamp(seconds: 200),
            modifiedBy: "_y")
        let result = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.feed.applyRemote(change, in: fixture.zone.id)
        }
        let id = try #require(result.id)
        #expect(result.outcome == .created)
        let meta = try #require(try fixture.store.meta(of: id))
        #expect(meta.changeTag == "r1")
        #expect(meta.createdBy == "_x")
        #expect(meta.modifiedBy == "_y")
        #expect(meta.created == Timestamp(seconds: 100))
        #expect(!meta.isPending)
        #expect(try fixture.store.record(id)?.modified == Timestamp(seconds: 200))
        let text = try #require(try fixture.savedText(id))
        let document = try RecordDocument(
            parsing: Array(text.utf8),
            schema: try fixture.store.schema(of: RecordTypeName("Recipe")))
        #expect(document.parent == RecordName("p"))
        #expect(document[FieldName("at")] == .timestamp(milliseconds: 0))
        #expect(fixture.changes().map(\.author) == [.sync, .sync])
        try fixture.expectSound()
    }

    @Test("an update of the server replaces only what it changes in the text")
    func formatPreserved() throws {
        let fixture = try StoreFixture()
        let text = "{\n\t\"b\" : 1e0,\n\t\"a\": \"x\"\n}\n"
        let id = try fixture.save("a", text).id
        try fixture.sendAll()
        try fixture.upsert("a", ["a": .string("y"), "b": .double(1)], tag: "r2")
        #expect(try fixture.savedText(id) == "{\n\t\"b\" : 1e0,\n\t\"a\": \"y\"\n}\n")
        #expect(try fixture.pending().isEmpty)
        #expect(
            try fixture.upsert("a", ["a": .string("y"), "b": .double(1)]).outcome == .unchanged)
        #expect(try fixture.kinds("a") == [.created, .updated])
    }

    @Test(
        "pending fields stay, the server's other fields come, and conflicts are told"
    )
    func merge() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1,"m":1,"k":1}"#).id
        try fixture.sendAll()
        try fixture.save("a", #"{"n":2,"m":2,"k":1}"#)
        let result = try fixture.upsert("a", ["n": .int64(1), "m": .int64(3), "k": .int64(4)])
        #expect(result.conflicts == [FieldName("m")])
        #expect(try fixture.savedText(id) == #"{"n":2,"m":2,"k":4}"#)
        #expect(try fixture.pending() == ["a update"])
        #expect(try fixture.store.meta(of: id)?.changeTag == "r1")
        try fixture.expectSound()
    }

    @Test("what is on its way counts as pending too")
    func mergeWhileSending() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1,"m":1}"#).id
        try fixture.sendAll()
        try fixture.save("a", #"{"n":2,"m":1}"#)
        let row = try #require(try fixture.claim().first)
        try fixture.upsert("a", ["n": .int64(1), "m": .int64(5)])
        #expect(try fixture.savedText(id) == #"{"n":2,"m":5}"#)
        try fixture.fail(row)
        #expect(try fixture.pending() == ["a update"])
        try fixture.expectSound()
    }

    @Test("a parent that changed on one side only is that side's")
    func parents() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1,"$parent":"p"}"#).id
        try fixture.sendAll()
        try fixture.save("a", #"{"n":1,"$parent":"mine"}"#)
        #expect(try fixture.upsert("a", ["n": .int64(2)], parent: "p").conflicts.isEmpty)
        #expect(try fixture.savedText(id) == #"{"n":2,"$parent":"mine"}"#)
        try fixture.sendAll(tag: "t2")
        try fixture.upsert("a", ["n": .int64(2)], parent: "theirs", tag: "r3")
        #expect(try fixture.savedText(id) == #"{"n":2,"$parent":"theirs"}"#)
    }

    @Test("a record made on both sides is merged and then an update")
    func madeOnBothSides() throws {
        let fixture = try StoreFixture()
        try fixture.save("a", #"{"n":1}"#)
        let result = try fixture.upsert("a", ["n": .int64(2), "m": .int64(3)])
        #expect(result.conflicts == [FieldName("n")])
        #expect(try fixture.text("a") == #"{"n":1,"m":3}"#)
        #expect(try fixture.pending() == ["a update"])
    }

    @Test("a record of another type comes: the one that was never sent gets the longer name")
    func otherType() throws {
        let fixture = try StoreFixture()
        let mine = try fixture.save("a", #"{"n":1}"#).id
        let result = try fixture.upsert("a", ["n": .int64(2)], type: "Task")
        #expect(result.outcome == .created)
        #expect(try fixture.store.meta(of: mine)?.name == RecordName("a:Note"))
        #expect(try fixture.record("a")?.id == mine)
        #expect(try fixture.record("a", type: fixture.task)?.id == result.id)
        #expect(try fixture.pending() == ["a:Note create"])
        try fixture.expectSound()
    }

    @Test("a deletion by the server takes the record into the trash, with no outgoing change")
    func delete() throws {
        let fixture = try StoreFixture()
        try fixture.save("a", #"{"n":1}"#)
        try fixture.sendAll()
        #expect(try fixture.remoteDelete("a").outcome == .deleted)
        #expect(try fixture.record("a") == nil)
        #expect(try fixture.pending().isEmpty)
        #expect(try fixture.store.past.trash(in: fixture.note).map(\.author) == [.sync])
        #expect(try fixture.remoteDelete("a").outcome == .absent)
        try fixture.expectSound()
    }

    @Test("a deletion by the server loses against an edit that waits or is on its way")
    func deleteAgainstEdit() throws {
        for isClaimed in [false, true] {
            let fixture = try StoreFixture()
            let id = try fixture.save("a", #"{"n":1}"#).id
            try fixture.sendAll()
            try fixture.save("a", #"{"n":2}"#)
            let row = isClaimed ? try fixture.claim().first : nil
            #expect(try fixture.remoteDelete("a").outcome == .kept)
            if let row { try fixture.fail(row) }
            #expect(try fixture.pending() == ["a create"])
            #expect(try fixture.store.meta(of: id)?.changeTag == "")
            try fixture.expectSound()
        }
    }

    @Test(
        "an edit by the server wins against a delete here, but the state that was deleted does not")
    func editAgainstDelete() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.sendAll(tag: "t1")
        try fixture.beginDelete(id)
        #expect(try fixture.upsert("a", ["n": .int64(1)], tag: "t1").outcome == .unchanged)
        #expect(try fixture.record("a")?.state == .waitingDelete)
        #expect(try fixture.upsert("a", ["n": .int64(2)], tag: "t2").outcome == .updated)
        #expect(try fixture.record("a")?.state == .saved)
        try fixture.delete(id)
        #expect(try fixture.upsert("a", ["n": .int64(2)], tag: "t2").outcome == .unchanged)
        #expect(try fixture.pending() == ["a delete"])
        #expect(try fixture.upsert("a", ["n": .int64(3)], tag: "t3").outcome == .created)
        #expect(try fixture.pending().isEmpty)
        try fixture.expectSound()
    }

    @Test("a deletion on both sides leaves nothing to send")
    func deletedOnBothSides() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.sendAll()
        try fixture.save("a", #"{"n":2}"#)
        try fixture.beginDelete(id)
        #expect(try fixture.remoteDelete("a").outcome == .deleted)
        #expect(try fixture.pending().isEmpty)
        let other = try fixture.save("b", #"{"n":1}"#).id
        try fixture.sendAll()
        try fixture.delete(other)
        #expect(try fixture.remoteDelete("b").outcome == .absent)
        #expect(try fixture.pending().isEmpty)
        try fixture.expectSound()
    }

    @Test("remote changes are refused from another author")
    func author() throws {
        let fixture = try StoreFixture()
        let change = RemoteChange(
            type: RecordTypeName("Note"), name: RecordName("a"),
            operation: .delete)
        let error = failure {
            try fixture.write(.mount) { transaction throws(RecordError) in
                try transaction.feed.applyRemote(change, in: fixture.zone.id)
            }
        }
        #expect(error?.code == .invalidArgument)
    }
}
