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
        "the grace time of a file that got a name of this machine begins again too",
        arguments: [(-3600, true), (0, false), (3600, true)])
    func graceOfFile(_ jump: Int, _ beginsAgain: Bool) throws {
        let id = try fixture.save("a", "{}").id
        let asset = try #require(try fixture.setAsset(id, "photo", bytes: "hello"))
        try fixture.write { transaction throws(RecordError) in
            try transaction.assets.beginLeaving(asset)
        }
        func isLeft() throws -> Bool { try fixture.files(id).isEmpty }
        try pass(2)
        try set(by: jump)
        try pass(2)
        try finalize()
        #expect(try isLeft() == !beginsAgain)
        try pass(2)
        try finalize()
        #expect(try isLeft())
        try fixture.expectSound()
    }

    @Test("versions and settled conflicts of a clock that was years ahead go after their time")
    func ahead() throws {
        try set(by: 10 * 365 * Self.day)
        let id = try fixture.save("a", #"{"n":0}"#).id
        for number in 1...250 { try fixture.save("a", "{\"n\":\(number)}") }
        try fixture.sendAll(tag: "t1")
        try fixture.save("a", #"{"n":251}"#)
        try fixture.upsert("a", ["n": .int64(7)], tag: "t2")
        let conflict = try #require(
            try fixture.store.syncState.conflicts(in: fixture.zone.id).first
        ).id
        try fixture.write { transaction throws(RecordError) in
            try transaction.merging.settle(conflict, .merged)
        }
        try set(by: -10 * 365 * Self.day)
        func figures() throws -> [Int] {
            while try fixture.store.upkeep.keepSmall() {}
            _ = try fixture.store.upkeep.purgeTrash()
            let settled = try fixture.store.syncState.conflicts(
                in: fixture.zone.id, settledToo: true)
            return [try fixture.kinds("a").count, settled.count]
        }
        let all = try figures()
        #expect(all[0] >= 252 && all[1] == 1)
        try pass(29 * Self.day)
        #expect(try figures() == all, "nothing goes before the clock has been right for its time")
        try pass(2 * Self.day)
        #expect(try figures() == [all[0], 0])
        try pass(60 * Self.day)
        // The last ten versions, the first one, and what the server had.
        #expect(try (11...13).contains(figures()[0]))
        #expect(try fixture.store.savedText(of: id) != nil)
        try fixture.expectSound()
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
