package import RecordModel
import Synchronization

/// The web auth token of an account, and those that follow it: each answer brings the next.
///
/// recordfs-server takes a token until some time after the next was first shown: requests go side by
/// side, and not each new token is written down. By Apple's text a token is good for one request: then
/// one request goes at a time, and no other leaves before the token that the last one has brought is
/// written down. There is one of these for an account, whatever signs with its token.
package final class WebTokens: Sendable {
    package enum Kept: Sendable {
        case kept
        /// Somebody has signed in, or out, since: nobody needs the token.
        case outdated
        case failed(RecordError)
    }

    /// Writes a token down.
    package typealias Keeper = @Sendable (Text, @escaping @Sendable (Kept) -> Void) -> Void

    /// Between two tokens that are taken, side by side.
    private static let tokenLife = Duration.seconds(60)

    private struct Current {
        var token: Text
        /// The next one, which could not be written down.
        var unkept: Text?
        var isChanging = false
        var lastChange: ContinuousClock.Instant?
    }

    private let goesAlone: Bool
    private let keep: Keeper
    private let current: Mutex<Current>
    private let gate = RequestGate()

    package init(_ token: Text, goesAlone: Bool, keep: @escaping Keeper) {
        self.goesAlone = goesAlone
        self.keep = keep
        current = Mutex(Current(token: token))
    }

    /// Sends a request that shows the token.
    ///
    /// - Throws: what `send` throws; store, when the token before could not be written down.
    func sign(
        _ send: @escaping @Sendable (Text) async throws(SyncProblem) -> HTTPExchange.Answer
    ) async throws(SyncProblem) -> HTTPExchange.Answer {
        guard goesAlone else {
            let token = current.withLock(\.token)
            let answer = try await send(token)
            if let next = answer.nextToken { take(next, after: token) }
            return answer
        }
        try await gate.enter()
        let outcome = Outcome()
        // Who gives up does not break the request off: what it brings is the only good token then.
        Task {
            do throws(SyncProblem) {
                outcome.put(.success(try await self.sendAlone(send)))
            } catch {
                outcome.put(.failure(error))
            }
            self.gate.leave()
        }
        return try await outcome.wait().get()
    }

    /// Returns when no request is under way, or after that time.
    package func finish(atMost patience: Duration) async {
        guard goesAlone else { return }
        let waiting = Task {
            do throws(SyncProblem) {
                try await gate.enter()
                gate.leave()
            } catch {
                // It took too long.
            }
        }
        let alarm = Task {
            do {
                try await Task.sleep(for: patience)
                waiting.cancel()
            } catch {
                // It was over before.
            }
        }
        await waiting.value
        alarm.cancel()
    }

    // MARK: One at a time

    private func sendAlone(
        _ send: (Text) async throws(SyncProblem) -> HTTPExchange.Answer
    ) async throws(SyncProblem) -> HTTPExchange.Answer {
        if let unkept = current.withLock(\.unkept), let error = await write(unkept) {
            throw .store(error)
        }
        let answer = try await send(current.withLock(\.token))
        // That it cannot be written down, the next request tells, which does not leave then.
        if let next = answer.nextToken { _ = await write(next) }
        return answer
    }

    private func write(_ next: Text) async -> RecordError? {
        current.withLock { $0.unkept = next }
        let kept = await withCheckedContinuation { continuation in
            keep(next) { continuation.resume(returning: $0) }
        }
        return current.withLock { current in
            switch kept {
            case .kept: (current.token, current.unkept) = (next, nil)
            case .outdated: current.unkept = nil
            case .failed(let error): return error
            }
            return nil
        }
    }

    // MARK: Side by side

    /// The answer to a request that showed another token than the current one brings an older one.
    private func take(_ next: Text, after shown: Text) {
        let isTaken = current.withLock { current in
            let isDue = current.lastChange.map { $0.duration(to: .now) > Self.tokenLife } ?? true
            guard isDue, !current.isChanging, shown == current.token, next != shown else {
                return false
            }
            current.isChanging = true
            return true
        }
        guard isTaken else { return }
        keep(next) { [weak self] kept in
            self?.current.withLock { current in
                current.isChanging = false
                current.lastChange = .now
                if case .kept = kept { current.token = next }
            }
        }
    }
}

extension HTTPExchange.Answer {
    /// The second name is what older services send.
    var nextToken: Text? {
        (self["X-Apple-CloudKit-Web-Auth-Token"] ?? self["X-Apple-CloudKit-Session"])
            .map { Text($0) }
    }
}

/// The end of a request, or of the wait for it.
private final class Outcome: Sendable {
    typealias Value = Result<HTTPExchange.Answer, SyncProblem>

    private enum State {
        case open
        case waiting(CheckedContinuation<Value, Never>)
        case done(Value)
    }

    private let state = Mutex(State.open)

    /// The first counts.
    func put(_ value: Value) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .open:
                state = .done(value)
                return nil
            case .waiting(let continuation):
                state = .done(value)
                return continuation
            case .done: return nil
            }
        }
        continuation?.resume(returning: value)
    }

    /// To be called once. unreachable, when the task is cancelled.
    func wait() async -> Value {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let value = state.withLock { state -> Value? in
                    if case .done(let value) = state { return value }
                    state = .waiting(continuation)
                    return nil
                }
                if let value { continuation.resume(returning: value) }
            }
        } onCancel: {
            put(.failure(.unreachable("the request was given up")))
        }
    }
}
