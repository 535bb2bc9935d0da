import RecordModel
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import Synchronization
import TestSupport
import Testing

/// A server that asks for hours of silence has them, and everything arrives after them.
@Suite("A server that throttles") struct ThrottledTests {
    private final class Throttle: Sendable {
        private let state = Mutex((isOn: true, requests: 0))

        func release() { state.withLock { $0.isOn = false } }
        var requests: Int { state.withLock(\.requests) }

        func ask() throws(SyncProblem) {
            let isOn = state.withLock { state in
                state.requests += 1
                return state.isOn
            }
            guard isOn else { return }
            var error = WireError(text: "THROTTLED", reason: "too much at once")
            error.retryAfter = 7_200
            throw .refused(error)
        }
    }

    @Test("nothing is asked for hours, whoever wants it now, and then all of it goes")
    func hours() async throws {
        let server = try await TestServer()
        let (a, b) = (try Replica(server), try Replica(server))
        try a.save("x", #"{"p":1}"#)
        try a.save("y", #"{"p":1}"#, zone: "Cup")
        let throttle = Throttle()
        var wire = HookedTransport(wire: a.wire)
        wire.beforeRequest = { (_) throws(SyncProblem) in try throttle.ask() }
        let clock = ManualClock()
        let engine = SyncEngine(a.exchange(over: wire), clock: clock, jitter: { 0.5 })
        let task = Task { await engine.run() }
        await engine.finishDueWork()
        // One request of each that was under way.
        let asked = throttle.requests
        #expect(asked > 0 && asked <= 4)
        #expect(engine.published.problems.contains { $0.problem.isWait })
        for _ in 0..<7 {
            clock.advance(.seconds(1_000))
            try a.save("x", #"{"p":2}"#)
            await engine.finishDueWork()
            await engine.resume()
            await engine.told()
            await engine.finishDueWork()
        }
        #expect(throttle.requests == asked)
        #expect(try a.outbox() == ["create x", "create y"])
        throttle.release()
        clock.advance(.seconds(200))
        for _ in 0..<3 { await engine.finishDueWork() }
        #expect(engine.published.problems.isEmpty)
        task.cancel()
        await task.value
        try await b.sync()
        #expect(try b.text("x") == #"{"p":2}"# && b.text("y", zone: "Cup") == #"{"p":1}"#)
        try a.expectSettled(["x": #"{"p":2}"#])
    }
}
