import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// What the records of a zone show as is the same on every machine that has them.
@Suite("The names that records show under") struct ShownNamesTests {
    /// A record of the server's.
    private struct Told {
        let name: String
        let type: String
        var record: RecordName { RecordName(name) }
    }

    private static let bases = [
        "X", "Y", "Note", "Task", "\u{E9}", "e\u{301}", "a/b", String(repeating: "l", count: 248),
    ]

    private static func random(_ random: inout SeededRandom) -> Told {
        let endings = (0..<random.below(4)).map { _ in random.pick([":Note", ":Note", ":Task"]) }
        return Told(
            name: random.pick(bases) + endings.joined(), type: random.pick(["Note", "Task"]))
    }

    /// What a record shows as, in bytes: a `String` is the same in both normal forms.
    private struct Shown: Hashable, CustomStringConvertible {
        let type: String
        let stem: Stem
        var description: String { "\(type)/\(stem)" }

        init(_ type: String, _ stem: Stem) {
            self.type = type
            self.stem = stem
        }
    }

    private func shown(_ fixture: StoreFixture) throws -> [Shown: RecordName] {
        var shown: [Shown: RecordName] = [:]
        for (name, type) in [("Note", fixture.note), ("Task", fixture.task)] {
            for entry in try fixture.store.records(in: type, limit: 1000) {
                let record = try #require(try fixture.store.meta(of: entry.id)).name
                #expect(
                    try fixture.store.record(named: record, in: fixture.zone.id)?.id == entry.id)
                #expect(try fixture.store.record(type, entry.stem)?.id == entry.id)
                let before = shown.updateValue(record, forKey: Shown(name, entry.stem))
                #expect(before == nil)
            }
        }
        return shown
    }

    /// What the rule says.
    private func expected(_ told: [Told]) -> [Shown: RecordName] {
        var shown: [Shown: RecordName] = [:]
        for record in told {
            let name = record.record.shown(in: RecordTypeName(record.type)) { short in
                told.contains { $0.record == short && $0.type == record.type }
            }
            shown[Shown(record.type, Stem(encoding: name))] = record.record
        }
        return shown
    }

    @Test(
        "are those of the rule, in whatever order they came and went, and after a restart",
        arguments: 0..<12)
    func orders(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var told: [RecordName: Told] = [:]
        for _ in 0..<14 {
            let record = Self.random(&random)
            told[record.record] = record
        }
        for _ in 0..<2 {
            let fixture = try StoreFixture()
            for record in told.values.sorted(by: { $0.record < $1.record }).shuffled(using: &random)
            {
                // Others come and go between.
                let passing = Self.random(&random)
                if told[passing.record] == nil {
                    try fixture.upsert(passing.name, ["n": .int64(1)], type: passing.type)
                }
                try fixture.upsert(record.name, ["n": .int64(1)], type: record.type)
                if told[passing.record] == nil { try fixture.remoteDelete(passing.name) }
            }
            #expect(try shown(fixture) == expected(Array(told.values)))
            try fixture.reopen()
            #expect(try shown(fixture) == expected(Array(told.values)))
            try fixture.expectSound()
        }
    }

    @Test(
        "are what a save made its record of, and a refused save leaves nothing", arguments: 0..<12)
    func saves(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let fixture = try StoreFixture()
        for number in 0..<60 {
            let record = Self.random(&random)
            let type = record.type == "Note" ? fixture.note : fixture.task
            let stem = Stem(encoding: RecordName(record.name))
            let there = try fixture.store.record(type, stem)
            switch random.below(6) {
            case 0, 1, 2:
                let before = try shown(fixture)
                do throws(RecordError) {
                    let saved = try fixture.save(stem.description, #"{"n":\#(number)}"#, type: type)
                    #expect(saved.entry.stem == stem)
                    #expect(try fixture.store.record(type, stem)?.id == saved.id)
                    if let there { #expect(saved.id == there.id) }
                } catch {
                    #expect([.alreadyExists, .invalidName].contains(error.code))
                    #expect(there == nil)
                    #expect(try shown(fixture) == before)
                    let why = failure {
                        try fixture.store.past.checkNameable(
                            stem, in: type, named: RecordTypeName(record.type), of: fixture.zone)
                    }
                    #expect(why != nil || stem.decoded == nil)
                }
            case 3:
                if let there { try fixture.delete(there.id) }
            case 4:
                if let there { try fixture.beginDelete(there.id) }
            default: try fixture.upsert(record.name, ["n": .int64(1)], type: record.type)
            }
            try fixture.expectSound()
        }
    }

    @Test("change when another record comes or goes, which the commit tells")
    func told() throws {
        let fixture = try StoreFixture()
        let long = try #require(try fixture.upsert("x:Note", ["n": .int64(1)]).id)
        _ = fixture.changes()
        try fixture.upsert("x", ["n": .int64(2)])
        let came = try #require(fixture.changes().first { $0.former != nil })
        #expect((came.record, came.former, came.stem) == (long, Stem("x"), Stem("x:Note")))
        try fixture.remoteDelete("x")
        let went = try #require(fixture.changes().first { $0.former != nil })
        #expect((went.record, went.former, went.stem) == (long, Stem("x:Note"), Stem("x")))
        #expect(try fixture.record("x")?.id == long)
    }

    @Test("of a record that waits for its deletion stay until that is final")
    func waiting() throws {
        let fixture = try StoreFixture()
        let long = try #require(try fixture.upsert("x:Note", ["n": .int64(1)]).id)
        let short = try #require(try fixture.upsert("x", ["n": .int64(2)]).id)
        try fixture.beginDelete(short)
        #expect(try fixture.record("x:Note")?.id == long)
        try fixture.save("x", #"{"n":3}"#)
        #expect(try fixture.record("x")?.id == short)
        try fixture.delete(short)
        #expect(try fixture.record("x")?.id == long)
        try fixture.expectSound()
    }

    @Test("take their large fields along, and never another record's")
    func largeFields() throws {
        let fixture = try StoreFixture()
        let long = try #require(try fixture.upsert("x:Note", ["n": .int64(1)]).id)
        try fixture.setAsset(long, "photo", bytes: "long")
        #expect(try fixture.text("x")?.contains("x@photo.bin") == true)
        let short = try #require(try fixture.upsert("x", ["n": .int64(2)]).id)
        try fixture.setAsset(short, "photo", bytes: "short")
        #expect(try fixture.text("x:Note")?.contains("x:Note@photo.bin") == true)
        #expect(try fixture.files(long) == ["x:Note@photo.bin=long"])
        #expect(try fixture.files(short) == ["x@photo.bin=short"])
        try fixture.expectSound()
    }

    @Test("of two types that made the same name apart are the same, and no edit is lost")
    func madeApart() throws {
        let fixture = try StoreFixture()
        try fixture.save("r", #"{"mine":1}"#, type: fixture.task)
        // Another machine had the name first, and a third one the longer name.
        try fixture.upsert("r:Task", ["third": .int64(1)], type: "Note")
        try fixture.upsert("r", ["first": .int64(1)], type: "Note")
        #expect(
            try shown(fixture) == [
                Shown("Note", Stem("r")): RecordName("r"),
                Shown("Note", Stem("r:Task")): RecordName("r:Task"),
                Shown("Task", Stem("r:Task")): RecordName("r:Task:Task"),
            ])
        #expect(try fixture.pending() == ["r:Task:Task create"])
        try fixture.expectSound()
    }

    @Test("of an edited record whose name another type has since: it stays, with a conflict")
    func editedAndReplaced() throws {
        let fixture = try StoreFixture()
        try fixture.upsert("r", ["n": .int64(1)], type: "Task")
        try fixture.save("r", #"{"n":2}"#, type: fixture.task)
        try fixture.upsert("r", ["other": .int64(1)], type: "Note", tag: "r2")
        #expect(try fixture.text("r", type: fixture.task) == #"{"n":2}"#)
        #expect(
            try shown(fixture) == [
                Shown("Note", Stem("r")): RecordName("r"),
                Shown("Task", Stem("r")): RecordName("r:Task"),
            ])
        #expect(try fixture.pending() == ["r:Task create"])
        #expect(try fixture.store.syncState.conflicts(in: fixture.zone.id).count == 1)
        try fixture.expectSound()
    }

    @Test("move a draft along that nobody but this machine has")
    func drafts() throws {
        let fixture = try StoreFixture()
        try fixture.upsert("x", ["n": .int64(1)])
        try fixture.upsert("x:Note", ["n": .int64(2)])
        _ = try fixture.draft("x", "{ half of x")
        try fixture.remoteDelete("x")
        // The text of x is not shown as if it were one of what shows as x now.
        #expect(try fixture.text("x")?.contains(#""n": 2"#) == true)
        let trash = try fixture.store.past.trash(in: fixture.note)
        #expect(trash.contains { $0.size == 11 })
        try fixture.expectSound()
    }
}
