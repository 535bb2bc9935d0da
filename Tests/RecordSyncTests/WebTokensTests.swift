import RecordModel
import RecordWire
import Synchronization
import Testing

@testable import RecordSync

/// Which web auth token a request shows, and what becomes of the next.
@Suite struct WebTokensTests {
    /// A server by Apple's text: each token is good for one request.
    private final class Service: Sendable {
        struct State {
            var good: Text = "1"
            var onDisk: Text = "1"
            var running = 0
            var mostRunning = 0
            /// What was wrong.
            var faults: [String] = []
            var requests = 0
            var isDiskFull = false
        }
        let state = Mutex(State())

        func tokens(goesAlone: Bool = true) -> WebTokens {
            WebTokens("1", goesAlone: goesAlone) { token, done in
                // A disk takes its time.
                Task {
                    for _ in 0..<20 { await Task.yield() }
                    done(self.write(token))
                }
            }
        }

        private func write(_ token: Text) -> WebTokens.Kept {
            state.withLock { state in
                if state.isDiskFull { return .failed(RecordError(.noSpace, "full")) }
                state.onDisk = token
                return .kept
            }
        }

        func answer(
            _ token: Text, waiting: (() async -> Void)? = nil
        ) async -> HTTPCall.Answer {
            state.withLock { state in
                state.requests += 1
                state.running += 1
                state.mostRunning = max(state.mostRunning, state.running)
                if token != state.good { state.faults.append("\(token) is not \(state.good)") }
                if token != state.onDisk { state.faults.append("\(token) is not on the disk") }
            }
            if let waiting { await waiting() } else { await Task.yield() }
            return state.withLock { state in
                state.running -= 1
                state.good = Text("\(state.requests + 1)")
                let name = "x-apple-cloudkit-web-auth-token"
                return HTTPCall.Answer(
                    status: 200, headers: [(name, state.good.string)], body: [])
            }
        }
    }

    private let service = Service()

    @Test("one request goes at a time, and shows what the one before has brought and was kept")
    func alone() async throws {
        let tokens = service.tokens()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask { [service] in
                    do throws(SyncProblem) {
                        _ = try await tokens.sign { await service.answer($0) }
                    } catch {
                        Issue.record("\(error)")
                    }
                }
            }
        }
        let state = service.state.withLock(\.self)
        #expect(state.faults == [])
        #expect(state.requests == 50 && state.mostRunning == 1)
        #expect(state.onDisk == "51")
    }

    @Test("where tokens are good for longer, requests go side by side")
    func sideBySide() async throws {
        let tokens = service.tokens(goesAlone: false)
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let (gates, gate) = AsyncStream<Void>.makeStream()
        let one = Task { [service] in
            _ = try await tokens.sign { token in
                await service.answer(token) {
                    arrival.yield()
                    for await _ in gates { break }
                }
            }
        }
        for await _ in arrivals { break }
        _ = try await tokens.sign { [service] in await service.answer($0) }
        gate.yield()
        try await one.value
        #expect(service.state.withLock(\.mostRunning) == 2)
    }

    @Test("the token that a request brings is kept also when nobody waits for its answer any more")
    func givenUp() async throws {
        let tokens = service.tokens()
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let (gates, gate) = AsyncStream<Void>.makeStream()
        let task = Task { [service] in
            _ = try await tokens.sign { token in
                await service.answer(token) {
                    arrival.yield()
                    for await _ in gates { break }
                }
            }
        }
        for await _ in arrivals { break }
        task.cancel()
        await #expect(throws: SyncProblem.self) { try await task.value }
        #expect(service.state.withLock(\.onDisk) == "1")
        gate.yield()
        await tokens.finish(atMost: .seconds(60))
        #expect(service.state.withLock(\.onDisk) == "2")
        _ = try await tokens.sign { [service] in await service.answer($0) }
        #expect(service.state.withLock(\.faults) == [])
    }

    @Test("who is given up before its turn sends nothing, and holds nobody up")
    func givenUpInTheQueue() async throws {
        let tokens = service.tokens()
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let (gates, gate) = AsyncStream<Void>.makeStream()
        let first = Task { [service] in
            _ = try await tokens.sign { token in
                await service.answer(token) {
                    arrival.yield()
                    for await _ in gates { break }
                }
            }
        }
        for await _ in arrivals { break }
        let second = Task { [service] in
            _ = try await tokens.sign { await service.answer($0) }
        }
        second.cancel()
        await #expect(throws: SyncProblem.self) { try await second.value }
        gate.yield()
        try await first.value
        _ = try await tokens.sign { [service] in await service.answer($0) }
        #expect(service.state.withLock(\.requests) == 2)
    }

    @Test("while a token cannot be written down, no request leaves; then it goes on with that one")
    func fullDisk() async throws {
        let tokens = service.tokens()
        service.state.withLock { $0.isDiskFull = true }
        _ = try await tokens.sign { [service] in await service.answer($0) }
        let problem = await #expect(throws: SyncProblem.self) {
            _ = try await tokens.sign { [service] in await service.answer($0) }
        }
        guard case .store(let error)? = problem, error.code == .noSpace else {
            Issue.record("\(String(describing: problem))")
            return
        }
        #expect(service.state.withLock(\.requests) == 1)
        service.state.withLock { $0.isDiskFull = false }
        _ = try await tokens.sign { [service] in await service.answer($0) }
        let state = service.state.withLock(\.self)
        #expect(state.requests == 2 && state.faults == [])
    }
}
