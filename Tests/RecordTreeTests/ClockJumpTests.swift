import Glibc
import RecordModel
import RecordStore
import RecordTree
import Synchronization
import TestSupport
import Testing

@Suite("A clock that somebody sets")
struct ClockJumpTests {
    private static let tenYears: Duration = .seconds(10 * 365 * 24 * 3600)
    private static let day: Duration = .seconds(24 * 3600)

    @Test("times of saves are the clock's after it was ahead, and the order is that of the saves")
    func times() throws {
        let fixture = try TreeFixture()
        let start = fixture.clock.now
        try fixture.put("{\"n\": 1}", as: "a.json")
        fixture.clock.set(start + Self.tenYears)
        try fixture.put("{\"n\": 2}", as: "a.json")
        fixture.clock.set(start + .seconds(60))
        try fixture.put("{\"n\": 3}", as: "a.json")
        try fixture.put("{\"n\": 1}", as: "b.json")
        let (a, b) = (try #require(try fixture.lookup("a.json")), try fixture.lookup("b.json"))
        #expect(a.attributes.modified == start + .seconds(60))
        #expect(b?.attributes.modified == start + .seconds(60))
        let directory = try fixture.tree.attributes(of: fixture.notes, handle: nil).0
        #expect(directory.modified == start + .seconds(60))
        let versions = try fixture.history.filter { $0.name == RecordName("a") }
        #expect(
            versions.map { String(decoding: $0.text, as: UTF8.self) }
                == ["{\"n\": 1}", "{\"n\": 2}", "{\"n\": 3}"])
        #expect(
            versions.map(\.at) == [start, start + Self.tenYears, start + .seconds(60)])
    }

    @Test("a run ten years ahead purges no trash, and the trash goes at its time all the same")
    func trash() throws {
        let fixture = try TreeFixture()
        try remove("a.json", fixture)
        let start = fixture.clock.now
        fixture.clock.set(start + Self.tenYears)
        for _ in 0..<29 { try pass(Self.day, fixture) }
        try remove("b.json", fixture)
        #expect(try trashed(fixture) == 2, "both are younger than 30 days")
        fixture.clock.set(start + Self.day * 30)
        for _ in 0..<29 { try pass(Self.day, fixture) }
        #expect(try trashed(fixture) == 2, "their times mean nothing after the jump")
        for _ in 0..<3 { try pass(Self.day, fixture) }
        #expect(try trashed(fixture) == 0)
    }

    @Test("trash of a clock that was ten years behind lives for its 30 days")
    func clockBehind() throws {
        let fixture = try TreeFixture()
        let start = fixture.clock.now
        fixture.clock.set(start - Self.tenYears)
        try remove("a.json", fixture)
        fixture.clock.set(start)
        for _ in 0..<29 { try pass(Self.day, fixture) }
        #expect(try trashed(fixture) == 1)
        for _ in 0..<3 { try pass(Self.day, fixture) }
        #expect(try trashed(fixture) == 0)
    }

    @Test(
        "the grace of a delete is neither cut short nor drawn out by a jump",
        arguments: [tenYears, Duration.zero - tenYears])
    func grace(jump: Duration) throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"n\": 1}", as: "a.json")
        try fixture.maintain()
        try fixture.remove("a.json")
        fixture.clock.set(fixture.clock.now + jump)
        try fixture.maintain()
        #expect(try fixture.record("a")?.state == .waitingDelete)
        fixture.clock.advance(.seconds(4))
        try fixture.maintain()
        #expect(try fixture.record("a") == nil)
        #expect(try trashed(fixture) == 1)
    }

    @Test("a read that waits for bytes has its 30 seconds, wherever the clock goes")
    func deadline() throws {
        let fixture = try TreeFixture(fetcher: HeldFetcher())
        let (handle, start) = try fixture.readWithheldAsset()
        defer { fixture.tree.release(handle) }
        let answers = Mutex(0)
        _ = start { _ in answers.withLock { $0 += 1 } }
        let now = fixture.clock.now
        for time in [now + Self.tenYears, now - Self.tenYears] {
            fixture.clock.set(time)
            try fixture.maintain()
            #expect(answers.withLock { $0 } == 0)
        }
        fixture.clock.advance(.seconds(31))
        try fixture.maintain()
        #expect(answers.withLock { $0 } == 1)
    }

    @Test(".error tells of the draft that came last, though one is of a clock that was ahead")
    func lastDraft() throws {
        let fixture = try TreeFixture()
        let start = fixture.clock.now
        fixture.clock.set(start + Self.tenYears)
        #expect(throws: RecordError.self) { try fixture.put("{bad", as: "early.json") }
        fixture.clock.set(start)
        #expect(throws: RecordError.self) { try fixture.put("{bad", as: "late.json") }
        #expect(try fixture.text(".error")?.hasPrefix("late.json") == true)
    }

    private func remove(_ name: String, _ fixture: TreeFixture) throws {
        try fixture.put("{\"n\": 1}", as: name)
        try fixture.remove(name)
        try pass(.seconds(4), fixture)
    }

    private func pass(_ duration: Duration, _ fixture: TreeFixture) throws {
        try fixture.maintain()
        fixture.clock.advance(duration)
        try fixture.maintain()
    }

    private func trashed(_ fixture: TreeFixture) throws -> Int {
        let zone = try #require(try fixture.store.zone(.private, .me, ZoneName("Box")))
        return try fixture.store.past.trash(in: zone.id).count
    }
}
