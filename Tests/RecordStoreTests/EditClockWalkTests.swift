import RecordModel
import RecordStoreSync
import TestSupport
import Testing

@testable import RecordStore

/// Random edits of a store whose clock and whose neighbours' clocks are wrong.
@Suite struct EditClockWalkTests {
    @Test(
        "an edit is later than all that its machine has seen, and no wrong clock moves it by days",
        arguments: LongForm.seeds(12, of: 300))
    func walk(_ seed: Int) throws {
        let walk = try EditClockWalk(seed: UInt64(seed))
        try walk.take(70, seed: seed)
    }

    @Test(
        "a time that was only heard is remembered over a restart, and one that is days ahead is not",
        arguments: [2, 23, 25])
    func heard(_ hours: Int) throws {
        let fixture = try StoreFixture()
        try fixture.upsert("a", ["n": .int64(1)])
        try fixture.save("b", #"{"n":1}"#)
        let time = (fixture.clock.now + .seconds(hours * 3600)).milliseconds << 16
        // The value is the same as before: nothing but its stamp is new.
        var change = StoreFixture.told("a", n: 1, tag: "r2")
        change.stamps = [FieldName("n"): FieldStamp(time: time, device: 7)]
        try fixture.apply(fixture.page([change]))
        try fixture.reopen()
        fixture.clock.advance(.seconds(1))
        for name in ["b", "a"] { try fixture.save(name, #"{"n":2}"#) }
        #expect(try fixture.stamp("a") > time, "its own field's stamp")
        #expect(try (fixture.stamp("b") > time) == (hours < 24))
    }
}

extension StoreFixture {
    /// The time of the last edit of a record's field `n`.
    fileprivate func stamp(_ name: String) throws -> Int64 {
        try write(.sync) { transaction throws(RecordError) in
            let field = FieldName("n")
            let edits = try transaction.merging.lastEdits(
                of: [field], RecordName(name), self.zone.id)
            return edits[field]?.stamp.time ?? 0
        }
    }
}

private final class EditClockWalk: StoreWalk {
    private static let hour = 3600
    private static let day: Int64 = 86_400_000
    private let fixture: StoreFixture
    private var random: SeededRandom
    /// The latest stamp that this machine gave or believed, and must remember.
    private var latest: Int64 = 0
    /// The same with those that it may forget, because its clock was set back by more than a day.
    private var highest: Int64 = 0
    /// The stamp that each record's value has, believed or not, and the latest that it ever had.
    private var stamps: [String: Int64] = [:]
    private var ever: [String: Int64] = [:]
    private var count: Int64 = 0
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
        try fixture.save("a", #"{"n":0}"#)
        latest = try fixture.stamp("a")
        (highest, stamps["a"], ever["a"]) = (latest, latest, latest)
    }

    func next() throws {
        fixture.clock.advance(.milliseconds(random.below(2000)))
        steps.append(try step(random.pick(["a", "b"])))
    }

    private var now: Int64 { fixture.clock.now.milliseconds }

    private func step(_ name: String) throws -> String {
        count += 1
        switch random.below(10) {
        case 0, 1, 2: return try edit(name)
        case 3, 4, 5: return try tell(name)
        case 6:
            let hours = random.pick([-60, -30, -20, -1, 1, 20, 30])
            fixture.clock.set(fixture.clock.now + .seconds(hours * Self.hour))
            return "clock by \(hours) hours"
        case 7:
            try fixture.reopen()
            return "reopen"
        case 8:
            // A transaction that fails gives no time.
            _ = failure {
                try fixture.write { transaction throws(RecordError) in
                    _ = try transaction.records.save(
                        text: Array("{\"n\":-1}".utf8), type: self.fixture.note, stem: Stem("a"))
                    throw RecordError(.interrupted, "stop")
                }
            }
            return "fail"
        default:
            try fixture.sendAll(tag: "t\(count)")
            return "send"
        }
    }

    private func edit(_ name: String) throws -> String {
        try fixture.save(name, "{\"n\":\(count)}")
        let time = try fixture.stamp(name)
        forget()
        if time <= latest { differences.append("\(time) is not after \(latest)") }
        if time <= stamps[name] ?? 0 { differences.append("\(time) is before its field's") }
        if time < now << 16 { differences.append("\(time) is before the clock") }
        let most = max(now << 16, ever[name] ?? 0, highest)
        if time > most + 1000 << 16 { differences.append("\(time) is long after \(most)") }
        // A stamp that only had to be after the record's own says nothing about the clock.
        let isOfClock = time != (ever[name] ?? 0) + 1
        if isOfClock { (latest, highest) = (time, max(highest, time)) }
        (stamps[name], ever[name]) = (time, max(ever[name] ?? 0, time))
        return "edit \(name): \(time >> 16)"
    }

    /// A time that is more than a day ahead may come from a clock that was wrong.
    private func forget() {
        if latest >= (now + Self.day) << 16 { latest = 0 }
    }

    /// Another machine, whose clock is wrong, has given the field a value, or the one that it has.
    private func tell(_ name: String) throws -> String {
        let hours = Int64(random.pick([-50, -3, 0, 2, 20, 23, 25, 300]))
        let time = (now + hours * Int64(Self.hour) * 1000) << 16 + Int64(random.below(5))
        let isSame = random.below(2) == 0
        let known = try fixture.store.acknowledged(RecordName(name), in: fixture.zone.id)?
            .document[FieldName("n")]
        let value = isSame ? known ?? .int64(count) : .int64(count)
        var change = RemoteChange(
            type: RecordTypeName("Note"), name: RecordName(name),
            operation: .upsert([RecordField(name: FieldName("n"), value: value)], parent: nil),
            changeTag: "t\(count)", modifiedBy: "_other")
        change.stamps = [FieldName("n"): FieldStamp(time: time, device: 7)]
        try fixture.apply(fixture.page([change], token: "\(count)"))
        forget()
        let isBelieved = time < (now + Self.day) << 16
        if isBelieved { (latest, highest) = (max(latest, time), max(highest, time)) }
        (stamps[name], ever[name]) = (time, max(ever[name] ?? 0, time))
        return "told of \(name) \(isSame ? "again" : "anew") at \(hours) h"
    }
}
