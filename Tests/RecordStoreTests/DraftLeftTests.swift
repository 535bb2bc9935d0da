import RecordModel
import RecordStore
import RecordStoreSync
import Testing

/// A refused text exists nowhere else: it outlives whatever takes its record away.
@Suite struct DraftLeftTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test("a settlement that deletes the record leaves a refused text in its file")
    func settlement() throws {
        try fixture.upsert("a", ["n": .int64(1)])
        try fixture.save("a", #"{"n":2}"#)
        try fixture.remoteDelete("a")
        _ = try fixture.draft("a", "{ half")
        let conflict = try #require(
            try fixture.store.syncState.conflicts(in: fixture.zone.id).first
        ).id
        try fixture.write { transaction throws(RecordError) in
            try transaction.merging.settle(conflict, .side(.theirs))
        }
        #expect(try fixture.text("a") == "{ half")
        let entry = try #require(try fixture.record("a"))
        #expect(entry.state == .draftOnly && entry.hasDraft)
        #expect(try fixture.trashed() == ["a"] && fixture.conflicts() == [])
        try fixture.expectSound()
    }

    @Test("a text that was refused as the merge goes with the record that the merge deletes")
    func refusedMerge() throws {
        try fixture.upsert("a", ["n": .int64(1)])
        try fixture.save("a", #"{"n":2}"#)
        try fixture.remoteDelete("a")
        let conflict = try #require(
            try fixture.store.syncState.conflicts(in: fixture.zone.id).first
        ).id
        try fixture.write { transaction throws(RecordError) in
            try transaction.merging.keepDraft(
                Array("{ a merge".utf8), of: conflict,
                because: RecordError(.invalidJSON, "expected a value"))
            try transaction.merging.settle(conflict, .side(.theirs))
        }
        #expect(try fixture.record("a") == nil)
        try fixture.expectSound()
    }

    /// Somebody moves a record that was edited here to the place of another one, and both files here
    /// show refused texts.
    @Test("of two refused texts that meet at one place one is in the file and one in the trash")
    func moved() throws {
        let (own, type) = try fixture.write { transaction throws(RecordError) in
            let own = try transaction.makeZone(.private, .me, ZoneName("Own"))
            return (own, try transaction.makeType(own.id, RecordTypeName("Note")).id)
        }
        try fixture.upsert("a", ["n": .int64(1), "m": .int64(1)])
        try fixture.save("a", #"{"n":1,"m":2}"#)
        _ = try fixture.draft("a", "{ at the old place")
        try fixture.apply(fixture.page([StoreFixture.told("a", n: 5, tag: "r2")], in: own.id))
        _ = try fixture.write { transaction throws(RecordError) in
            try transaction.records.saveDraft(
                text: Array("{ at the new place".utf8), type: type, stem: Stem("a"),
                error: RecordError(.invalidJSON, "expected a value"))
        }
        let address = RecordAddress(
            zone: own.name, type: RecordTypeName("Note"), name: RecordName("a"))
        try fixture.apply(
            fixture.page([RemoteChange(deleted: RecordName("a"), movedTo: address)]))
        #expect(try fixture.record("a") == nil)
        #expect(try fixture.text("a", type: type) == "{ at the new place")
        let id = try #require(try fixture.record("a", type: type)).id
        let saved = try #require(try fixture.savedText(id)).filter { !$0.isWhitespace }
        #expect(saved == #"{"n":5,"m":2}"#)
        let trash = try fixture.store.past.trash(in: fixture.note).map {
            String(decoding: try fixture.store.past.trashed($0.id)?.text ?? [], as: UTF8.self)
        }
        #expect(trash.contains("{ at the old place"))
        try fixture.expectSound()
    }
}
