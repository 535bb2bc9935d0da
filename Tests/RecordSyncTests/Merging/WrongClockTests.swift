import RecordModel
import RecordStore
import RecordSync
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// Machines whose clocks are wrong by a day and more, and stamps that are equal.
@Suite("Wrong clocks") struct WrongClockTests {
    private static let day = 86_400
    private static let skews = [-day - 3_600, -day, -3_600, 3_600, day, day + 3_600]
    private let server: TestServer

    init() async throws { server = try await TestServer() }

    private func machine(_ device: UInt64, skew: Int = 0) throws -> (Replica, ShiftedClock) {
        let clock = ShiftedClock(server.clock, by: .seconds(skew))
        return (try Replica(server, clock: clock, device: device), clock)
    }

    private func sync(_ replicas: Replica...) async throws {
        for replica in replicas {
            server.clock.advance(.milliseconds(20))
            try await replica.sync()
        }
    }

    private func expectEqual(_ replicas: [Replica], _ text: String) async throws {
        let fresh = try Replica(server)
        try await fresh.sync()
        for replica in replicas + [fresh] { try replica.expectSettled(["x": text]) }
    }

    @Test("edits of different fields stay, and who edits what he has seen wins", arguments: skews)
    func known(skew: Int) async throws {
        let ((a, _), (b, _)) = (try machine(1, skew: skew), try machine(2))
        try a.save("x", #"{"p":1,"q":1}"#)
        try await sync(a, b)
        try a.save("x", #"{"p":2,"q":1}"#)
        try b.save("x", #"{"p":1,"q":2}"#)
        try await sync(a, b, a)
        try await expectEqual([a, b], #"{"p":2,"q":2}"#)
        for number in 3...6 {
            let (writer, reader) = number.isMultiple(of: 2) ? (a, b) : (b, a)
            try writer.save("x", #"{"p":\#(number),"q":2}"#)
            try await sync(writer, reader)
        }
        try await expectEqual([a, b], #"{"p":6,"q":2}"#)
        #expect(try a.conflicts() == [] && b.conflicts() == [])
    }

    @Test(
        "of edits that knew nothing of each other one stands everywhere, and the other is kept",
        arguments: skews, [true, false])
    func unknown(skew: Int, isWrongFirst: Bool) async throws {
        let ((a, _), (b, _)) = (try machine(1, skew: skew), try machine(2))
        try b.save("x", #"{"p":1}"#)
        try await sync(b, a)
        try a.save("x", #"{"p":2}"#)
        server.clock.advance(.seconds(1))
        try b.save("x", #"{"p":3}"#)
        let (first, second) = isWrongFirst ? (a, b) : (b, a)
        try await sync(first, second, first)
        // The clocks say which; nothing is lost.
        let stands = skew > 0 ? 2 : 3
        try await expectEqual([a, b], #"{"p":\#(stands)}"#)
        let conflict = try #require(try second.conflicts().first)
        let kept = try [Conflict.Side.mine, .theirs].map { side in
            try second.store.syncState.text(of: side, in: conflict).map {
                String(decoding: $0, as: UTF8.self).filter(\.isNumber)
            }
        }
        #expect(Set(kept) == ["2", "3"])
        // The one whose edit lost says so, too.
        #expect(try first.conflicts().count == ((skew > 0) == isWrongFirst ? 0 : 1))
    }

    @Test(
        "of equal times the device decides, whichever is sent first", arguments: [true, false])
    func equalTimes(isFirst: Bool) async throws {
        let ((a, _), (b, _)) = (try machine(1), try machine(2))
        try a.save("x", #"{"p":1}"#)
        try await sync(a, b, a)
        server.clock.advance(.seconds(10))
        try a.save("x", #"{"p":2}"#)
        try b.save("x", #"{"p":3}"#)
        let (first, second) = isFirst ? (a, b) : (b, a)
        for replica in [first, second, first] { try await replica.sync() }
        try await expectEqual([a, b], #"{"p":3}"#)
        #expect(try second.conflicts().count == 1)
    }

    @Test(
        "stamps that are equal in all, as of a store that was copied, end in one value too",
        arguments: [true, false])
    func equalStamps(isFirst: Bool) async throws {
        let ((a, _), (b, _)) = (try machine(7), try machine(7))
        try a.save("x", #"{"p":1}"#)
        try await sync(a, b, a)
        server.clock.advance(.seconds(10))
        try a.save("x", #"{"p":2}"#)
        try b.save("x", #"{"p":3}"#)
        let (first, second) = isFirst ? (a, b) : (b, a)
        for replica in [first, second, first, second] { try await replica.sync() }
        let text = try #require(try a.text("x"))
        #expect([#"{"p":2}"#, #"{"p":3}"#].contains(text))
        try await expectEqual([a, b], text)
        #expect(try second.conflicts().count == 1)
    }

    @Test("a clock that is set back a day between two edits takes nothing back", arguments: skews)
    func setBetween(skew: Int) async throws {
        let ((a, clock), (b, _)) = (try machine(1), try machine(2))
        try a.save("x", #"{"p":1,"q":1}"#)
        try await sync(a, b)
        try a.save("x", #"{"p":2,"q":1}"#)
        try await sync(a)
        clock.jump(by: .seconds(skew))
        try a.save("x", #"{"p":3,"q":1}"#)
        try b.save("x", #"{"p":1,"q":4}"#)
        try await sync(b, a, b)
        try await expectEqual([a, b], #"{"p":3,"q":4}"#)
    }

    @Test(
        "who writes a record anew has seen what it was made with, which comes back with an edit elsewhere",
        arguments: skews)
    func madeAnew(skew: Int) async throws {
        let ((a, _), (b, _), (c, _)) = (try machine(1, skew: skew), try machine(2), try machine(3))
        try a.save("x", #"{"p":1,"q":1}"#)
        try await sync(a, b, c)
        try c.delete("x")
        try b.delete("x")
        try b.save("x", #"{"p":3,"q":1}"#)
        try a.save("x", #"{"p":1,"q":2}"#)
        try await sync(c, a, b, a, c)
        try await expectEqual([a, b, c], #"{"p":3,"q":2}"#)
    }
}
