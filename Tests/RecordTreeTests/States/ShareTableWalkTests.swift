import RecordModel
import TestSupport
import Testing

@testable import RecordTree

/// The shares that end or are not shown, beside a timeline of each.
@Suite("Ending shares beside their timelines")
struct ShareTableWalkTests {
    /// The times of one share. They count up to the moment, and not in it.
    private struct Timeline {
        var asideUntil = Duration.zero
        var isListedAside = false
        var endsAt: Duration?
    }

    private struct Leave {
        let program: Int32?
        let until: Duration
    }

    private static let files: [ShareFile] =
        (1...2).map { .zone(ZoneID($0)) } + (1...3).map { .record(RecordID($0)) }

    private var table = ShareTable()
    private var timelines: [ShareFile: Timeline] = [:]
    private var leaves: [ZoneID: Leave] = [:]
    private var now = Duration.seconds(1)
    private var random = SeededRandom(seed: 0)

    private mutating func step() -> String? {
        let file = random.pick(Self.files)
        let time = now + .seconds(random.below(5))
        switch random.below(7) {
        case 0:
            table.setAside(file, until: time)
            timelines[file, default: Timeline()].asideUntil = time
            timelines[file]?.isListedAside = true
        case 1:
            let aside = time + .seconds(random.below(4))
            table.end(file, at: time, asideUntil: aside)
            timelines[file] = Timeline(asideUntil: aside, isListedAside: true, endsAt: time)
        case 2:
            let wasEnding = timelines.removeValue(forKey: file)?.endsAt != nil
            guard table.cancelEnd(of: file) == wasEnding else { return "cancels another end" }
        case 3:
            let due = Self.files.filter {
                guard let it = timelines[$0] else { return false }
                return it.isListedAside && it.asideUntil <= now
            }
            guard Set(table.takeShownAgain(at: now)) == Set(due) else { return "shows others" }
            for file in due { timelines[file]?.isListedAside = false }
        case 4:
            let zone = ZoneID(Int64(random.below(2) + 1))
            let program = random.pick([nil, 1, 2] as [Int32?])
            table.noteFailed(FailedLeave(program: program, until: time), of: zone)
            leaves[zone] = Leave(program: program, until: time)
        default: now += .milliseconds(500 * random.below(4))
        }
        return nil
    }

    private mutating func problem() -> String? {
        for file in Self.files {
            let it = timelines[file] ?? Timeline()
            guard table.isAside(file, at: now) == (it.isListedAside && it.asideUntil > now) else {
                return "\(file) is shown at the wrong time"
            }
            guard table.isEnding(file) == (it.endsAt != nil) else { return "\(file) ends or not" }
        }
        let due = Self.files.filter { timelines[$0]?.endsAt.map { $0 <= now } == true }
        guard Set(table.ends(until: now)) == Set(due) else { return "other shares end now" }
        for zone in [ZoneID(1), ZoneID(2)] {
            let counting = leaves[zone].flatMap { $0.until > now ? $0 : nil }
            let found = table.failedLeave(of: zone, at: now)
            guard found?.until == counting?.until, found?.program == counting?.program else {
                return "a failed leave counts at the wrong time"
            }
        }
        guard table.hasFailedLeaves == leaves.values.contains(where: { $0.until > now }) else {
            return "a failed leave is kept for ever"
        }
        return table.violations.first
    }

    @Test("a share is shown, ends and is left when its timeline says so", arguments: 1...40)
    func walk(seed: Int) {
        var walk = ShareTableWalkTests()
        walk.random = SeededRandom(seed: UInt64(seed))
        for number in 0..<300 {
            let problem = walk.step()
            if let problem = problem ?? walk.problem() {
                Issue.record("\(problem), after step \(number) of seed \(seed)")
                return
            }
        }
    }

    @Test("each text is tried once by a handle, and again when another text was between")
    func tried() {
        var table = ShareTable()
        let (one, two) = (HandleNumber(rawValue: 1), HandleNumber(rawValue: 2))
        let tries: [(HandleNumber, String, Bool)] = [
            (one, "a", true), (one, "a", false), (two, "a", true), (one, "b", true),
            (one, "a", true), (two, "a", false),
        ]
        for (handle, text, isNew) in tries {
            let isTried = table.noteTry(text.b, by: handle)
            #expect(isTried == isNew, "\(text) of \(handle)")
        }
        table.forgetTry(by: one)
        let again = [table.noteTry("a".b, by: one), table.noteTry("a".b, by: two)]
        #expect(again == [true, false])
    }
}
