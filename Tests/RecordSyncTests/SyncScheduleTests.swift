import RecordModel
import RecordSync
import RecordWire
import Testing

/// What is due and when, without a store, a server or time that passes.
@Suite struct SyncScheduleTests {
    private var schedule = SyncSchedule()
    private let box = ZoneID(1)
    private let cup = ZoneID(2)

    /// The first look at the database's feed is over.
    private mutating func start() {
        #expect(begins(at: .zero) == .database)
        schedule.end(.database, .done, at: .zero, jitter: 0.5)
    }

    private mutating func begin(at now: Duration) throws -> SyncSchedule.Job {
        let job = schedule.begin(at: now)
        return try #require(job)
    }

    private mutating func begins(at now: Duration) -> SyncSchedule.Job? {
        schedule.begin(at: now)
    }

    private func upload(_ zone: ZoneID) -> SyncSchedule.Job {
        .zone(zone, downloads: false, uploads: true)
    }

    @Test(
        "the first save is sent at once; more are sent 200 ms after the last, 2 s after the first at most"
    )
    mutating func delay() throws {
        start()
        schedule.changed(box, at: .seconds(1))
        let job = try begin(at: .seconds(1))
        #expect(job == upload(box))
        schedule.changed(box, at: .seconds(1))
        schedule.end(job, .done, at: .seconds(1), jitter: 0)
        #expect(schedule.nextTime() == .milliseconds(1_200))
        schedule.changed(box, at: .milliseconds(1_100))
        #expect(schedule.nextTime() == .milliseconds(1_300))
        #expect(begins(at: .milliseconds(1_299)) == nil)
        for step in 2...30 { schedule.changed(box, at: .seconds(1) + .milliseconds(step * 100)) }
        #expect(schedule.nextTime() == .seconds(3))
        #expect(begins(at: .seconds(3)) == upload(box))
    }

    @Test("of one zone one job is under way; what comes meanwhile is due when it ends")
    mutating func exclusive() throws {
        start()
        schedule.changed(box, at: .zero)
        let job = try begin(at: .seconds(1))
        schedule.changed(box, at: .seconds(1))
        schedule.told(of: box, at: .seconds(1))
        #expect(begins(at: .seconds(2)) == nil)
        schedule.changed(cup, at: .seconds(1))
        #expect(begins(at: .seconds(2)) == upload(cup))
        schedule.end(job, .done, at: .seconds(2), jitter: 0)
        #expect(begins(at: .seconds(2)) == .zone(box, downloads: true, uploads: true))
    }

    @Test("no more jobs are under way than allowed")
    mutating func width() {
        start()
        for number in 1...10 { schedule.changed(ZoneID(Int64(number)), at: .zero) }
        var begun: [SyncSchedule.Job] = []
        while let job = schedule.begin(at: .seconds(1)) { begun.append(job) }
        #expect(begun.count == 4)
        #expect(schedule.nextTime() == nil)
        schedule.end(begun[0], .done, at: .seconds(1), jitter: 0)
        #expect(begins(at: .seconds(1)) == upload(ZoneID(5)))
    }

    @Test("a zone that fails waits twice as long each time, and others go on")
    mutating func backoff() throws {
        start()
        schedule.changed(box, at: .zero)
        var now = Duration.seconds(1)
        for wait in [500, 1_000, 2_000, 4_000] {
            let job = try begin(at: now)
            schedule.end(
                job, .failed(retryAfter: nil, ofServer: false), at: now, jitter: 1)
            schedule.changed(cup, at: now - .seconds(1))
            let other = try begin(at: now)
            #expect(other == upload(cup))
            schedule.end(other, .done, at: now, jitter: 0)
            now += .milliseconds(wait)
            #expect(begins(at: now - .milliseconds(1)) == nil)
        }
        let job = try begin(at: now)
        schedule.end(job, .done, at: now, jitter: 0)
        schedule.changed(box, at: now)
        #expect(begins(at: now + .milliseconds(200)) == upload(box))
    }

    @Test("when the server cannot be reached everything waits, and goes on after the first success")
    mutating func unreachable() throws {
        start()
        schedule.changed(box, at: .zero)
        schedule.changed(cup, at: .zero)
        let job = try begin(at: .seconds(1))
        schedule.end(job, .failed(retryAfter: nil, ofServer: true), at: .seconds(1), jitter: 1)
        #expect(begins(at: .milliseconds(1_499)) == nil)
        let next = try begin(at: .milliseconds(1_500))
        schedule.end(next, .done, at: .milliseconds(1_500), jitter: 0)
        #expect(begins(at: .milliseconds(1_500)) == upload(cup))
    }

    @Test(
        "of two jobs at the same time, one without an answer makes all wait, whichever ends first")
    mutating func concurrentEndings() throws {
        for isDatabaseFirst in [true, false] {
            schedule = SyncSchedule()
            schedule.changed(box, at: .zero)
            let both = [try begin(at: .seconds(1)), try begin(at: .seconds(1))]
            #expect(both == [.database, upload(box)])
            for job in isDatabaseFirst ? both : both.reversed() {
                schedule.end(
                    job, job == .database ? .done : .unanswered, at: .seconds(1), jitter: 1)
            }
            #expect(begins(at: .seconds(1)) == nil)
            let again = try begin(at: .seconds(6))
            #expect(again == upload(box))
            // This one began after the failure.
            schedule.end(again, .done, at: .seconds(6), jitter: 0)
            schedule.changed(cup, at: .zero)
            #expect(begins(at: .seconds(6)) == upload(cup))
        }
    }

    @Test("who has no answer asks again within five seconds, however often there was none")
    mutating func unanswered() throws {
        start()
        schedule.changed(box, at: .zero)
        var now = Duration.seconds(1)
        for _ in 0..<20 {
            let job = try begin(at: now)
            schedule.end(job, .unanswered, at: now, jitter: 1)
            let next = try #require(schedule.nextTime())
            #expect(next - now <= .seconds(5))
            now = next
        }
        #expect(begins(at: now) != nil)
    }

    @Test("the first answer that anybody gets ends the wait, but for what the server asks for")
    mutating func online() throws {
        start()
        schedule.changed(box, at: .zero)
        for second in 1...8 {
            let now = Duration.seconds(10 * second)
            let job = try begin(at: now)
            schedule.end(job, .unanswered, at: now, jitter: 1)
        }
        #expect(begins(at: .seconds(81)) == nil)
        schedule.online(at: .seconds(81))
        #expect(begins(at: .seconds(81)) == .database)
        #expect(begins(at: .seconds(81)) == upload(box))
        schedule.end(
            .database, .failed(retryAfter: .seconds(600), ofServer: true), at: .seconds(82),
            jitter: 0)
        schedule.online(at: .seconds(83))
        #expect(begins(at: .seconds(90)) == nil)
    }

    @Test("what the server asks for is waited for, also by somebody who wants it now")
    mutating func throttled() throws {
        start()
        schedule.changed(box, at: .zero)
        let job = try begin(at: .seconds(1))
        schedule.end(
            job, .failed(retryAfter: .seconds(7_200), ofServer: true), at: .seconds(1), jitter: 0)
        schedule.kick(at: .seconds(2))
        #expect(begins(at: .seconds(7_200)) == nil)
        #expect(begins(at: .seconds(7_201)) != nil)
    }

    @Test("somebody who wants it now does not wait for a backoff")
    mutating func kick() throws {
        start()
        schedule.changed(box, at: .zero)
        for _ in 0..<8 {
            schedule.kick(at: .seconds(1))
            #expect(begins(at: .seconds(1)) == .database)
            schedule.end(.database, .done, at: .seconds(1), jitter: 1)
            let job = try begin(at: .seconds(1))
            schedule.end(
                job, .failed(retryAfter: nil, ofServer: false), at: .seconds(1), jitter: 1)
        }
        #expect(begins(at: .seconds(2)) == nil)
        schedule.kick(at: .seconds(2))
        #expect(begins(at: .seconds(2)) == .database)
        #expect(begins(at: .seconds(2)) == upload(box))
    }

    @Test("paused and signed out nothing begins, and nothing is forgotten")
    mutating func paused() throws {
        start()
        schedule.changed(box, at: .zero)
        schedule.pause()
        #expect(begins(at: .seconds(9)) == nil)
        #expect(schedule.nextTime() == nil)
        schedule.resume(at: .seconds(10))
        #expect(begins(at: .seconds(10)) == .database)
        let job = try begin(at: .seconds(10))
        schedule.end(job, .needsSignIn, at: .seconds(10), jitter: 0)
        schedule.end(.database, .needsSignIn, at: .seconds(10), jitter: 0)
        #expect(schedule.needsSignIn)
        #expect(begins(at: .seconds(5_000)) == nil)
        schedule.kick(at: .seconds(5_000))
        #expect(begins(at: .seconds(5_000)) == .database)
        #expect(begins(at: .seconds(5_000)) == upload(box))
    }

    @Test("the database is looked at again and again, not by all clients at once")
    mutating func poll() {
        start()
        #expect(schedule.nextTime() == .seconds(30))
        #expect(begins(at: .seconds(30)) == .database)
        schedule.end(.database, .done, at: .seconds(30), jitter: 0)
        #expect(schedule.nextTime() == .seconds(57))
        schedule.told(at: .seconds(40))
        #expect(begins(at: .seconds(40)) == .database)
    }

    @Test("waits grow to a limit and stay finite however often it failed")
    func waits() {
        let backoff = Backoff()
        #expect(backoff.wait(failures: 0, jitter: 0) == .milliseconds(250))
        #expect(backoff.wait(failures: 1, jitter: 0) == .milliseconds(250))
        #expect(backoff.wait(failures: .max, jitter: 0.999) <= .seconds(300))
        #expect(backoff.wait(failures: .max, jitter: 0) == .seconds(150))
    }
}
