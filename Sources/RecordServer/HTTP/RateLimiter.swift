import RecordModel
import Synchronization

/// Token buckets by name.
final class RateLimiter: Sendable {
    private struct Level {
        var tokens: Double
        var at: Timestamp
    }

    private let settings: RateSettings.Bucket
    private struct State {
        var levels: [String: Level] = [:]
        /// When so many are known, those that are full again are forgotten.
        var sweepCount = RateLimiter.smallestSweep
    }

    private static let smallestSweep = 10_000
    private let state = Mutex(State())

    init(_ settings: RateSettings.Bucket) { self.settings = settings }

    /// Takes one token; else the whole seconds until there is one.
    func take(_ name: String, now: Timestamp) -> Int? {
        guard settings.perSecond > 0 else { return nil }
        return state.withLock { state in
            if state.levels.count >= state.sweepCount { sweep(&state, now) }
            var level = refilled(
                state.levels[name] ?? Level(tokens: settings.burst, at: now), now)
            defer { state.levels[name] = level }
            guard level.tokens >= 1 else {
                return max(1, Int(((1 - level.tokens) / settings.perSecond).rounded(.up)))
            }
            level.tokens -= 1
            return nil
        }
    }

    /// Gives back a token that was taken in another's name.
    func giveBack(_ name: String) {
        state.withLock { $0.levels[name]?.tokens += 1 }
    }

    /// A clock that was set back adds nothing.
    private func refilled(_ level: Level, _ now: Timestamp) -> Level {
        let seconds = Double(max(0, now.nanoseconds - level.at.nanoseconds)) / 1e9
        return Level(
            tokens: min(settings.burst, level.tokens + seconds * settings.perSecond), at: now)
    }

    private func sweep(_ state: inout State, _ now: Timestamp) {
        state.levels = state.levels.filter { refilled($0.value, now).tokens < settings.burst }
        state.sweepCount = max(Self.smallestSweep, 2 * state.levels.count)
    }
}
