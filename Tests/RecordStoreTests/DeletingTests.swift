import RecordModel
import RecordStore
import TestSupport
import Testing

@Suite struct DeletingTests {
    @Test("a waiting delete hides the record and leaves no version and no outgoing change")
    func waiting() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.sendAll()
        try fixture.beginDelete(id)
        #expect(try fixture.store.records(in: fixture.note, limit: 10).isEmpty)
        #expect(try fixture.record("a")?.state == .waitingDelete)
        #expect(try fixture.kinds("a") == [.created])
        #expect(try fixture.pending().isEmpty)
        #expect(try fixture.store.syncState.counts().records == 0)
        try fixture.expectSound()
    }

    @Test("a record that comes back within the grace is the same, and was updated")
    func comesBack() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.sendAll()
        try fixture.beginDelete(id)
        let result = try fixture.save("a", #"{"n":2}"#)
        #expect(result.id == id)
        #expect(result.outcome == .updated)
        #expect(try fixture.kinds("a") == [.created, .updated])
        #expect(try fixture.pending() == ["a update"])
        try fixture.beginDelete(id)
        #expect(try fixture.save("a", #"{"n":2}"#).outcome == .unchanged)
        #expect(try fixture.record("a")?.state == .saved)
        try fixture.expectSound()
    }

    @Test("a delete that is taken back leaves no trace")
    func cancelled() throws {
        let fixture = try StoreFixture()
        let before = try fixture.save("a", #"{"n":1}"#)
        try fixture.beginDelete(before.id)
        try fixture.write { transaction throws(RecordError) in
            try transaction.records.cancelDelete(before.id)
        }
        let after = try #require(try fixture.record("a"))
        #expect(after.state == .saved && after.size == before.entry.size)
        #expect(after.modified == before.entry.modified)
        #expect(after.incarnation == 1, "the file of before the delete is gone")
        #expect(try fixture.kinds("a") == [.created])
        try fixture.expectSound()
    }

    @Test("deletes become final after the grace, each at its own time")
    func grace() throws {
        let fixture = try StoreFixture()
        let first = try fixture.save("a", "{}").id
        let second = try fixture.save("b", "{}").id
        try fixture.beginDelete(first)
        let start = fixture.clock.now
        fixture.clock.advance(.seconds(2))
        try fixture.beginDelete(second)
        #expect(
            try fixture.store.upkeep.finalizeWaitingDeletes(author: .mount) == start + .seconds(3))
        #expect(try fixture.record("a") != nil)
        fixture.clock.advance(.seconds(1))
        #expect(
            try fixture.store.upkeep.finalizeWaitingDeletes(author: .mount) == start + .seconds(5))
        #expect(try fixture.record("a") == nil)
        #expect(try fixture.record("b") != nil)
        #expect(
            try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount) == nil
        )
        #expect(try fixture.record("b") == nil)
        #expect(try fixture.kinds("a") == [.created, .deleted])
        try fixture.expectSound()
    }

    @Test("many waiting deletes become final in one call")
    func many() throws {
        let fixture = try StoreFixture()
        try fixture.write { transaction throws(RecordError) in
            for number in 0..<450 {
                let result = try transaction.records.save(
                    text: Array("{}".utf8), type: fixture.note, stem: Stem("r\(number)"))
                try transaction.records.beginDelete(result.id)
            }
        }
        #expect(
            try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount) == nil
        )
        #expect(try fixture.store.past.trash(in: fixture.note).count == 450)
    }

    @Test("a waiting delete survives the process")
    func reopened() throws {
        let fixture = try StoreFixture()
        try fixture.beginDelete(try fixture.save("a", "{}").id)
        try fixture.reopen()
        #expect(try fixture.record("a")?.state == .waitingDelete)
    }

    @Test("the trash brings a record back as it was, and its number stays new")
    func restore() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", "{\"n\": 1}\n").id
        let created = fixture.clock.now
        fixture.clock.advance(.seconds(60))
        try fixture.delete(id)
        let trash = try #require(try fixture.store.past.trash(in: fixture.note).first)
        #expect(try fixture.store.past.trashed(trash.id)?.text == Array("{\"n\": 1}\n".utf8))
        let entry = try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.records.restore(trash.id)
        }
        #expect(try fixture.text("a") == "{\"n\": 1}\n")
        #expect(entry.created == created)
        #expect(entry.id != id)
        #expect(try fixture.store.past.trash(in: fixture.note).isEmpty)
        #expect(try fixture.kinds("a") == [.created, .deleted, .restored])
        try fixture.expectSound()
    }

    @Test("a restore over a record or a draft is refused, and one over a waiting delete is not")
    func restoreOver() throws {
        let fixture = try StoreFixture()
        func restore() throws(RecordError) -> RecordEntry {
            let trash = try fixture.store.past.trash(in: fixture.zone.id).last
            return try fixture.write(.restore) { transaction throws(RecordError) in
                try transaction.records.restore(trash?.id ?? 0)
            }
        }
        try fixture.delete(try fixture.save("a", #"{"n":1}"#).id)
        _ = try fixture.draft("a", "{")
        #expect(failure { try restore() }?.code == .alreadyExists)
        #expect(try fixture.text("a") == "{")
        let other = try fixture.save("a", #"{"n":2}"#).id
        #expect(failure { try restore() }?.code == .alreadyExists)
        try fixture.beginDelete(other)
        _ = try restore()
        #expect(try fixture.text("a") == #"{"n":1}"#)
        try fixture.delete(try #require(try fixture.record("a")).id)
        try fixture.save("a", #"{"n":3}"#, type: fixture.task)
        #expect(failure { try restore() }?.code == .alreadyExists)
        try fixture.expectSound()
    }

    @Test("the trash is emptied after its time, with nothing else")
    func purge() throws {
        let fixture = try StoreFixture()
        try fixture.delete(try fixture.save("old", "{}").id)
        fixture.clock.advance(.seconds(29 * 24 * 3600))
        try fixture.delete(try fixture.save("new", "{}").id)
        fixture.clock.advance(.seconds(2 * 24 * 3600))
        #expect(try fixture.store.upkeep.purgeTrash() == 1)
        #expect(try fixture.store.past.trash(in: fixture.note).map(\.stem) == [Stem("new")])
        try fixture.expectSound()
    }

    @Test("a type and a zone go when they are empty, and come back with their history")
    func places() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        func remove() throws(RecordError) {
            try fixture.write { transaction throws(RecordError) in
                try transaction.removeType(fixture.note)
            }
        }
        #expect(failure { try remove() }?.code == .notEmpty)
        try fixture.beginDelete(id)
        try remove()
        #expect(try fixture.store.type(fixture.note) == nil)
        #expect(failure { try fixture.save("b", "{}") }?.code == .notFound)
        let early = failure {
            try fixture.write { transaction throws(RecordError) in
                try transaction.removeZone(fixture.zone.id)
            }
        }
        #expect(early?.code == .notEmpty)
        try fixture.write { transaction throws(RecordError) in
            try transaction.removeType(fixture.task)
            try transaction.removeZone(fixture.zone.id)
        }
        #expect(try fixture.store.zones(in: .private).isEmpty)
        let zone = try fixture.write { transaction throws(RecordError) in
            try transaction.makeZone(.private, .me, ZoneName("Box"))
        }
        #expect(zone.id == fixture.zone.id)
        let trash = try #require(try fixture.store.past.trash(in: zone.id).first)
        let entry = try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.records.restore(trash.id)
        }
        #expect(entry.type != fixture.note)
        #expect(try fixture.store.type(entry.type)?.name == RecordTypeName("Note"))
        try fixture.expectSound()
    }
}
