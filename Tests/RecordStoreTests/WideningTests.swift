import RecordModel
import RecordStore
import RecordStoreSync
import Testing

@Suite("Widening a field of whole numbers")
struct WideningTests {
    private let fixture: StoreFixture
    private let note = RecordTypeName("Note")

    init() throws { fixture = try StoreFixture() }

    private func type(_ field: String = "n") throws -> FieldType? {
        try fixture.store.schema(of: note).type(of: FieldName(field))
    }

    @Test("3 in one record and then 3.5 in another make the field DOUBLE, and no text changes")
    func widens() throws {
        let three = try fixture.save("a", "{\"n\":3}").id
        let outbox = try fixture.pending()
        try fixture.save("b", "{\"n\":3.5}")
        #expect(try type() == .double)
        #expect(try fixture.text("a") == "{\"n\":3}")
        #expect(try fixture.kinds("a") == [.created])
        #expect(try fixture.pending() == outbox + ["b create"])
        #expect(try fixture.save("a", "{ \"n\" : 3.0 }").outcome == .unchanged)
        #expect(try fixture.save("a", "{\"n\":4}").outcome == .updated)
        #expect(try fixture.record("a")?.id == three)
        try fixture.reopen()
        #expect(try type() == .double)
        try fixture.expectSound()
    }

    @Test("the record that has the whole number may itself get the fraction, whatever its size")
    func widensItself() throws {
        try fixture.save("a", "{\"n\":9007199254740993}")
        #expect(try fixture.save("a", "{\"n\":0.5}").outcome == .updated)
        #expect(try type() == .double)
    }

    @Test("2^53 stays exact; what is larger in another record refuses the fraction and says so")
    func exactness() throws {
        try fixture.save("a", "{\"n\":9007199254740992}")
        try fixture.save("b", "{\"n\":-9007199254740993}")
        let error = failure { try fixture.save("c", "{\"n\":0.5}") }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("Record b has -9007199254740993 in \"n\"") == true)
        #expect(try type() == .int64)
        try fixture.save("b", "{\"n\":-9007199254740992}")
        try fixture.save("c", "{\"n\":0.5}")
        #expect(try type() == .double)
        try fixture.expectSound()
    }

    @Test("a stored true refuses the fraction, which would make it no value of the field")
    func bool() throws {
        try fixture.save("a", "{\"n\":true}")
        #expect(failure { try fixture.save("b", "{\"n\":0.5}") }?.code == .schemaMismatch)
        #expect(try type() == .int64)
        try fixture.expectSound()
    }

    @Test("lists widen as their elements do")
    func lists() throws {
        try fixture.save("a", "{\"n\":[1,2]}")
        try fixture.save("b", "{\"n\":[1,2.5]}")
        #expect(try type() == .list(.double))
        #expect(try fixture.text("a") == "{\"n\":[1,2]}")
        try fixture.expectSound()
    }

    @Test("a type that somebody wrote into the schema text stays, until the text changes it")
    func declared() throws {
        func set(_ type: FieldType) throws(RecordError) {
            let schema = RecordSchema(fields: [.init(name: FieldName("n"), type: type)])
            try fixture.write { transaction throws(RecordError) in
                try transaction.setSchema(schema, of: note)
            }
        }
        try fixture.save("a", "{\"n\":9007199254740993}")
        try set(.int64)
        try fixture.reopen()
        let error = failure { try fixture.save("b", "{\"n\":3.5}") }
        #expect(error?.message.contains("change the type in .recordfs/schema") == true)
        #expect(failure { try set(.double) }?.message.contains("no DOUBLE holds exactly") == true)
        try fixture.save("a", "{\"n\":3}")
        try set(.double)
        try fixture.save("b", "{\"n\":3.5}")
        try fixture.expectSound()
    }

    @Test("a fraction from the server widens, and its whole numbers are no changes then")
    func remote() throws {
        try fixture.upsert("a", ["n": .int64(3)])
        try fixture.upsert("b", ["n": .double(3.5)])
        #expect(try type() == .double)
        #expect(try fixture.upsert("a", ["n": .int64(3)], tag: "r2").outcome == .unchanged)
        #expect(try fixture.upsert("a", ["n": .int64(4)], tag: "r3").outcome == .updated)
        #expect(try fixture.text("a")?.contains("4") == true)
        try fixture.save("a", "{\"n\":5.0}")
        #expect(try fixture.upsert("a", ["n": .int64(5)], tag: "r4").conflicts.isEmpty)
        #expect(try fixture.text("a") == "{\"n\":5.0}")
    }

    @Test("fields that rows are expected to have are there before the rows, known ones stay")
    func expected() throws {
        try fixture.save("a", "{\"n\":1}")
        try fixture.write { transaction throws(RecordError) in
            try transaction.expect(
                [(FieldName("n"), .string), (FieldName("m"), .double)], of: note)
        }
        #expect(try type() == .int64)
        #expect(try type("m") == .double)
        try fixture.save("b", "{\"m\":1}")
        #expect(try type("m") == .double)
    }
}
