import Synchronization

/// Keeps the request rate of a process below the limit of a recordfs-server for a user. The user's
/// other machines send requests too. A thousand zones that a loop has made must not lead to a
/// refusal.
final class RequestPace: Sendable {
    /// Half of the rate that the server allows: `RateSettings.user`.
    private static let perSecond = 100.0
    private static let burst = 1_000.0

    private struct State {
        var left = RequestPace.burst
        var at = ContinuousClock.now
    }

    private let state = Mutex(State())

    /// Returns when the next request may be sent. A cancelled task does not wait.
    func wait() async {
        let wait = take(at: .now)
        guard wait > .zero else { return }
        do {
            try await Task.sleep(for: wait)
        } catch {
            // A cancelled task learns of it from its request.
        }
    }

    /// Takes one request from the allowance.
    /// - Returns: the time to wait before the request.
    func take(at now: ContinuousClock.Instant) -> Duration {
        state.withLock { state in
            let passed = max(.zero, state.at.duration(to: now))
            let gained = Double(passed / .milliseconds(1)) / 1_000 * Self.perSecond
            state.left = min(Self.burst, state.left + gained) - 1
            state.at = max(state.at, now)
            return state.left >= 0
                ? .zero : .milliseconds(Int(-state.left / Self.perSecond * 1_000))
        }
    }
}
