import RecordModel
import RecordSQL
import RecordStoreSync
import TestSupport
import Testing

@testable import RecordStore

/// Random histories over years: what the retention keeps is all that anything needs, and no more.
@Suite struct RetentionWalkTests {
    @Test(
        "what a retention removes changes nothing that shows, that is sent, or that merges need",
        arguments: LongForm.seeds(12, of: 200))
    func walk(_ seed: Int) throws {
        let walk = try RetentionWalk(seed: UInt64(seed))
        for _ in 1...8 where walk.differences.isEmpty {
            for _ in 1...30 { try walk.step() }
            try walk.purge()
        }
        #expect(walk.differences == [], "seed \(seed), after \(walk.steps.joined(separator: "; "))")
    }

    @Test("a value that came back unchanged after a deletion keeps its time over a retention")
    func comeBack() throws {
        let fixture = try StoreFixture()
        try fixture.save("a", #"{"old":1,"n":0}"#)
        try fixture.sendAll(tag: "t1")
        try fixture.save("a", #"{"old":2,"n":0}"#)
        let stamp = try #require(try fixture.edits("a")["old"])
        try fixture.delete(try #require(try fixture.record("a")).id)
        try fixture.save("a", #"{"old":2,"n":0}"#)
        for number in 1...20 { try fixture.save("a", "{\"old\":2,\"n\":\(number)}") }
        #expect(try fixture.edits("a")["old"] == stamp)
        fixture.clock.advance(.seconds(181 * 24 * 3600))
        _ = try fixture.store.upkeep.purgeTrash()
        while try fixture.store.upkeep.keepSmall() {}
        #expect(try fixture.kinds("a").count < 18)
        #expect(try fixture.edits("a")["old"] == stamp)
        #expect(try fixture.claim().first?.stamps[FieldName("old")]?.time == stamp.time)
    }
}

extension StoreFixture {
    /// The knowledge of a merge about the last change of each field.
    struct Edit: Equatable {
        let time: Int64
        let author: Author
        let isOfCreation: Bool
        let isExact: Bool
    }

    fileprivate func edits(_ name: String) throws(RecordError) -> [String: Edit] {
        try write(.sync) { transaction throws(RecordError) in
            let fields = ["old", "n", "m", "k"].map { FieldName($0) }
            var edits: [String: Edit] = [:]
            for (field, edit) in try transaction.merging.lastEdits(
                of: fields, RecordName(name), self.zone.id)
            {
                edits[field.description] = Edit(
                    time: edit.stamp.time, author: edit.author, isOfCreation: edit.isOfCreation,
                    isExact: edit.isExact)
            }
            return edits
        }
    }
}

private final class RetentionWalk {
    /// The state that has to be the same before and after a retention.
    private struct Needed: Equatable {
        var texts: [String: String] = [:]
        var edits: [String: [String: StoreFixture.Edit]] = [:]
        var outbox: [OutboxRow] = []
        var bases: [String: AcknowledgedState] = [:]
        var trash: [String] = []
    }

    private let fixture: StoreFixture
    private var random: SeededRandom
    private let names = (0..<4).map { "r\($0)" }
    private var begins: [String: Int] = [:]
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
    }

    func step() throws {
        fixture.clock.advance(.seconds(random.below(3) * 24 * 3600 + 1))
        let name = random.pick(names)
        steps.append("\(try step(name)) \(name)")
    }

    private func step(_ name: String) throws -> String {
        let id = try fixture.record(name)?.id
        switch random.below(10) {
        case 0, 1, 2, 3, 4:
            // A record begins twice at most: merges look back over one deletion.
            if id == nil {
                guard begins[name] ?? 0 < 2 else { return "nothing" }
                begins[name, default: 0] += 1
            }
            var members = id == nil && begins[name] == 1 ? [] : ["\"old\":1"]
            for field in ["n", "m", "k"] where random.below(3) > 0 {
                members.append("\"\(field)\":\(random.below(3))")
            }
            try fixture.save(name, "{\(members.joined(separator: ","))}")
            return "save \(members)"
        case 5:
            guard random.below(3) == 0, let id else { return "nothing" }
            try fixture.delete(id)
            return "delete"
        case 6:
            for claim in try fixture.claim() {
                if random.below(4) == 0 {
                    try fixture.fail(claim)
                } else {
                    try fixture.complete(claim, tag: "t\(steps.count)")
                }
            }
            return "send"
        case 7:
            guard id != nil else { return "nothing" }
            try fixture.upsert(
                name, ["n": .int64(Int64(random.below(9)))], tag: "t\(steps.count)")
            return "told of"
        case 8:
            _ = try fixture.store.index.search(fixture.zone.id, words: "x")
            return "search"
        default:
            try fixture.reopen()
            return "reopen"
        }
    }

    private func needed() throws -> Needed {
        var needed = Needed()
        for name in names {
            guard let id = try fixture.record(name)?.id else { continue }
            needed.texts[name] = try fixture.savedText(id)
            needed.edits[name] = try fixture.edits(name)
            needed.bases[name] = try fixture.store.read { connection throws(RecordError) in
                try connection.sync.base(of: id)
            }
        }
        needed.outbox = try fixture.outbox()
        needed.trash = try fixture.store.past.trash(in: fixture.note).map {
            String(decoding: try fixture.store.past.trashed($0.id)?.text ?? [], as: UTF8.self)
        }
        return needed
    }

    func purge() throws {
        fixture.clock.advance(.seconds(20 * 24 * 3600))
        // What is in the trash keeps its versions.
        _ = try fixture.store.upkeep.purgeTrash()
        let before = try needed()
        let all = try fixture.store.past.changes(after: 0, limit: 10_000)
        while try fixture.store.upkeep.keepSmall() {}
        let after = try needed()
        if before != after { differences.append("\(before) has become \(after)") }
        let left = Set(
            try fixture.store.past.changes(after: 0, limit: 10_000).map(\.token))
        try expectLeft(all, left)
        try fixture.expectSound()
    }

    /// Young versions and the newest are left; of an existing record the last ten; of old ones no
    /// more than these, one for each field, two that begin it, one before its deletion, and those
    /// that the server has or is about to get.
    private func expectLeft(_ all: [HistoryRow], _ left: Set<Int64>) throws {
        let limit = fixture.clock.now - .seconds(90 * 24 * 3600)
        for row in all where row.at >= limit && !left.contains(row.token) {
            differences.append("a young version of \(row.name) is gone")
        }
        if let last = all.last, !left.contains(last.token) {
            differences.append("the newest version is gone")
        }
        for name in names {
            let own = all.filter { $0.name == RecordName(name) }
            let isThere = try fixture.record(name) != nil
            if isThere, !own.suffix(10).allSatisfy({ left.contains($0.token) }) {
                differences.append("one of the last ten versions of \(name) is gone")
            }
            let isKept = try fixture.store.past.trash(in: fixture.note).contains {
                $0.name == RecordName(name)
            }
            let waits = try fixture.outbox().contains { $0.name == RecordName(name) }
            guard !isKept, isThere || !waits else { continue }
            let old = own.dropLast(isThere ? 10 : 0).filter {
                $0.at < limit && left.contains($0.token)
            }
            // The index of words may still need a version.
            let most = isThere ? 5 + 3 + 4 : 1
            if try old.count > most && fixture.store.index.searchBacklog() == 0 {
                differences.append("\(old.count) old versions of \(name) stay")
            }
        }
    }
}
