import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random months of a store on whose machine somebody sets the clock: what was deleted stays for its
/// time, counted by the time that really passed, and goes once the clock has been right for as long.
@Suite struct TrashAgeWalkTests {
    @Test(
        "nothing leaves the trash before its time, and nothing stays long after it",
        arguments: LongForm.seeds(12, of: 400))
    func walk(_ seed: Int) throws {
        let walk = try TrashAgeWalk(seed: UInt64(seed))
        try walk.take(60, seed: seed)
    }
}

private final class TrashAgeWalk: StoreWalk {
    private static let day = 24 * 3600
    private let fixture: StoreFixture
    private var random: SeededRandom
    /// The seconds that really passed since the walk began.
    private var passed = 0
    private var lastJump: Int?
    /// The times at which the records got into the trash, and at which conflicts were settled.
    private var trash: [String: Int] = [:]
    private var settled: [String: Int] = [:]
    /// The records that wait for their deletion, with the time since which the clock runs for it.
    private var waiting: [String: Int] = [:]
    private var count = 0
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
        try fixture.store.upkeep.watchClock()
    }

    func next() throws {
        pass(1)
        count += 1
        steps.append("\(passed): \(try step())")
        try expectGrace()
        try expectAges()
        if steps.count.isMultiple(of: 20) { try fixture.expectSound() }
    }

    private func pass(_ seconds: Int) {
        fixture.clock.advance(.seconds(seconds))
        passed += seconds
    }

    private func step() throws -> String {
        switch random.below(9) {
        case 0, 1:
            let name = "r\(count)"
            try fixture.delete(try fixture.save(name, "{}").id)
            trash[name] = passed
            return "delete \(name)"
        case 2: return try settle("c\(count)")
        case 3:
            let name = "w\(count)"
            try fixture.beginDelete(try fixture.save(name, "{}").id)
            waiting[name] = passed
            return "remove \(name)"
        case 4:
            let seconds = random.pick([
                -4000 * Self.day, -2 * Self.day, -3700, 3700, 4000 * Self.day,
            ])
            fixture.clock.set(fixture.clock.now + .seconds(seconds))
            try fixture.store.upkeep.watchClock()
            lastJump = passed
            // Grace times begin again: their times are of another clock.
            waiting = waiting.mapValues { _ in passed }
            return "clock by \(seconds)"
        case 5:
            try fixture.store.upkeep.watchClock()
            let days = random.below(5)
            try fixture.store.close()
            pass(days * Self.day)
            try fixture.reopen()
            try fixture.store.upkeep.watchClock()
            return "closed for \(days) days"
        default:
            let days = random.pick([0, 1, 3, 10, 15])
            pass(days * Self.day + random.below(Self.day))
            try fixture.store.upkeep.watchClock()
            return "\(days) days"
        }
    }

    /// Two edits of one value, and a user who says that the conflict is done with.
    private func settle(_ name: String) throws -> String {
        try fixture.save(name, #"{"n":0}"#)
        try fixture.sendAll(tag: "t\(count)")
        try fixture.save(name, #"{"n":1}"#)
        var change = StoreFixture.told(name, n: 2, tag: "u\(count)")
        let later = (fixture.clock.now + .seconds(5)).milliseconds << 16
        change.stamps = [FieldName("n"): FieldStamp(time: later, device: 7)]
        try fixture.apply(fixture.page([change]))
        let conflicts = try fixture.store.syncState.conflicts(in: fixture.zone.id)
        guard let conflict = conflicts.first(where: { $0.stem == Stem(name) }) else {
            differences.append("\(name) has no conflict")
            return "no conflict"
        }
        try fixture.write { transaction throws(RecordError) in
            try transaction.merging.settle(conflict.id, .merged)
        }
        settled[name] = passed
        return "settle \(name)"
    }

    // MARK: What is left

    /// Waiting deletions become final when their grace time is over, and not before.
    private func expectGrace() throws {
        guard random.below(2) == 0 else { return }
        let grace = random.pick([2, 3 * Self.day])
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(
            olderThan: .seconds(grace), author: .mount)
        for (name, since) in waiting.sorted(by: { $0.key < $1.key }) {
            let isThere = try fixture.record(name) != nil
            if isThere != (passed - since < grace) {
                differences.append("\(name) waits \(passed - since) of \(grace) s: \(isThere)")
            }
            guard !isThere else { continue }
            waiting[name] = nil
            trash[name] = passed
        }
    }

    private func expectAges() throws {
        let age = random.pick([30, 7, 1]) * Self.day
        _ = try fixture.store.upkeep.purgeTrash(
            olderThan: age == 30 * Self.day ? nil : .seconds(age))
        let isSteady = lastJump.map { passed - $0 >= age } ?? true
        let entries = Set(
            try fixture.store.past.trash(in: fixture.zone.id).map { "\($0.stem)" })
        trash = expect(trash, left: entries, age, isSteady)
        let conflicts = try fixture.store.syncState.conflicts(
            in: fixture.zone.id, settledToo: true)
        settled = expect(settled, left: Set(conflicts.map { "\($0.stem)" }), age, isSteady)
    }

    /// Compares what is left with its ages. Returns what should be left.
    private func expect(
        _ all: [String: Int], left: Set<String>, _ age: Int, _ isSteady: Bool
    ) -> [String: Int] {
        let right = all.filter { !isSteady || passed - $0.value < age }
        for name in Set(right.keys).union(left).sorted() {
            let isLeft = left.contains(name)
            guard isLeft != (right[name] != nil) else { continue }
            let old = all[name].map { "\(passed - $0) s" } ?? "unknown"
            differences.append(
                "\(name) of \(old) is \(isLeft ? "left" : "gone") after \(age) s, steady \(isSteady)"
            )
        }
        return right
    }
}
