import RecordModel
import RecordSQL
import RecordStore
import TestSupport
import Testing

/// A type that the mount removes while the deletions of its records wait (rmdir after rm): nobody
/// finds it, and the deletions become final in their time, or when somebody needs them to be.
@Suite struct RemovedTypeTests {
    /// The type Note with two deletions that wait, removed.
    private func removed(_ database: Database = .private) throws -> StoreFixture {
        let fixture = try StoreFixture(database)
        for name in ["a", "b"] {
            try fixture.beginDelete(try fixture.save(name, #"{"n":1}"#).id)
        }
        try remove(fixture.note, in: fixture)
        return fixture
    }

    private func remove(_ type: TypeID, in fixture: StoreFixture) throws(RecordError) {
        try fixture.write { transaction throws(RecordError) in
            try transaction.beginRemovingType(type)
        }
    }

    private let note = RecordTypeName("Note")

    /// The number of rows of the type, which no public function tells.
    private func rows(_ fixture: StoreFixture) throws -> Int64? {
        try fixture.store.read { [note] connection throws(RecordError) in
            try connection.first(
                "SELECT COUNT(*) FROM record_type WHERE name = ?", [.name(note)]
            ) { $0.int64(0) }
        }
    }

    private func expectGone(
        _ fixture: StoreFixture, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let store = fixture.store
        #expect(try store.type(fixture.note) == nil, sourceLocation: location)
        #expect(try store.type(fixture.zone.id, note) == nil, sourceLocation: location)
        #expect(
            try store.types(in: fixture.zone.id).map(\.id) == [fixture.task],
            sourceLocation: location)
        #expect(
            try store.past.types(in: fixture.zone.id, with: .history).contains(note),
            sourceLocation: location)
        #expect(
            failure { try fixture.save("c", "{}") }?.code == .notFound, sourceLocation: location)
        #expect(
            failure { try remove(fixture.note, in: fixture) }?.code == .notFound,
            sourceLocation: location)
        try fixture.expectSound(location)
    }

    @Test("nobody finds it, while its deletions still wait for the end of their time")
    func hidden() throws {
        let fixture = try removed()
        try expectGone(fixture)
        #expect(try rows(fixture) == 1)
        #expect(try fixture.pending() == ["a create", "b create"])
        #expect(fixture.changes().filter { $0.kind == .typeRemoved }.count == 1)

        fixture.clock.advance(.seconds(2))
        #expect(try fixture.store.upkeep.finalizeWaitingDeletes(author: .mount) != nil)
        #expect(try rows(fixture) == 1)
        fixture.clock.advance(.seconds(2))
        #expect(try fixture.store.upkeep.finalizeWaitingDeletes(author: .mount) == nil)
        #expect(try rows(fixture) == 0)
        #expect(try fixture.pending() == [])
        #expect(
            try fixture.store.past.trash(in: fixture.zone.id).map(\.author) == [.mount, .mount])
        try expectGone(fixture)
    }

    @Test("a type with a record, a draft or files that wait for a record stays as it is")
    func notEmpty() throws {
        for step in 0..<3 {
            let fixture = try StoreFixture()
            try fixture.beginDelete(try fixture.save("a", "{}").id)
            switch step {
            case 0: try fixture.save("b", "{}")
            case 1: _ = try fixture.draft("b", "{")
            default:
                try fixture.write { transaction throws(RecordError) in
                    _ = try transaction.assets.holder(fixture.note, Stem("b"))
                }
            }
            #expect(failure { try remove(fixture.note, in: fixture) }?.code == .notEmpty)
            #expect(try fixture.store.type(fixture.zone.id, note)?.id == fixture.note)
            try fixture.expectSound()
        }
    }

    @Test("a type without waiting deletions leaves nothing behind")
    func empty() throws {
        let fixture = try StoreFixture()
        try remove(fixture.note, in: fixture)
        #expect(try rows(fixture) == 0)
        try expectGone(fixture)
    }

    @Test("a look into the trash finds its records there")
    func trash() throws {
        let fixture = try removed()
        let trash = try fixture.store.past.trash(in: fixture.zone.id)
        #expect(Set(trash.map(\.stem)) == [Stem("a"), Stem("b")])
        #expect(trash.allSatisfy { $0.author == .mount })
        #expect(try rows(fixture) == 0)
        for find in [
            { try fixture.store.past.hasTrash(in: $0) },
            {
                try fixture.store.past.lastTrashed(in: $0, type: RecordTypeName("Note"), Stem("b"))
                    != nil
            },
            { try fixture.store.past.types(in: $0, with: .trash) == [RecordTypeName("Note")] },
            { try fixture.store.past.zones(in: .private, with: .trash).map(\.id) == [$0] },
        ] as [(ZoneID) throws -> Bool] {
            let fixture = try removed()
            #expect(try find(fixture.zone.id))
        }
    }

    @Test("its name is free at once, for another type", arguments: [Author.mount, .sync])
    func again(author: Author) throws {
        let fixture = try removed()
        let type = try fixture.write(author) { [note] transaction throws(RecordError) in
            try transaction.makeType(fixture.zone.id, note)
        }
        #expect(type.id != fixture.note)
        #expect(try rows(fixture) == 1)
        #expect(try fixture.store.records(in: type.id, after: RecordID(0), limit: 9) == [])
        #expect(
            try fixture.store.past.trash(in: fixture.zone.id).map(\.author) == [.mount, .mount])
        try fixture.save("a", #"{"n":2}"#, type: type.id)
        #expect(try fixture.text("a", type: type.id) == #"{"n":2}"#)
        #expect(try fixture.kinds("a").contains(.deleted))
        try fixture.expectSound()
    }

    @Test("no other author meets it: its deletions are the mount's, and final before")
    func others() throws {
        let fixture = try removed()
        let record = try #require(try fixture.record("a"))
        let found = try fixture.write(.commandLine) { transaction throws(RecordError) in
            try transaction.records.record(record.id)
        }
        #expect(found == nil)
        #expect(try rows(fixture) == 0)
        #expect(
            try fixture.store.past.trash(in: fixture.zone.id).map(\.author) == [.mount, .mount])
    }

    @Test("its zone can be removed at once")
    func zone() throws {
        let fixture = try removed()
        try remove(fixture.task, in: fixture)
        try fixture.write { transaction throws(RecordError) in
            try transaction.removeZone(fixture.zone.id)
        }
        #expect(try fixture.store.zones(in: .private).isEmpty)
        #expect(try fixture.store.past.trash(in: fixture.zone.id).count == 2)
        try fixture.expectSound()
    }

    @Test("the next process completes it")
    func nextProcess() throws {
        let fixture = try removed()
        try fixture.reopen()
        #expect(try rows(fixture) == 0)
        try expectGone(fixture)
        #expect(try fixture.store.past.trash(in: fixture.zone.id).count == 2)
    }

    @Test("a command brings all its records back")
    func restore() throws {
        let fixture = try removed()
        let plan = try fixture.write(.commandLine) { transaction throws(RecordError) in
            try transaction.restore(RestoreScope(), to: .deletion)
        }
        #expect(plan.steps.count == 2)
        let type = try #require(try fixture.store.type(fixture.zone.id, note))
        #expect(try fixture.store.records(in: type.id, after: RecordID(0), limit: 9).count == 2)
        try fixture.expectSound()
    }

    @Test("it is there again when a record in it turns out to be wanted")
    func wanted() throws {
        let fixture = try removed()
        let record = try #require(try fixture.record("a"))
        try fixture.write { transaction throws(RecordError) in
            try transaction.records.cancelDelete(record.id)
        }
        try fixture.store.upkeep.finishRemovedTypes()
        #expect(try fixture.store.type(fixture.zone.id, note)?.id == fixture.note)
        #expect(try fixture.text("a") == #"{"n":1}"#)
        #expect(try fixture.store.past.trash(in: fixture.zone.id).map(\.stem) == [Stem("b")])
        try fixture.save("c", "{}")
        try fixture.expectSound()
    }

    @Test("a pin of it ends")
    func pin() throws {
        let fixture = try StoreFixture()
        try fixture.write { transaction throws(RecordError) in
            _ = try transaction.assets.pin(.type(fixture.note), in: fixture.zone.id)
            _ = try transaction.assets.pin(.type(fixture.task), in: fixture.zone.id)
        }
        try fixture.beginDelete(try fixture.save("a", "{}").id)
        try remove(fixture.note, in: fixture)
        #expect(try fixture.store.assets.pins().map(\.type) == [RecordTypeName("Task")])
    }

    @Test(
        "its removal takes as many steps as it has records in hundreds, and the mount saves between"
    )
    func steps() throws {
        let fixture = try StoreFixture()
        for number in 0..<450 {
            try fixture.beginDelete(try fixture.save("r\(number)", "{}").id)
        }
        let before = try #require(fixture.store.commits)
        try remove(fixture.note, in: fixture)
        #expect(fixture.store.commits == before + 1)
        #expect(try fixture.store.past.trash(in: fixture.zone.id).count == 450)
        #expect(fixture.store.commits == before + 4)
    }
}
