import RecordModel
import RecordStore
import TestSupport
import Testing

@Suite("The tree of a moment") struct PastTreeTests {
    private static let day = Duration.seconds(24 * 3600)

    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture(.local) }

    /// The texts of the records that are shown now, by "TYPE/STEM".
    private func present() throws -> [String: String] {
        var shown: [String: String] = [:]
        for (type, id) in fixture.types {
            for entry in try fixture.store.records(in: id, after: RecordID(0), limit: 1000) {
                shown["\(type)/\(entry.stem)"] = try fixture.savedText(entry.id)
            }
        }
        return shown
    }

    private func text(_ token: Int64) throws -> String? {
        try fixture.store.past.version(token).map { String(decoding: $0.text, as: UTF8.self) }
    }

    /// The same of a moment, read in pages; each record is found by its name too.
    private func past(_ token: Int64) throws -> [String: String] {
        let tree = try fixture.store.moments.tree(at: .token(token))
        var shown: [String: String] = [:]
        for type in try tree.types(in: fixture.zone.id) {
            var after: RecordName? = RecordName(bytes: [])
            while let name = after {
                let page = try tree.records(in: fixture.zone.id, type, after: name, limit: 3)
                for record in page.records {
                    let found = try tree.record(in: fixture.zone.id, type, record.stem)
                    #expect(found?.token == record.token, "\(type)/\(record.stem)")
                    #expect(shown["\(type)/\(record.stem)"] == nil, "shown twice")
                    shown["\(type)/\(record.stem)"] = try text(record.token)
                }
                after = page.next
            }
        }
        return shown
    }

    @Test("it shows each record under the name and with the text that it had", arguments: 1...20)
    func shown(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var states: [(token: Int64, shown: [String: String])] = [(0, [:])]
        let stems = ["a", "b", "c", "a:Note", "a:Task", "b:Note", "é", "d%2Fe"]
        for step in 0..<60 {
            let type = fixture.types.randomElement(using: &random)!.id
            let stem = stems.randomElement(using: &random)!
            let entry = try fixture.record(stem, type: type)
            switch (Int.random(in: 0..<4, using: &random), entry) {
            case (0, let entry?): try fixture.delete(entry.id)
            default:
                // Some names are taken by the other type.
                _ = failure { try fixture.save(stem, "{\"n\":\(step)}", type: type) }
            }
            states.append((try fixture.store.past.lastToken(), try present()))
            fixture.clock.advance(.seconds(1))
        }
        for state in states {
            #expect(try past(state.token) == state.shown, "@\(state.token)")
        }
        #expect(states.contains { $0.shown.count > 4 })
    }

    @Test("a long name is found, which the name of its file only shortens")
    func longName() throws {
        let fixture = try StoreFixture()
        let name = RecordName(String(repeating: "/", count: 200))
        let stem = Stem(encoding: name)
        #expect(stem.isShortened)
        try fixture.upsert(name.description, [:])
        let tree = try fixture.store.moments.tree(at: .token(.max))
        let found = try tree.record(in: fixture.zone.id, RecordTypeName("Note"), stem)
        #expect(found?.name == name)
    }

    @Test("old versions go, and no moment within the retention, and none with a name, lacks any")
    func retention() throws {
        let name = try #require(MomentName("release-1.0"))
        var states: [(at: Timestamp, token: Int64, shown: [String: String])] = []
        for week in 0..<40 {
            for stem in ["a", "b"] {
                try fixture.save(stem, "{\"n\":\(week)}")
                if week % 3 == 0 { try fixture.save("w\(week)", "{}") }
            }
            if week % 7 == 0, let entry = try fixture.record("w\(week - 7)") {
                try fixture.delete(entry.id)
            }
            states.append(
                (fixture.clock.now, try fixture.store.past.lastToken(), try present()))
            if week == 5 {
                let moment = try fixture.write { transaction throws(RecordError) in
                    try transaction.upkeep.nameMoment(name, at: nil)
                }
                #expect(moment.token == states[5].token)
            }
            fixture.clock.advance(Self.day * 7)
            try fixture.store.upkeep.purgeTrash()
            while try fixture.store.upkeep.keepSmall() {}
        }
        let first = fixture.clock.now - Self.day * 90
        for (week, state) in states.enumerated() where state.at >= first || week == 5 {
            #expect(try past(state.token) == state.shown, "week \(week)")
        }
        #expect(try fixture.store.moments.tree(at: .named(name)).token == states[5].token)
        let error = #expect(throws: RecordError.self) { try past(states[7].token) }
        #expect(error?.code == .notFound)
        #expect(try fixture.store.past.history(of: RecordName("a"), in: fixture.zone.id).count < 20)
        try fixture.write { transaction throws(RecordError) in
            try transaction.upkeep.removeMoment(name)
        }
        _ = try fixture.store.upkeep.collectGarbage(isRehearsal: false)
        #expect(throws: RecordError.self) { try past(states[5].token) }
        try fixture.expectSound()
    }

    @Test("a name is refused that another moment has, and found only while there is one")
    func names() throws {
        let name = try #require(MomentName("v1"))
        #expect(throws: RecordError.self) { try fixture.store.moments.tree(at: .named(name)).token }
        try fixture.save("a", "{}")
        try fixture.save("b", "{}")
        try fixture.beginDelete(try #require(try fixture.record("a")).id)
        try fixture.write { transaction throws(RecordError) in
            _ = try transaction.upkeep.nameMoment(name, at: nil)
        }
        let token = try fixture.store.moments.tree(at: .named(name)).token
        #expect(try past(token) == ["Note/b": "{}"], "what was removed is not there")
        let again = #expect(throws: RecordError.self) {
            try fixture.write { transaction throws(RecordError) in
                _ = try transaction.upkeep.nameMoment(name, at: .token(1))
            }
        }
        #expect(again?.code == .alreadyExists)
        for text in ["", "1a", "-a", "now", "today 9:00", "yesterday", "a/b", "ä", "a b"] {
            #expect(MomentName(text) == nil, "\(text)")
        }
    }

    @Test("a moment is read in each of its forms")
    func forms() throws {
        let now = Timestamp(seconds: 1_800_000_000, nanoseconds: 0)
        #expect(RestorePoint("10m", now: now) == .time(now - .seconds(600)))
        #expect(RestorePoint("@17", now: now) == .token(17))
        #expect(RestorePoint("17", now: now) == .token(17))
        #expect(RestorePoint("now", now: now) == .time(now))
        #expect(
            RestorePoint("2027-01-15T08:00:00Z", now: now)
                == .time(Timestamp(seconds: 1_800_000_000, nanoseconds: 0)))
        #expect(RestorePoint("v1.0", now: now) == MomentName("v1.0").map { .named($0) })
        #expect(RestorePoint("10 x", now: now) == nil)
    }
}
