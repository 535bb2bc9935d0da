package import RecordModel
import Synchronization

/// The web auth token of an account, and the tokens that follow it: each answer brings the next
/// one.
///
/// recordfs-server accepts a token until some time after the next one was first shown. Therefore
/// requests run side by side, and not every new token is saved. By Apple's text a token is valid
/// for one request. Then only one request runs at a time, and the next one is not sent before the
/// token of the last answer is saved. An account has one object of this class, whatever signs with
/// its token.
package final class WebTokens: Sendable {
    package enum Kept: Sendable {
        case kept
        /// Somebody has signed in or out since: the token is no longer needed.
        case outdated
        case failed(RecordError)
    }

    /// Saves a token.
    package typealias Keeper = @Sendable (Text, @escaping @Sendable (Kept) -> Void) -> Void

    /// The shortest time between two tokens that are taken while requests run side by side.
    private static let tokenLife = Duration.seconds(60)

    private struct Current {
        var token: Text
        /// The next token, when it could not be saved.
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
    /// - Throws: the errors of `send`; store, when the token before could not be saved.
    func sign(
        _ send: @escaping @Sendable (Text) async throws(SyncProblem) -> HTTPCall.Answer
    ) async throws(SyncProblem) -> HTTPCall.Answer {
        guard goesAlone else {
            let token = current.withLock(\.token)
            let answer = try await send(token)
            if let next = answer.nextToken { take(next, after: token) }
            return answer
        }
        try await gate.enter()
        let outcome = Outcome()
        // A caller that gives up does not stop the request, because its answer contains the only
        // valid token.
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

    /// Returns when no request is running, or after that time.
    package func finish(atMost patience: Duration) async {
        guard goesAlone else { return }
        let waiting = Task {
            do throws(SyncProblem) {
                try await gate.enter()
                gate.leave()
            } catch {
                // The wait took too long.
            }
        }
        let alarm = Task {
            do {
                try await Task.sleep(for: patience)
                waiting.cancel()
            } catch {
                // The wait ended earlier.
            }
        }
        await waiting.value
        alarm.cancel()
    }

    // MARK: One at a time

    private func sendAlone(
        _ send: (Text) async throws(SyncProblem) -> HTTPCall.Answer
    ) async throws(SyncProblem) -> HTTPCall.Answer {
        if let unkept = current.withLock(\.unkept), let error = await write(unkept) {
            throw .store(error)
        }
        let answer = try await send(current.withLock(\.token))
        // When the token cannot be saved, the next request reports that and is not sent.
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

    /// Takes the next token when it is due. The answer to a request that showed another token than
    /// the current one contains an older token, which is not taken.
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

extension HTTPCall.Answer {
    /// The token after this answer. Older services send it under the second name.
    var nextToken: Text? {
        (self["X-Apple-CloudKit-Web-Auth-Token"] ?? self["X-Apple-CloudKit-Session"])
            .map { Text($0) }
    }
}

/// The end of a request, or of the wait for it.
private final class Outcome: Sendable {
    typealias Value = Result<HTTPCall.Answer, SyncProblem>

    private enum State {
        case open
        case waiting(CheckedContinuation<Value, Never>)
        case done(Value)
    }

    private let state = Mutex(State.open)

    /// Sets the value. Only the first value counts.
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

    /// Waits for the value. To be called once. unreachable, when the task is cancelled.
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
