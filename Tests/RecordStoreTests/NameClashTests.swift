import RecordModel
import RecordStore
import RecordStoreSync
import Testing

@Suite struct NameClashTests {
    @Test("a stem that another type has taken gives the record the name STEM:TYPE")
    func clash() throws {
        let fixture = try StoreFixture()
        let first = try fixture.save("x", #"{"n":1}"#).id
        let second = try fixture.save("x", #"{"n":1}"#, type: fixture.task).id
        #expect(try fixture.store.meta(of: first)?.name == RecordName("x"))
        #expect(try fixture.store.meta(of: second)?.name == RecordName("x:Task"))
        #expect(
            try fixture.store.record(named: RecordName("x:Task"), in: fixture.zone.id)?.stem
                == Stem("x"))
        #expect(try fixture.pending() == ["x create", "x:Task create"])
        try fixture.expectSound()
    }

    @Test("the clash is the same the other way round, and a third name is refused")
    func otherWay() throws {
        let fixture = try StoreFixture()
        let task = try fixture.save("x", "{}", type: fixture.task).id
        let note = try fixture.save("x", "{}").id
        #expect(try fixture.store.meta(of: task)?.name == RecordName("x"))
        #expect(try fixture.store.meta(of: note)?.name == RecordName("x:Note"))
        #expect(failure { try fixture.save("x:Note", "{}") }?.code == .invalidName)
        try fixture.expectSound()
    }

    @Test(
        "a waiting deletion whose name the server still has goes on waiting, for it frees nothing")
    func waitingAtServer() throws {
        let fixture = try StoreFixture()
        let task = try fixture.save("x", #"{"n":1}"#, type: fixture.task).id
        try fixture.sendAll()
        try fixture.beginDelete(task)
        let note = try fixture.save("x", "{}").id
        #expect(try fixture.store.meta(of: note)?.name == RecordName("x:Note"))
        #expect(try fixture.record("x", type: fixture.task)?.state == .waitingDelete)
        #expect(try fixture.save("x", #"{"n":2}"#, type: fixture.task).id == task)
        try fixture.expectSound()
    }

    @Test("a name is free again when the other type's record waits for its deletion")
    func waiting() throws {
        let fixture = try StoreFixture()
        let task = try fixture.save("x", "{}", type: fixture.task).id
        try fixture.beginDelete(task)
        let note = try fixture.save("x", "{}").id
        #expect(try fixture.store.meta(of: note)?.name == RecordName("x"))
        #expect(try fixture.record("x", type: fixture.task) == nil)
        #expect(try fixture.store.past.trash(in: fixture.task).map(\.name) == [RecordName("x")])
        try fixture.expectSound()
    }

    @Test("names that differ only in their normal form are two records")
    func normalForms() throws {
        let fixture = try StoreFixture()
        let composed = try fixture.save("caf\u{E9}", #"{"n":1}"#).id
        let decomposed = try fixture.save("cafe\u{301}", #"{"n":2}"#).id
        #expect(composed != decomposed)
        #expect(try fixture.text("caf\u{E9}") == #"{"n":1}"#)
    }

    @Test("a record of the server named X:TYPE shows as X, and makes room when X comes")
    func remoteNames() throws {
        let fixture = try StoreFixture()
        let long = try #require(try fixture.upsert("x:Note", ["n": .int64(1)]).id)
        #expect(try fixture.record("x")?.id == long)
        let short = try #require(try fixture.upsert("x", ["n": .int64(2)]).id)
        #expect(try fixture.record("x")?.id == short)
        #expect(try fixture.record("x:Note")?.id == long)
        #expect(try fixture.upsert("x:Note", ["n": .int64(3)]).id == long)
        try fixture.expectSound()
    }

    @Test("a record of the server named X:TYPE shows as X although X is a draft, or has files only")
    func remoteNamesOverDrafts() throws {
        let fixture = try StoreFixture()
        let draft = try fixture.draft("x", "{ half").id
        #expect(try fixture.upsert("x:Note", ["n": .int64(1)]).id == draft)
        #expect(try fixture.text("x") == "{ half")
        let entry = try fixture.write { transaction throws(RecordError) in
            try transaction.records.discardDraft(draft)
        }
        #expect(entry?.stem == Stem("x"))
        #expect(try fixture.text("x")?.contains(#""n": 1"#) == true)
        #expect(try fixture.record("x:Note") == nil)
        let held = try fixture.hold("y", "photo", bytes: "b")
        #expect(try fixture.upsert("y:Note", ["n": .int64(1)]).id == held)
        #expect(try fixture.record("y")?.isHidden == false)
        #expect(try fixture.files(held) == ["y@photo.bin=b"])
        try fixture.expectSound()
    }
}
