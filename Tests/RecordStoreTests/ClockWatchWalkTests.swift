import RecordModel
import TestSupport
import Testing

@testable import RecordStore

/// Random hours of a machine whose clock somebody sets, and on which the store is closed at times:
/// an age is trusted when no jump lies within it, counted by the time that really passed.
@Suite struct ClockWatchWalkTests {
    @Test(
        "an age is trusted exactly when the clock has run without a jump for that long",
        arguments: LongForm.seeds(40, of: 2000))
    func walk(_ seed: Int) {
        var walk = ClockWatchWalk(seed: UInt64(seed))
        for _ in 1...120 where walk.differences.isEmpty { walk.next() }
        #expect(walk.differences == [], "seed \(seed), after \(walk.steps.joined(separator: "; "))")
    }

    /// What a clock that was set by so many milliseconds means.
    @Test(
        "a step of more than a second is seen, one of more than an hour is a jump",
        arguments: [
            (0, false, false), (1000, false, false), (1001, true, false), (-1000, false, false),
            (-1001, true, false), (3_600_000, true, false), (3_600_001, true, true),
            (-3_600_000, true, false), (-3_600_001, true, true),
        ])
    func step(_ milliseconds: Int, isSeen: Bool, isJump: Bool) {
        let start = Timestamp(seconds: 1_800_000_000)
        var watch = ClockWatch()
        let isSeenBefore = watch.look(now: start, uptime: .zero)
        #expect(!isSeenBefore, "it has not begun")
        watch.begin(now: start, uptime: .seconds(50), seen: nil, steady: nil)
        let later = start + .seconds(10) + .milliseconds(milliseconds)
        let isSeenThen = watch.look(now: later, uptime: .seconds(60))
        #expect(isSeenThen == isSeen)
        #expect(watch.isSteady(for: .seconds(1)) == !isJump)
        #expect(watch.steady == (isJump ? .zero : nil))
        // The same clock goes on: nothing is seen twice.
        let isSeenAgain = watch.look(now: later + .seconds(5), uptime: .seconds(65))
        #expect(!isSeenAgain)
        #expect(watch.isSteady(for: .seconds(5)))
        #expect(watch.isSteady(for: .seconds(6)) == !isJump)
    }
}

private struct ClockWatchWalk {
    private var random: SeededRandom
    private var watch = ClockWatch()
    private var now = Timestamp(seconds: 1_800_000_000)
    private var uptime: Duration = .seconds(100)
    /// The uptime of the last jump. Nil when there was none.
    private var lastJump: Duration?
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        watch.begin(now: now, uptime: uptime, seen: nil, steady: nil)
    }

    mutating func next() {
        // Time passes, and nobody looks for a while.
        let pause = Duration.seconds(random.pick([0, 1, 60, 3600, 86_400, 5 * 86_400]))
        (now, uptime) = (now + pause, uptime + pause)
        switch random.below(6) {
        case 0:
            let seconds = random.pick([-90_000, -3601, -3600, -2, -1, 1, 2, 3600, 3601, 90_000])
            now = now + .seconds(seconds)
            look("set by \(seconds)", by: seconds)
        case 1: reopen()
        default: look("wait", by: 0)
        }
        for age in [0, 1, 3600, 86_400, 7 * 86_400, 90 * 86_400] {
            let age = Duration.seconds(age)
            let right = lastJump.map { uptime - $0 >= age } ?? true
            if watch.isSteady(for: age) != right {
                differences.append("\(age) is \(right ? "" : "not ")to be trusted")
            }
        }
    }

    private mutating func look(_ what: String, by seconds: Int) {
        steps.append(what)
        if abs(seconds) > 3600 { lastJump = uptime }
        if watch.look(now: now, uptime: uptime) != (abs(seconds) > 1) {
            differences.append("\(what) is \(abs(seconds) > 1 ? "not seen" : "seen")")
        }
    }

    /// The store is closed for some days, over a start of the machine, and opened again. The times
    /// are stored in seconds.
    private mutating func reopen() {
        look("close", by: 0)
        let (seen, steady) = (now, watch.steady.map { Duration.seconds($0.components.seconds) })
        let days = random.pick([0, 1, 89, 90, 91, 200])
        let absence = Duration.seconds(days * 86_400)
        now = now + absence
        // The uptime of another start of the machine: only its differences mean something.
        let base = Duration.seconds(random.below(1_000_000))
        lastJump = lastJump.map { base - (uptime + absence - $0) }
        uptime = base
        if days > 90 { lastJump = uptime }
        watch = ClockWatch()
        watch.begin(now: now, uptime: uptime, seen: seen, steady: steady)
        steps.append("open after \(days) days")
        if watch.look(now: now, uptime: uptime) != (days > 90) {
            differences.append("an absence of \(days) days")
        }
    }
}
