import FoundationEssentials
import RecordModel
import RecordSQL
import RecordStore
import TestSupport
import Testing

/// The times of TYPE directories, most of whose changes are in memory while entries come and go
/// quickly.
@Suite struct DirectoryTimeTests {
    /// A store beside what its directories have to show.
    private final class Walk {
        let fixture: StoreFixture
        var random: SeededRandom
        /// The time of the last change of entries, or the one that was set.
        var modified: [TypeID: Timestamp] = [:]
        var changed: [TypeID: Timestamp] = [:]
        var names = 0

        init(seed: UInt64) throws {
            fixture = try StoreFixture()
            random = SeededRandom(seed: seed)
            for type in [fixture.note, fixture.task] { try look(at: type) }
        }

        func look(at type: TypeID) throws {
            let info = try #require(try fixture.store.type(type))
            modified[type] = info.modified
            changed[type] = info.statusChanged
        }

        /// Checks one directory in all ways in which it can be read. Its `st_ctime` grows exactly
        /// when something changes.
        func check(_ type: TypeID, hasChanged: Bool) throws {
            let info = try #require(try fixture.store.type(type))
            #expect(info.modified == modified[type])
            let last = try #require(changed[type])
            #expect(hasChanged ? info.statusChanged > last : info.statusChanged == last)
            changed[type] = info.statusChanged
            #expect(try fixture.store.types(in: fixture.zone.id).contains(info))
            #expect(try fixture.store.type(fixture.zone.id, info.name) == info)
        }

        var now: Timestamp { fixture.clock.now }

        func step() throws {
            fixture.clock.advance(.microseconds(1))
            let type = random.below(3) == 0 ? fixture.task : fixture.note
            let other = type == fixture.note ? fixture.task : fixture.note
            switch random.below(12) {
            case 0...5: try addOrRemove(type)
            case 6: try setTime(of: type)
            case 7: try addToBoth()
            case 8: fixture.clock.advance(.milliseconds(Int64(random.below(1_500))))
            case 9: try fixture.store.upkeep.writeDirectoryTimes()
            case 10: try failed(type)
            default: try fixture.reopen()
            }
            try check(other, hasChanged: wasChanged.contains(other))
            try check(type, hasChanged: wasChanged.contains(type))
            wasChanged = []
        }

        var wasChanged: Set<TypeID> = []

        private func addOrRemove(_ type: TypeID) throws {
            if random.below(3) == 0, let entry = try fixture.store.records(in: type, limit: 1).first
            {
                try fixture.delete(entry.id)
            } else {
                names += 1
                try fixture.save("r\(names)", "{}", type: type)
            }
            changes(type)
        }

        private func changes(_ type: TypeID) {
            modified[type] = now
            wasChanged.insert(type)
        }

        /// Sets the time of a directory, in the transaction of a change of its entries or alone.
        private func setTime(of type: TypeID) throws {
            let time = Timestamp(seconds: Int64(random.below(1_000_000)))
            names += random.below(3)
            let (before, after) = ((random.below(2) == 0), (random.below(2) == 0))
            let stems = [Stem("b\(names)"), Stem("a\(names)")]
            try fixture.write { transaction throws(RecordError) in
                func add(_ stem: Stem) throws(RecordError) {
                    _ = try transaction.records.save(text: Array("{}".utf8), type: type, stem: stem)
                }
                if before { try add(stems[0]) }
                try transaction.records.setModified(type, time)
                if after { try add(stems[1]) }
            }
            changes(type)
            if !after { modified[type] = time }
            names += 1
        }

        private func addToBoth() throws {
            names += 1
            let stem = Stem("both\(names)")
            let types = [fixture.note, fixture.task]
            try fixture.write { transaction throws(RecordError) in
                for type in types {
                    _ = try transaction.records.save(text: Array("{}".utf8), type: type, stem: stem)
                }
            }
            for type in types { changes(type) }
        }

        /// Changes nothing, because the transaction is rolled back.
        private func failed(_ type: TypeID) throws {
            let error = failure {
                try fixture.write { transaction throws(RecordError) in
                    _ = try transaction.records.save(
                        text: Array("{}".utf8), type: type, stem: Stem("never"))
                    throw RecordError(.ioFailure, "planned")
                }
            }
            #expect(error?.code == .ioFailure)
        }

        /// Opens the store as it would be found if this process ended now.
        func expectSoundAfterKill() throws {
            fixture.clock.advance(.microseconds(1))
            let copy = temporaryDirectory()
            try FileManager.default.copyItem(atPath: fixture.directory, toPath: copy)
            let store = try RecordStore.open(
                directory: copy, options: StoreOptions(clock: fixture.clock))
            for (type, time) in modified {
                let info = try #require(try store.type(type))
                let opening = now
                #expect(info.modified == time || info.modified == opening)
                #expect(try info.statusChanged >= #require(changed[type]))
                #expect(try busy(store) == [])
            }
            try store.close()
            try FileManager.default.removeItem(atPath: copy)
        }

        /// The marked directories, which no public function tells.
        func busy(_ store: RecordStore) throws -> [Int64] {
            try store.read { connection throws(RecordError) in
                try connection.all("SELECT id FROM record_type WHERE is_busy = 1") {
                    $0.int64(0)
                }
            }
        }
    }

    @Test("are those of the last change, also after a close and a kill", arguments: 1...10)
    func walk(seed: UInt64) throws {
        let walk = try Walk(seed: seed)
        for step in 0..<60 {
            try walk.step()
            if step % 10 == 9 { try walk.expectSoundAfterKill() }
        }
    }

    @Test("are exact after a kill when their directory has come to rest")
    func atRest() throws {
        let walk = try Walk(seed: 0)
        let fixture = walk.fixture
        for number in 0..<5 {
            try fixture.save("n\(number)", "{}")
            fixture.clock.advance(.milliseconds(10))
        }
        try walk.look(at: fixture.note)
        #expect(try walk.busy(fixture.store) == [fixture.note.rawValue])
        try fixture.store.upkeep.writeDirectoryTimes()
        #expect(try walk.busy(fixture.store) == [fixture.note.rawValue])
        fixture.clock.advance(.seconds(1))
        try fixture.store.upkeep.writeDirectoryTimes()
        #expect(try walk.busy(fixture.store) == [])
        let commits = fixture.store.commits
        try fixture.store.upkeep.writeDirectoryTimes()
        #expect(fixture.store.commits == commits)
        try walk.check(fixture.note, hasChanged: false)
        try fixture.reopen()
        try walk.check(fixture.note, hasChanged: false)
    }

    @Test("need no second transaction when one entry came")
    func single() throws {
        let fixture = try StoreFixture()
        fixture.clock.advance(.seconds(5))
        try fixture.save("a", "{}")
        let commits = fixture.store.commits
        fixture.clock.advance(.seconds(5))
        try fixture.store.upkeep.writeDirectoryTimes()
        #expect(fixture.store.commits == commits)
    }

    @Test("stay right when the clock is set back")
    func setBack() throws {
        let walk = try Walk(seed: 0)
        let fixture = walk.fixture
        for number in 0..<9 {
            try fixture.save("n\(number)", "{}")
            walk.modified[fixture.note] = fixture.clock.now
            try walk.check(fixture.note, hasChanged: true)
            if number == 4 { fixture.clock.advance(.seconds(-3600)) }
        }
        fixture.clock.advance(.seconds(2))
        try fixture.store.upkeep.writeDirectoryTimes()
        try walk.check(fixture.note, hasChanged: false)
        try fixture.reopen()
        try walk.check(fixture.note, hasChanged: false)
    }
}
