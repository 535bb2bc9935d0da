import RecordModel
import RecordWire
import TestSupport
import Testing

@testable import RecordServerCore

@Suite("Throttles") struct ThrottleTests {
    private let throttles = LocalThrottles()
    private let start = Timestamp(seconds: 1_800_000_000)

    private func charge(
        _ name: String, _ count: Int64 = 2, kind: ThrottleCharge.Kind = .requestsOfUser
    ) -> ThrottleCharge {
        ThrottleCharge(kind, name, Allowance(count: count, milliseconds: 1_000))
    }

    @Test("nothing is taken from any account when one of them has nothing left")
    func allOrNone() {
        #expect(throttles.take([charge("a", 1)], now: start) == nil)
        #expect(throttles.take([charge("a", 1), charge("b", 1)], now: start) == .seconds(1))
        #expect(throttles.take([charge("b", 1)], now: start) == nil)
    }

    @Test("what is given back can be taken again, and never more than there was")
    func givesBack() {
        for _ in 0..<2 { #expect(throttles.take([charge("a")], now: start) == nil) }
        throttles.giveBack([charge("a")], now: start)
        #expect(throttles.take([charge("a")], now: start) == nil)
        #expect(throttles.take([charge("a")], now: start) != nil)
        for _ in 0..<9 { throttles.giveBack([charge("a"), charge("b")], now: start) }
        for name in ["a", "b"] {
            for _ in 0..<2 { #expect(throttles.take([charge(name)], now: start) == nil) }
            #expect(throttles.take([charge(name)], now: start) != nil)
        }
    }

    @Test("a name has an account of each kind")
    func kinds() {
        #expect(throttles.take([charge("a", 1)], now: start) == nil)
        #expect(
            throttles.take([charge("a", 1, kind: .requestsOfAddress)], now: start) == nil)
    }

    @Test(
        "allowances that no number can hold are cut",
        arguments: [1e-300, 1e-9, 1, 1e9], [0, 1, 1e9, 1e300])
    func extremes(_ perSecond: Double, _ burst: Double) throws {
        let allowance = try #require(
            Allowance(RateSettings.Bucket(perSecond: perSecond, burst: burst)))
        let charge = ThrottleCharge(.requestsOfUser, "a", allowance)
        for _ in 0..<3 { _ = throttles.take([charge], now: start) }
        throttles.giveBack([charge], now: start)
    }

    @Test("failures at one process of a server count at another")
    func shared() async throws {
        let house = try await CredentialHouse()
        let processes = (0..<2).map { _ in
            PasswordSignIn(storage: house.storage, throttles: throttles, cost: .quick)
        }
        func attempt(_ process: Int) async throws(ServerError) -> UserRow? {
            try await processes[process].user(
                emailAddress: "alice@example.org", password: Array("wrong one".utf8),
                address: "192.0.2.1", now: house.clock.now)
        }
        for number in 0..<10 { #expect(try await attempt(number % 2) == nil) }
        for process in 0..<2 {
            let error = await #expect(throws: ServerError.self) { try await attempt(process) }
            #expect(error?.code == .throttled)
        }
    }
}
