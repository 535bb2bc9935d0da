import RecordModel
import RecordStore
import TestSupport
import Testing

@Suite struct SavingTests {
    @Test("a new record is saved with its text, one version and one outgoing change")
    func create() throws {
        let fixture = try StoreFixture()
        let result = try fixture.save("soup", #"{"title": "Soup"}"#)
        #expect(result.outcome == .created)
        #expect(try fixture.text("soup") == #"{"title": "Soup"}"#)
        #expect(try fixture.record("soup") == result.entry)
        #expect(try fixture.kinds("soup") == [.created])
        #expect(try fixture.pending() == ["soup create"])
        try fixture.expectSound()
    }

    @Test("other values make a version; another layout only another text")
    func update() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1,"m":2}"#).id
        #expect(try fixture.save("a", "{ \"m\": 2,\n \"n\": 1 }").outcome == .unchanged)
        #expect(try fixture.text("a") == "{ \"m\": 2,\n \"n\": 1 }")
        #expect(try fixture.kinds("a") == [.created])
        let result = try fixture.save("a", #"{"n":3,"m":2}"#)
        #expect(result.outcome == .updated)
        #expect(result.id == id)
        let change = try #require(try fixture.store.past.changes(after: 0, limit: 10).last)
        #expect(change.changedFields == [FieldName("n")])
        #expect(try fixture.record("a") == result.entry)
        try fixture.expectSound()
    }

    @Test("the schema adopts new fields and then refuses another type, and nothing is stored")
    func schema() throws {
        let fixture = try StoreFixture()
        try fixture.save("a", #"{"n":1}"#)
        #expect(failure { try fixture.save("b", #"{"n":"x"}"#) }?.code == .schemaMismatch)
        #expect(try fixture.record("b") == nil)
        try fixture.save("c", #"{"n":1,"t":"x"}"#)
        let names = try fixture.store.schema(of: RecordTypeName("Note")).fields.map(\.name)
        #expect(names == [FieldName("n"), FieldName("t")])
        try fixture.reopen()
        #expect(try fixture.store.schema(of: RecordTypeName("Note")).fields.map(\.name) == names)
    }

    @Test("a schema that was adopted in a transaction that failed is forgotten")
    func rolledBackSchema() throws {
        let fixture = try StoreFixture()
        let error = failure {
            try fixture.write { transaction throws(RecordError) in
                _ = try transaction.records.save(
                    text: Array(#"{"n":1}"#.utf8), type: fixture.note, stem: Stem("a"))
                throw RecordError(.interrupted, "stop")
            }
        }
        #expect(error?.code == .interrupted)
        #expect(try fixture.store.schema(of: RecordTypeName("Note")).fields.isEmpty)
        #expect(try fixture.record("a") == nil)
        #expect(try fixture.outbox().isEmpty)
        #expect(fixture.changes().isEmpty)
        #expect(try fixture.save("a", #"{"n":"text"}"#).outcome == .created)
    }

    @Test("a name that is not canonical is refused")
    func invalidName() throws {
        let fixture = try StoreFixture()
        #expect(failure { try fixture.save("a%2f", "{}") }?.code == .invalidName)
        #expect(failure { try fixture.save("%41", "{}") }?.code == .invalidName)
    }

    @Test("the changes of the local database are never outgoing")
    func localDatabase() throws {
        let fixture = try StoreFixture(.local)
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.save("a", #"{"n":2}"#)
        try fixture.delete(id)
        #expect(try fixture.outbox().isEmpty)
        #expect(try fixture.kinds("a") == [.created, .updated, .deleted])
    }

    @Test("a read-only zone refuses every change but those of sync")
    func readOnlyZone() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.setPermission(.readOnly, of: fixture.zone.id)
        }
        #expect(failure { try fixture.save("a", #"{"n":2}"#) }?.code == .accessDenied)
        #expect(failure { try fixture.draft("a", "{") }?.code == .accessDenied)
        #expect(failure { try fixture.beginDelete(id) }?.code == .accessDenied)
        let makeType = failure {
            try fixture.write { transaction throws(RecordError) in
                try transaction.makeType(fixture.zone.id, RecordTypeName("Other"))
            }
        }
        #expect(makeType?.code == .accessDenied)
    }

    @Test("a reserved number becomes the record's, and no number is given twice over reopening")
    func reservedNumbers() throws {
        let fixture = try StoreFixture()
        let reserved = try fixture.store.reserveRecordID()
        #expect(try fixture.save("a", "{}", id: reserved).id == reserved)
        var seen: Set<RecordID> = [reserved]
        for _ in 0..<3 {
            for _ in 0..<1500 { #expect(seen.insert(try fixture.store.reserveRecordID()).inserted) }
            try fixture.reopen()
        }
        #expect(!seen.contains(try fixture.save("b", "{}").id))
    }

    @Test("a record keeps the time that it is saved with")
    func modified() throws {
        let fixture = try StoreFixture()
        let time = Timestamp(seconds: 1000, nanoseconds: 7)
        let id = try fixture.save("a", "{}", modified: time).id
        #expect(try fixture.record("a")?.modified == time)
        #expect(try fixture.record("a")?.created == fixture.clock.now)
        try fixture.write { transaction throws(RecordError) in
            try transaction.records.setModified(id, Timestamp(seconds: -5))
        }
        #expect(try fixture.record("a")?.modified == Timestamp(seconds: -5))
        #expect(try fixture.store.meta(of: id)?.modified == fixture.clock.now)
    }
}
