import RecordModel
import RecordStore
import TestSupport
import Testing

@Suite struct PlaceTests {
    @Test("making a zone or a type that is there gives it, with no change told")
    func again() throws {
        let fixture = try StoreFixture()
        let (zone, type) = try fixture.write { transaction throws(RecordError) in
            (
                try transaction.makeZone(.private, .me, ZoneName("Box")),
                try transaction.makeType(fixture.zone.id, RecordTypeName("Note"))
            )
        }
        #expect(zone.id == fixture.zone.id)
        #expect(type.id == fixture.note)
        #expect(fixture.changes().isEmpty)
    }

    @Test("zones are of one database and one owner, in the order of their names")
    func zones() throws {
        let fixture = try StoreFixture()
        try fixture.write { transaction throws(RecordError) in
            _ = try transaction.makeZone(.shared, OwnerName("zoe@x"), ZoneName("Box"))
            _ = try transaction.makeZone(.shared, OwnerName("amy@x"), ZoneName("Box"))
            _ = try transaction.makeZone(.private, .me, ZoneName("Attic"))
        }
        #expect(try fixture.store.zones(in: .private).map(\.name.description) == ["Attic", "Box"])
        #expect(
            try fixture.store.zones(in: .shared).map(\.owner.description) == ["amy@x", "zoe@x"])
        #expect(try fixture.store.zone(.public, .me, ZoneName("Box")) == nil)
        #expect(
            try fixture.store.types(in: fixture.zone.id).map(\.id) == [fixture.note, fixture.task])
    }

    @Test("bad names of zones and types are refused")
    func names() throws {
        let fixture = try StoreFixture()
        let zone = failure {
            try fixture.write { transaction throws(RecordError) in
                try transaction.makeZone(.private, .me, ZoneName(""))
            }
        }
        #expect(zone?.code == .invalidName)
        let type = failure {
            try fixture.write { transaction throws(RecordError) in
                try transaction.makeType(fixture.zone.id, RecordTypeName("1a"))
            }
        }
        #expect(type?.code == .invalidName)
    }

    @Test("a directory's time changes when its entries come and go, and only then")
    func times() throws {
        let fixture = try StoreFixture()
        func time() throws(RecordError) -> Timestamp? {
            try fixture.store.type(fixture.note)?.modified
        }
        func changes(_ body: () throws -> Void) throws -> Bool {
            let before = try time()
            fixture.clock.advance(.seconds(1))
            try body()
            return try time() != before
        }
        #expect(try changes { try fixture.save("a", #"{"n":1}"#) })
        let id = try #require(try fixture.record("a")).id
        #expect(try !changes { try fixture.save("a", #"{"n":2}"#) })
        #expect(try !changes { _ = try fixture.draft("a", "{") })
        #expect(try changes { try fixture.beginDelete(id) })
        #expect(try changes { try fixture.save("a", #"{"n":2}"#) })
        #expect(try changes { _ = try fixture.draft("b", "{") })
        #expect(try !changes { try fixture.save("b", "{}") })
        #expect(
            try changes {
                try fixture.remoteDelete("none"); try fixture.upsert("c", [:])
            })
    }

    @Test("a schema is replaced only when every record fits it")
    func schema() throws {
        let fixture = try StoreFixture()
        let note = RecordTypeName("Note")
        try fixture.save("a", #"{"n":1}"#)
        func set(_ fields: [(String, FieldType)]) throws(RecordError) {
            let schema = RecordSchema(
                fields: fields.map {
                    RecordSchema.Field(
                        name: FieldName($0.0), type: $0.1, isQueryable: true, isSortable: true,
                        isSearchable: false)
                })
            try fixture.write { transaction throws(RecordError) in
                try transaction.setSchema(schema, of: note)
            }
        }
        #expect(failure { try set([("n", .string)]) }?.code == .schemaMismatch)
        #expect(failure { try set([("m", .int64)]) }?.code == .schemaMismatch)
        try set([("m", .double), ("n", .int64)])
        #expect(try fixture.store.schema(of: note).fields.map(\.type) == [.double, .int64])
        try fixture.save("b", #"{"m":5}"#)
        #expect(try fixture.store.schemaTypes().contains(note))
        try fixture.reopen()
        #expect(try fixture.store.schema(of: note).type(of: FieldName("m")) == .double)
        #expect(try fixture.store.schema(of: note).fields.first?.isSearchable == false)
    }
}
