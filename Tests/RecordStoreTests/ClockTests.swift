import RecordModel
import RecordStore
import TestSupport
import Testing

/// A store when somebody sets the clock: ages mean nothing over a jump.
@Suite struct ClockTests {
    private let fixture: StoreFixture
    private static let day = 24 * 3600

    init() throws {
        fixture = try StoreFixture()
        try fixture.store.upkeep.watchClock()
    }

    /// Somebody sets the clock by so many seconds, and the store looks.
    private func set(by seconds: Int) throws {
        fixture.clock.set(fixture.clock.now + .seconds(seconds))
        try fixture.store.upkeep.watchClock()
    }

    private func pass(_ seconds: Int) throws {
        fixture.clock.advance(.seconds(seconds))
        try fixture.store.upkeep.watchClock()
    }

    private func finalize() throws {
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .seconds(3), author: .mount)
    }

    @Test(
        "a grace time begins again when the clock is set, and not when time passes",
        arguments: [(-3600, true), (-2, true), (0, false), (2, true), (3600, true)])
    func grace(_ jump: Int, _ beginsAgain: Bool) throws {
        let id = try fixture.save("a", "{}").id
        try fixture.beginDelete(id)
        try pass(2)
        try set(by: jump)
        try pass(2)
        try finalize()
        #expect(try (fixture.record("a") != nil) == beginsAgain)
        try pass(2)
        try finalize()
        #expect(try fixture.record("a") == nil)
    }

    @Test(
        "after a jump of more than an hour the clock is steady only when the time has passed anew",
        arguments: [(-7200, false), (-1800, true), (1800, true), (7200, false)])
    func steady(_ jump: Int, _ isSteady: Bool) throws {
        let week = Duration.seconds(7 * Self.day)
        func expect(_ isRight: Bool) {
            #expect(fixture.store.upkeep.clockIsSteady(for: week) == isRight)
        }
        expect(true)
        try set(by: jump)
        expect(isSteady)
        try fixture.reopen()
        try fixture.store.upkeep.watchClock()
        expect(isSteady)
        try pass(6 * Self.day)
        expect(isSteady)
        try pass(Self.day)
        expect(true)
    }

    @Test("a clock that is set years ahead purges no trash of today, but what has had its time")
    func trash() throws {
        try fixture.delete(try fixture.save("a", "{}").id)
        try set(by: 10 * 365 * Self.day)
        #expect(try fixture.store.upkeep.purgeTrash() == 0)
        try pass(29 * Self.day)
        #expect(try fixture.store.upkeep.purgeTrash() == 0)
        try pass(2 * Self.day)
        #expect(try fixture.store.upkeep.purgeTrash() == 1)
    }

    @Test("a store that was closed for months counts that as a jump")
    func absence() throws {
        for (days, isSteady) in [(80, true), (100, false)] {
            let tests = try ClockTests()
            try tests.set(by: 0)
            try tests.set(by: 2)
            try tests.fixture.store.close()
            tests.fixture.clock.advance(.seconds(days * Self.day))
            try tests.fixture.reopen()
            try tests.fixture.store.upkeep.watchClock()
            #expect(
                tests.fixture.store.upkeep.clockIsSteady(for: .seconds(Self.day)) == isSteady,
                "\(days)")
        }
    }
}
