import RecordModel
import RecordStore
import RecordStoreSync
import Testing

@Suite struct DraftTests {
    @Test("a draft beside a record is what the file shows; the record stays, until a save")
    func besideRecord() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        let entry = try fixture.draft("a", #"{"n":"#)
        #expect(entry.id == id)
        #expect(entry.hasDraft)
        #expect(entry.size == 5)
        #expect(try fixture.text("a") == #"{"n":"#)
        #expect(try fixture.savedText(id) == #"{"n":1}"#)
        let draft = try #require(try fixture.store.draft(of: id))
        #expect(draft.error.code == .invalidJSON)
        #expect(draft.error.position == TextPosition(line: 1, column: 2, offset: 1))
        #expect(try fixture.store.drafts(in: fixture.note) == [draft])
        try fixture.expectSound()
        #expect(try fixture.save("a", #"{"n":1}"#).outcome == .unchanged)
        #expect(try fixture.record("a")?.hasDraft == false)
        #expect(try fixture.store.drafts().isEmpty)
        #expect(try fixture.kinds("a") == [.created])
        try fixture.expectSound()
    }

    @Test("a draft of a new name becomes its record with the same number")
    func ofNewName() throws {
        let fixture = try StoreFixture()
        let entry = try fixture.draft("a", "{")
        #expect(entry.state == .draftOnly)
        #expect(try fixture.store.savedText(of: entry.id) == nil)
        #expect(try fixture.store.records(in: fixture.note, limit: 10).map(\.id) == [entry.id])
        #expect(try fixture.pending().isEmpty)
        let result = try fixture.save("a", "{}")
        #expect(result.outcome == .created)
        #expect(result.id == entry.id)
        #expect(try fixture.record("a") == result.entry)
        try fixture.expectSound()
    }

    @Test("a discarded draft shows the record again, and one of a new name goes")
    func discarded() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        _ = try fixture.draft("a", "{")
        let entry = try fixture.write { transaction throws(RecordError) in
            try transaction.records.discardDraft(id)
        }
        #expect(entry?.size == 7)
        #expect(try fixture.text("a") == #"{"n":1}"#)
        let new = try fixture.draft("b", "{").id
        let nothing = try fixture.write { transaction throws(RecordError) in
            try transaction.records.discardDraft(new)
        }
        #expect(nothing == nil)
        #expect(try fixture.record("b") == nil)
        try fixture.expectSound()
    }

    @Test("a draft ends a waiting delete; deleting a draft of a new name leaves nothing")
    func deletes() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.beginDelete(id)
        #expect(try fixture.draft("a", "{").state == .saved)
        try fixture.beginDelete(id)
        #expect(try fixture.store.draft(of: id) == nil)
        let new = try fixture.draft("b", "{").id
        try fixture.beginDelete(new)
        #expect(try fixture.record("b") == nil)
        #expect(try fixture.store.past.trash(in: fixture.note).isEmpty)
        try fixture.expectSound()
    }

    @Test("a draft survives the server's change of its record and the server's deletion")
    func remote() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.sendAll()
        _ = try fixture.draft("a", #"{"n":"#)
        #expect(try fixture.upsert("a", ["n": .int64(2)]).outcome == .updated)
        #expect(try fixture.text("a") == #"{"n":"#)
        #expect(try fixture.savedText(id) == #"{"n":2}"#)
        try fixture.expectSound()
        #expect(try fixture.remoteDelete("a").outcome == .deleted)
        #expect(try fixture.text("a") == #"{"n":"#)
        #expect(try fixture.record("a")?.state == .draftOnly)
        #expect(try fixture.upsert("a", ["n": .int64(4)]).outcome == .created)
        #expect(try fixture.text("a") == #"{"n":"#)
        #expect(try fixture.record("a")?.hasDraft == true)
        try fixture.expectSound()
    }

    @Test("a rename takes the draft along")
    func renamed() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        _ = try fixture.draft("a", "{")
        let entry = try fixture.write { transaction throws(RecordError) in
            try transaction.records.rename(id, toType: fixture.note, stem: Stem("b"))
        }
        #expect(entry.hasDraft)
        #expect(try fixture.text("b") == "{")
        #expect(try fixture.savedText(entry.id) == #"{"n":1}"#)
        #expect(try fixture.record("a")?.state == .waitingDelete)
        try fixture.expectSound()
    }
}
