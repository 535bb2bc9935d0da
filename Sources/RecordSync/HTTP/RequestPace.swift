import Synchronization

/// Keeps what a process asks by itself below what a recordfs-server allows a user, whose other machines
/// ask too: a thousand zones that a loop has made are not a reason to be refused.
final class RequestPace: Sendable {
    /// Half of what the server allows: `RateSettings.user`.
    private static let perSecond = 100.0
    private static let burst = 1_000.0

    private struct State {
        var left = RequestPace.burst
        var at = ContinuousClock.now
    }

    private let state = Mutex(State())

    /// Returns when the next request may go. A task that is cancelled does not wait.
    func wait() async {
        let wait = take(at: .now)
        guard wait > .zero else { return }
        do {
            try await Task.sleep(for: wait)
        } catch {
            // Whoever is cancelled finds out with its request.
        }
    }

    /// Takes one request out of what is allowed.
    /// - Returns: how long it has to wait for that.
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
