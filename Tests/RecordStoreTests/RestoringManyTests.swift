import RecordModel
import RecordStore
import RecordStoreSync
import Synchronization
import TestSupport
import Testing

@Suite struct RestoringManyTests {
    private let fixture: StoreFixture
    private let everything = RestoreScope()

    init() throws { fixture = try StoreFixture() }

    private func restore(
        _ scope: RestoreScope = RestoreScope(), to point: RestorePoint
    ) throws -> RestorePlan {
        let preview = try fixture.store.past.restorePlan(scope, to: point)
        let plan = try fixture.write(.commandLine) { transaction throws(RecordError) in
            try transaction.restore(scope, to: point)
        }
        #expect(preview.steps.map(\.stem) == plan.steps.map(\.stem), "the preview is what is done")
        return plan
    }

    /// A moment between what was before and what comes after.
    private func moment() -> Timestamp {
        fixture.clock.advance(.seconds(1))
        defer { fixture.clock.advance(.seconds(1)) }
        return fixture.clock.now
    }

    @Test("what is deleted comes back, waiting or final, and nothing else changes")
    func deleted() throws {
        for stem in ["a", "b", "c"] { try fixture.save(stem, #"{"n":1}"#) }
        let task = try fixture.save("t", #"{"n":1}"#, type: fixture.task).id
        try fixture.delete(try #require(try fixture.record("a")).id)
        try fixture.beginDelete(try #require(try fixture.record("b")).id)
        try fixture.save("c", #"{"n":2}"#)
        try fixture.delete(task)
        let plan = try restore(to: .deletion)
        #expect(plan.steps.count == 3 && plan.steps.allSatisfy(\.wasDeleted))
        #expect(try fixture.text("a") == #"{"n":1}"# && fixture.text("b") == #"{"n":1}"#)
        #expect(try fixture.text("c") == #"{"n":2}"#)
        #expect(try fixture.text("t", type: fixture.task) == #"{"n":1}"#)
        #expect(try fixture.store.syncState.counts().trash == 0)
        #expect(try restore(to: .deletion).steps.isEmpty)
        try fixture.expectSound()
    }

    @Test("only what the scope has is meant")
    func scope() throws {
        for stem in ["a", "b"] {
            try fixture.delete(try fixture.save(stem, #"{"n":1}"#).id)
            try fixture.delete(try fixture.save("t-\(stem)", "{}", type: fixture.task).id)
        }
        func count(_ scope: RestoreScope) throws -> Int {
            try fixture.store.past.restorePlan(scope, to: .deletion).steps.count
        }
        let note = RecordTypeName("Note")
        #expect(try count(RestoreScope()) == 4)
        #expect(try count(RestoreScope(database: .private)) == 4)
        #expect(try count(RestoreScope(database: .local)) == 0)
        #expect(try count(RestoreScope(database: .private, zone: ZoneName("Box"))) == 4)
        #expect(try count(RestoreScope(database: .private, zone: ZoneName("Bo"))) == 0)
        #expect(try count(RestoreScope(zone: ZoneName("Box"), type: note)) == 2)
        #expect(try count(RestoreScope(zone: ZoneName("Box"), type: note, stem: Stem("b"))) == 1)
    }

    @Test("what is left of a share that ended does not keep the other records from coming back")
    func endedShare() throws {
        let theirs = try fixture.sharedZone()
        try fixture.apply(
            fixture.page(
                [StoreFixture.told("shared", n: 1)],
                shares: [
                    Share(
                        name: RecordName("s"), root: nil, permission: .readWrite,
                        text: Array("{}".utf8))
                ], in: theirs.zone.id))
        try fixture.save("shared", #"{"n":1,"mine":2}"#, type: theirs.note)
        try fixture.feed { (feed) throws(RecordError) in
            try feed.removeZoneOfServer(theirs.zone.id)
        }
        #expect(try fixture.store.past.trash(in: theirs.zone.id).count == 1)
        try fixture.delete(try fixture.save("a", #"{"n":1}"#).id)
        #expect(try restore(to: .deletion).steps.map(\.stem) == [Stem("a")])
        #expect(try fixture.text("a") == #"{"n":1}"#)
        // Who names the zone is told why nothing of it comes back.
        let scope = RestoreScope(database: .shared, zone: ZoneName("Theirs"))
        let error = failure {
            try fixture.write(.commandLine) { transaction throws(RecordError) in
                try transaction.restore(scope, to: .deletion)
            }
        }
        #expect(error?.code == .notFound)
        #expect(try fixture.store.past.trash(in: theirs.zone.id).count == 1)
    }

    @Test("a refused text in the trash is no record, and the record of its name comes back")
    func refusedText() throws {
        // `x:Note` shows as `x` when the server has removed `x`, whose refused text loses its file.
        try fixture.upsert("x", ["n": .int64(1)])
        try fixture.upsert("x:Note", ["n": .int64(2)])
        _ = try fixture.draft("x", "{ half")
        try fixture.remoteDelete("x")
        #expect(try fixture.text("x") == "{\n  \"n\": 2\n}\n")
        #expect(try trashed() == ["{ half", "{\n  \"n\": 1\n}\n"])
        try fixture.delete(try #require(try fixture.record("x")).id)
        let plan = try restore(to: .deletion)
        #expect(plan.steps.count == 2 && plan.inTheWay == 0)
        #expect(try fixture.names() == ["x", "x:Note"])
        #expect(try trashed() == ["{ half"])
        try fixture.expectSound()
    }

    private func trashed() throws -> [String] {
        try fixture.store.past.trash(in: fixture.note).map { entry in
            String(decoding: try fixture.store.past.trashed(entry.id)?.text ?? [], as: UTF8.self)
        }
    }

    @Test("of several deletions of a name the last one comes back, once")
    func severalDeletions() throws {
        for number in 1...3 {
            try fixture.delete(try fixture.save("a", "{\"n\":\(number)}").id)
        }
        #expect(try restore(to: .deletion).steps.count == 1)
        #expect(try fixture.text("a") == #"{"n":3}"#)
    }

    @Test("a record that has the name by now stays, and is told")
    func inTheWay() throws {
        try fixture.delete(try fixture.save("a", #"{"n":1}"#).id)
        try fixture.save("a", #"{"n":2}"#)
        let plan = try restore(to: .deletion)
        #expect(plan.steps.isEmpty && plan.inTheWay == 1)
        #expect(try fixture.text("a") == #"{"n":2}"#)
    }

    @Test("a time brings back every record as it was then, by one version each")
    func time() throws {
        for stem in ["kept", "changed", "deleted", "waiting", "twice"] {
            try fixture.save(stem, #"{"n":1}"#)
        }
        let then = moment()
        try fixture.save("changed", #"{"n":2}"#)
        try fixture.save("twice", #"{"n":2}"#)
        try fixture.delete(try #require(try fixture.record("twice")).id)
        try fixture.delete(try #require(try fixture.record("deleted")).id)
        try fixture.save("waiting", #"{"n":2}"#)
        try fixture.beginDelete(try #require(try fixture.record("waiting")).id)
        try fixture.save("new", #"{"n":2}"#)
        let plan = try restore(to: .time(then))
        #expect(plan.steps.count { $0.wasDeleted } == 3)
        #expect(plan.steps.count { !$0.wasDeleted } == 1 && plan.madeSince == 1)
        for stem in ["kept", "changed", "deleted", "waiting", "twice"] {
            #expect(try fixture.text(stem) == #"{"n":1}"#, "\(stem)")
        }
        #expect(try fixture.text("new") == #"{"n":2}"#)
        #expect(try fixture.kinds("kept") == [.created])
        #expect(try fixture.kinds("changed") == [.created, .updated, .restored])
        #expect(try fixture.kinds("deleted") == [.created, .deleted, .restored])
        #expect(try restore(to: .time(then)).steps.isEmpty, "it is so already")
        try fixture.expectSound()
    }

    @Test("5 000 records come back in one transaction, each with as many statements as one of 500")
    func many() throws {
        let (few, many) = (try statementsToRestore(500), try statementsToRestore(5_000))
        #expect(many <= 11 * few, "\(few) and \(many)")
    }

    /// How many statements a restore of that many records takes, of which some were deleted.
    private func statementsToRestore(_ count: Int) throws -> Int {
        func save(_ text: String) throws {
            try fixture.write { transaction throws(RecordError) in
                for number in 0..<count {
                    _ = try transaction.records.save(
                        text: Array(text.utf8), type: self.fixture.note,
                        stem: Stem("of\(count).\(number)"))
                }
            }
        }
        try save(#"{"n":1}"#)
        let then = moment()
        try save(#"{"n":2}"#)
        for number in stride(from: 0, to: count, by: 50) {
            try fixture.delete(try #require(try fixture.record("of\(count).\(number)")).id)
        }
        let commits = Mutex(0)
        fixture.store.observe { _ in commits.withLock { $0 += 1 } }
        let statements = Mutex(0)
        fixture.store.traceWrites { _ in statements.withLock { $0 += 1 } }
        defer { fixture.store.traceWrites(nil) }
        let plan = try restore(to: .time(then))
        #expect(plan.steps.count == count)
        #expect(commits.withLock { $0 } == 1)
        for number in [0, 1, count - 1] {
            #expect(try fixture.text("of\(count).\(number)") == #"{"n":1}"#)
        }
        return statements.withLock(\.self)
    }

    @Test("a restore is taken back by a restore")
    func takenBack() throws {
        try fixture.save("a", #"{"n":1}"#)
        let first = try fixture.store.past.lastToken()
        try fixture.save("a", #"{"n":2}"#)
        let second = try fixture.store.past.lastToken()
        _ = try restore(to: .token(first))
        #expect(try fixture.text("a") == #"{"n":1}"#)
        _ = try restore(to: .token(second))
        #expect(try fixture.text("a") == #"{"n":2}"#)
    }

    @Test("a refused text stays in its file over the version that is restored, and is told")
    func draftKept() throws {
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.save("b", #"{"n":1}"#)
        let then = try fixture.store.past.lastToken()
        try fixture.save("a", #"{"n":2}"#)
        _ = try fixture.draft("a", "{an hour of work")
        _ = try fixture.draft("b", "{other work")
        _ = try fixture.draft("c", "{new")
        let plan = try restore(to: .token(then))
        #expect(plan.steps.map(\.stem) == [Stem("a")])
        #expect(plan.steps.map(\.keepsDraft) == [true])
        #expect(try fixture.text("a") == "{an hour of work")
        #expect(try fixture.savedText(id) == #"{"n":1}"#)
        #expect(try fixture.text("b") == "{other work")
        #expect(try fixture.text("c") == "{new")
        try fixture.expectSound()
        _ = try fixture.write { transaction throws(RecordError) in
            try transaction.records.discardDraft(id)
        }
        #expect(try fixture.text("a") == #"{"n":1}"#)
        try fixture.expectSound()
    }

    @Test("an empty file, which is a save that never came, shows what is restored")
    func emptyDraft() throws {
        try fixture.save("a", #"{"n":1}"#)
        let then = try fixture.store.past.lastToken()
        try fixture.save("a", #"{"n":2}"#)
        _ = try fixture.draft("a", "")
        #expect(try restore(to: .token(then)).steps.map(\.keepsDraft) == [false])
        #expect(try fixture.text("a") == #"{"n":1}"#)
        try fixture.expectSound()
    }

    @Test("a version that comes back under the refused text of a new file of its name leaves that")
    func draftOfDeleted() throws {
        try fixture.save("a", #"{"n":1}"#)
        let version = try fixture.store.past.lastToken()
        try fixture.delete(try #require(try fixture.record("a")).id)
        _ = try fixture.draft("a", "{new work")
        let entry = try fixture.write(.commandLine) { transaction throws(RecordError) in
            try transaction.records.restoreVersion(version)
        }
        #expect(entry.hasDraft && entry.state == .saved)
        #expect(try fixture.text("a") == "{new work")
        #expect(try fixture.savedText(entry.id) == #"{"n":1}"#)
        try fixture.expectSound()
    }

    @Test("a clock that was ahead for a while does not change what is meant")
    func clockAhead() throws {
        try fixture.save("a", #"{"n":1}"#)
        fixture.clock.advance(.seconds(400_000_000))
        try fixture.save("a", #"{"n":2}"#)
        fixture.clock.advance(.seconds(-399_999_000))
        try fixture.save("b", #"{"n":1}"#)
        let then = moment()
        try fixture.save("a", #"{"n":3}"#)
        try fixture.save("b", #"{"n":2}"#)
        _ = try restore(to: .time(then))
        #expect(try fixture.text("a") == #"{"n":2}"#)
        #expect(try fixture.text("b") == #"{"n":1}"#)
    }

    @Test("a zone and a type that are gone come back with their records")
    func places() throws {
        let id = try fixture.save("a", #"{"n":1}"#).id
        let then = moment()
        try fixture.delete(id)
        try fixture.write { transaction throws(RecordError) in
            try transaction.removeType(self.fixture.note)
            try transaction.removeType(self.fixture.task)
            try transaction.removeZone(self.fixture.zone.id)
        }
        #expect(try fixture.store.zones(in: .private).isEmpty)
        #expect(try restore(to: .time(then)).steps.count == 1)
        let type = try #require(try fixture.store.type(fixture.zone.id, RecordTypeName("Note")))
        #expect(try fixture.text("a", type: type.id) == #"{"n":1}"#)
    }

    @Test("when one record cannot be brought back none is, and it is named")
    func refused() throws {
        try fixture.save("a", #"{"n":1}"#)
        try fixture.save("b", #"{"m":1}"#)
        let then = try fixture.store.past.lastToken()
        for stem in ["a", "b"] {
            try fixture.delete(try #require(try fixture.record(stem)).id)
        }
        try fixture.write { transaction throws(RecordError) in
            let schema = try RecordSchema.empty.adopting(
                RecordDocument(parsing: Array(#"{"m":"text"}"#.utf8), schema: .empty))
            try transaction.setSchema(schema ?? .empty, of: RecordTypeName("Note"))
        }
        do {
            _ = try fixture.write { transaction throws(RecordError) in
                try transaction.restore(self.everything, to: .token(then))
            }
            Issue.record("b does not fit the schema")
        } catch {
            #expect(error.message.contains("Note/b"))
        }
        #expect(try fixture.record("a") == nil)
    }
}
