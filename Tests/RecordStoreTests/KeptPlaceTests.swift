import RecordModel
import RecordStore
import Testing

/// What is left of a zone or type that was removed.
@Suite struct KeptPlaceTests {
    /// The type Note with a deleted record in it, and then the zone, are removed.
    private func removedZone(_ database: Database = .private) throws -> StoreFixture {
        let fixture = try StoreFixture(database)
        try fixture.delete(try fixture.save("a", #"{"n":1}"#).id)
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.removeType(fixture.note)
            try transaction.removeType(fixture.task)
            try transaction.removeZone(fixture.zone.id)
        }
        return fixture
    }

    @Test("zones and types that are gone keep their names for their trash and history")
    func names() throws {
        let fixture = try removedZone()
        let store = fixture.store
        let note = RecordTypeName("Note")
        #expect(try store.zones(in: .private).isEmpty)
        #expect(try store.zone(.private, .me, ZoneName("Box")) == nil)
        #expect(try store.past.zones(in: .private, with: .trash).map(\.id) == [fixture.zone.id])
        #expect(try store.past.zones(in: .private, with: .history).map(\.id) == [fixture.zone.id])
        #expect(try store.past.keptZone(.private, .me, ZoneName("Box"))?.id == fixture.zone.id)
        #expect(try store.past.types(in: fixture.zone.id, with: .trash) == [note])
        #expect(
            try store.past.types(in: fixture.zone.id, with: .history) == [
                note, RecordTypeName("Task"),
            ])
        #expect(try store.past.hasKeptType(fixture.zone.id, note))
        #expect(try !store.past.hasKeptType(fixture.zone.id, RecordTypeName("Other")))
    }

    @Test("a restored record brings its type and zone back, with the zone's number")
    func restore() throws {
        let fixture = try removedZone()
        let trashed = try #require(
            try fixture.store.past.lastTrashed(
                in: fixture.zone.id, type: RecordTypeName("Note"), Stem("a")))
        let entry = try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.records.restore(trashed.id)
        }
        #expect(try fixture.store.zone(.private, .me, ZoneName("Box"))?.id == fixture.zone.id)
        let type = try #require(try fixture.store.type(fixture.zone.id, RecordTypeName("Note")))
        #expect(entry.type == type.id)
        #expect(try fixture.text("a", type: type.id) == #"{"n":1}"#)
        #expect(try fixture.store.past.trash(in: fixture.zone.id).isEmpty)
        try fixture.expectSound()
    }

    @Test("an earlier version brings its type and zone back too")
    func version() throws {
        let fixture = try removedZone()
        let version = try #require(
            try fixture.store.past.history(of: RecordName("a"), in: fixture.zone.id).first)
        let entry = try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.records.restoreVersion(version.token)
        }
        #expect(try fixture.text("a", type: entry.type) == #"{"n":1}"#)
        try fixture.expectSound()
    }

    @Test("a zone that others shared and took back is not made again")
    func shared() throws {
        let fixture = try removedZone(.shared)
        let trashed = try #require(try fixture.store.past.trash(in: fixture.zone.id).first)
        let error = failure {
            try fixture.write(.restore) { transaction throws(RecordError) in
                try transaction.records.restore(trashed.id)
            }
        }
        #expect(error?.code == .notFound)
        #expect(try fixture.store.past.trash(in: fixture.zone.id).count == 1)
    }

    @Test("a record comes back under another name, with its fields and assets")
    func otherName() throws {
        let fixture = try StoreFixture()
        try fixture.delete(try fixture.save("a", #"{"n":1}"#).id)
        try fixture.save("a", #"{"n":2}"#)
        let trashed = try #require(try fixture.store.past.trash(in: fixture.note).first)
        let clash = failure {
            try fixture.write(.restore) { transaction throws(RecordError) in
                try transaction.records.restore(trashed.id)
            }
        }
        #expect(clash?.code == .alreadyExists)
        try fixture.write(.restore) { transaction throws(RecordError) in
            _ = try transaction.records.restore(trashed.id, as: Stem("b"))
        }
        #expect(try fixture.text("a") == #"{"n":2}"#)
        #expect(try fixture.text("b") == #"{"n":1}"#)
        #expect(try fixture.kinds("b") == [.restored])
        #expect(try fixture.store.past.trash(in: fixture.note).isEmpty)
        try fixture.expectSound()
    }

    @Test("a record that comes back can replace the one of its name, as a version of it")
    func replacing() throws {
        let fixture = try StoreFixture()
        try fixture.delete(try fixture.save("a", #"{"n":1}"#).id)
        let there = try fixture.save("a", #"{"n":2}"#).id
        let trashed = try #require(try fixture.store.past.trash(in: fixture.note).first)
        let entry = try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.records.restore(trashed.id, replacing: true)
        }
        #expect(entry.id == there)
        #expect(try fixture.text("a") == #"{"n":1}"#)
        #expect(try fixture.kinds("a") == [.created, .deleted, .created, .restored])
        try fixture.expectSound()
    }
}
