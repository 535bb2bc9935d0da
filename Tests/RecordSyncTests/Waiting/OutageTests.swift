import RecordModel
import RecordWire
import ServerTestSupport
import Simulation
import Synchronization
import TestSupport
import Testing

@testable import RecordSync

/// A server that is away for longer than waits between tries may grow, and what it has to tell then.
@Suite("A long outage") struct OutageTests {
    private final class Network: Sendable {
        private let state = Mutex((isAway: false, misses: 0))

        var isAway: Bool {
            get { state.withLock(\.isAway) }
            set { state.withLock { $0.isAway = newValue } }
        }
        /// Requests that nobody answered.
        var misses: Int { state.withLock(\.misses) }

        func ask() throws(SyncProblem) {
            let isAway = state.withLock { state in
                if state.isAway { state.misses += 1 }
                return state.isAway
            }
            if isAway { throw .unreachable("the network is away") }
        }
    }

    private func until(_ isSo: () throws -> Bool) async throws -> Bool {
        let deadline = Deadline(seconds: 5)
        while !deadline.isOver {
            if try isSo() { return true }
            await Task.yield()
        }
        return false
    }

    @Test("after a quarter of an hour without an answer an ended share is gone within five seconds")
    func quarter() async throws {
        let server = try await TestServer()
        let alice = try Replica(server)
        let owner = OwnerName(bytes: TestServer.Person.alice.user?.bytes ?? [])
        let bob = try Replica(server, as: .bob, in: .shared, of: owner)
        try alice.save("a", #"{"p":1}"#)
        try await alice.sync()
        try await server.share(nil)
        let network = Network()
        var wire = HookedTransport(wire: bob.wire)
        wire.beforeRequest = { (_) throws(SyncProblem) in try network.ask() }
        let clock = ManualClock()
        let engine = SyncEngine(bob.exchange(over: wire), clock: clock, jitter: { 0.999 })
        let task = Task { await engine.run() }
        await engine.finishDueWork()
        #expect(try bob.names() == ["a"], "\(engine.published)")
        network.isAway = true
        try await server.endShare(of: nil)
        // Time for the next look of its own, and then none but for the tries.
        clock.advance(.seconds(60))
        for step in 0..<180 {
            let before = network.misses
            clock.advance(.seconds(5))
            await engine.noteCourier(isThere: false)
            let isAsked = try await until { network.misses > before }
            try #require(isAsked, "nobody asked in the five seconds after \(5 * step)")
            // The try is over, and the next one planned.
            #expect(
                try await until { engine.published.problems.first?.failures == network.misses })
        }
        #expect(try bob.names() == ["a"])
        network.isAway = false
        clock.advance(.seconds(5))
        await engine.noteCourier(isThere: false)
        #expect(try await until { try bob.names().isEmpty })
        task.cancel()
        await task.value
        try bob.expectSound()
    }
}
