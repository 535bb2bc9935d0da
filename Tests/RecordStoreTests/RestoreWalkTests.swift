import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random histories of two types, brought back to random moments of them: what was there then is
/// there as it was, and what was made since stays.
@Suite struct RestoreWalkTests {
    @Test(
        "records become as they were at a moment, and those made since stay",
        arguments: LongForm.seeds(15, of: 150))
    func restore(_ seed: Int) throws {
        let walk = try RestoreWalk(seed: UInt64(seed))
        for _ in 1...3 {
            for _ in 1...25 { try walk.next() }
            try walk.restore("seed \(seed), after \(walk.steps.joined(separator: "; "))")
        }
    }
}

private final class RestoreWalk {
    /// The saved texts of the records that show, by TYPE/NAME, without blanks: a layout alone is no
    /// version.
    private typealias Shown = [String: String]
    private let fixture: StoreFixture
    private var random: SeededRandom
    /// The moments at which no record waited for its deletion, with what showed then.
    private var moments: [(time: Timestamp, token: Int64, shown: Shown)] = []
    private(set) var steps: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        let type = random.pick(fixture.types)
        let stem = "\(type.name.lowercased())\(random.below(4))"
        let step = try step(stem, type)
        steps.append("\(step) \(stem)")
        let isAnyWaiting = try fixture.types.contains { type in
            try (0..<4).contains { number in
                let stem = Stem("\(type.name.lowercased())\(number)")
                return try fixture.store.record(type.id, stem)?.state == .waitingDelete
            }
        }
        guard !isAnyWaiting else { return }
        moments.append(
            (fixture.clock.now, try fixture.store.past.lastToken(), try shown()))
    }

    private func step(_ stem: String, _ type: (name: String, id: TypeID)) throws -> String {
        let record = try fixture.record(stem, type: type.id)
        switch random.below(10) {
        case 0, 1, 2, 3:
            let text = "{ \"n\": \(random.below(5)) }\n"
            try fixture.save(stem, text, type: type.id)
            return "save"
        case 4:
            try fixture.upsert(
                stem, ["n": .int64(Int64(random.below(5)))], type: type.name,
                tag: "t\(steps.count)")
            return "told of"
        case 5:
            try fixture.remoteDelete(stem)
            return "deleted there:"
        case 6:
            guard let record, record.state == .saved else { return "no" }
            let other = Stem("\(type.name.lowercased())\(random.below(4))")
            guard other != Stem(stem) else { return "not renamed:" }
            _ = try fixture.write { transaction throws(RecordError) in
                try transaction.records.rename(record.id, toType: type.id, stem: other)
            }
            try finalize()
            return "renamed to \(other):"
        case 7:
            guard let record else { return "no" }
            try fixture.beginDelete(record.id)
            return "remove"
        case 8:
            try finalize()
            return "finalize"
        default:
            guard let record, record.state == .saved else { return "no" }
            try fixture.setAsset(record.id, "file", bytes: "bytes \(random.below(3))")
            return "asset of"
        }
    }

    private func document(_ text: String, _ type: String) throws -> RecordDocument {
        try RecordDocument(
            parsing: Array(text.utf8), schema: try fixture.store.schema(of: RecordTypeName(type)))
    }

    private func finalize() throws {
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
    }

    private func shown() throws -> Shown {
        var shown: Shown = [:]
        for type in fixture.types {
            try fixture.store.withRecords(in: type.id) { entry, text in
                shown["\(type.name)/\(entry.stem)"] = String(
                    decoding: text.filter { $0 > 0x20 }, as: UTF8.self)
            }
        }
        return shown
    }

    func restore(_ comment: String) throws {
        guard let moment = moments.isEmpty ? nil : random.pick(moments) else { return }
        let now = try shown()
        fixture.clock.advance(.seconds(1))
        let point: RestorePoint =
            random.below(2) == 0 ? .time(moment.time) : .token(moment.token)
        let draft = try leaveDraft(in: now)
        let isExact = random.below(2) == 0
        let preview = try fixture.store.past.restorePlan(
            RestoreScope(), to: point, isExact: isExact)
        let plan = try fixture.write(.commandLine) { transaction throws(RecordError) in
            try transaction.restore(RestoreScope(), to: point, isExact: isExact)
        }
        let changed = moment.shown.filter { now[$0.key] != $0.value }.keys
        let steps = plan.steps.filter { !$0.isRemoval }
        let names = steps.map { "\($0.type)/\($0.stem)" }
        // A layout may come back too, as the version has it.
        #expect(Set(names).isSuperset(of: changed), "\(comment)")
        #expect(Set(moment.shown.keys).isSuperset(of: names), "\(comment)")
        #expect(preview.steps.map(\.stem) == plan.steps.map(\.stem), "\(comment)")
        let since = now.filter { moment.shown[$0.key] == nil }
        let removed = plan.steps.filter(\.isRemoval).map { "\($0.type)/\($0.stem)" }
        let staying = isExact ? since.filter { $0.key == draft } : since
        #expect(
            Set(removed) == Set(since.keys).subtracting(staying.keys), "\(comment): exactly these")
        #expect(plan.madeSince == staying.count && plan.inTheWay == 0, "\(comment)")
        let (after, right) = (try shown(), moment.shown.merging(staying) { then, _ in then })
        for path in Set(after.keys).union(right.keys) {
            let (here, then) = (after[path] ?? "-", right[path] ?? "-")
            #expect(
                here == then, "\(comment): \(path) was \(now[path] ?? "-"), back to \(point)")
        }
        for step in steps {
            let path = "\(step.type)/\(step.stem)"
            #expect(step.wasDeleted == (now[path] == nil), "\(comment): \(path)")
            #expect(step.keepsDraft == (path == draft), "\(comment): \(path)")
        }
        try expectDraft(draft)
        try expectSent()
        try fixture.expectSound()
        // Nothing is left to bring back.
        let again = try fixture.store.past.restorePlan(
            RestoreScope(), to: point, isExact: isExact)
        #expect(again.steps.isEmpty, "\(comment)")
    }

    /// A refused text stays in its file, whatever becomes of the record below it.
    private func leaveDraft(in now: Shown) throws -> String? {
        guard random.below(2) == 0,
            let path = now.keys.filter({ $0.hasPrefix("Note/") }).min()
        else { return nil }
        _ = try fixture.draft(String(path.dropFirst(5)), "{ half")
        return path
    }

    private func expectDraft(_ path: String?) throws {
        guard let path else { return }
        let stem = String(path.dropFirst(5))
        #expect(try fixture.text(stem) == "{ half")
        let id = try #require(try fixture.record(stem)).id
        try fixture.write { transaction throws(RecordError) in
            _ = try transaction.records.discardDraft(id)
        }
    }

    /// Everything that the server does not have in this state waits to be sent.
    private func expectSent() throws {
        let pending = Set(try fixture.outbox().filter { $0.operation != .delete }.map(\.name))
        for (path, text) in try shown() {
            let name = RecordName(String(path.dropFirst(5)))
            let there = try fixture.store.acknowledged(name, in: fixture.zone.id)
            let here = try document(text, String(path.prefix(4)))
            #expect(
                there?.document.hasSameValues(as: here) == true || pending.contains(name), "\(path)"
            )
        }
    }
}
