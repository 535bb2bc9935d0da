import RecordModel

/// Notices when somebody sets the clock.
///
/// Ages are differences of stored times, and mean nothing over a jump: one run ten years ahead
/// would purge the trash of today. So after a jump nothing is purged for as long as its lifetime,
/// counted by the uptime. Data that is old after that, or has a time in the future, existed before
/// the jump and has had its lifetime.
struct ClockWatch: Sendable {
    /// The smallest step of the clock that is noticed. Gradual correction of the clock is not
    /// noticed.
    static let step: Duration = .seconds(1)
    /// The size of a jump after which purges wait.
    static let jump: Duration = .seconds(3600)
    /// The longest absence. A longer one counts as a jump, because nothing distinguishes them.
    static let longestAbsence: Duration = .seconds(90 * 24 * 3600)

    private struct Look: Sendable {
        let now: Timestamp
        let uptime: Duration
    }

    private var last: Look?
    /// The time for which the clock has continued without a jump. Nil when no jump is known.
    private(set) var steady: Duration?

    var hasBegun: Bool { last != nil }

    /// Starts to watch the clock.
    ///
    /// - Parameters:
    ///   - seen: the time when the store was last open; nil when it never was.
    ///   - steady: the value of `steady` at that time.
    mutating func begin(
        now: Timestamp, uptime: Duration, seen: Timestamp?, steady: Duration?
    ) {
        self.steady = steady
        let seen = seen ?? now
        let absence = min(max(now - seen, .zero), Self.longestAbsence)
        last = Look(now: seen, uptime: uptime - absence)
    }

    /// Returns whether the clock was set since the last call.
    mutating func look(now: Timestamp, uptime: Duration) -> Bool {
        guard let last else { return false }
        let passed = uptime - last.uptime
        let jump = (now - last.now) - passed
        self.last = Look(now: now, uptime: uptime)
        let isJump = jump > Self.jump || jump < .zero - Self.jump
        steady = isJump ? .zero : steady.map { $0 + passed }
        return jump > Self.step || jump < .zero - Self.step
    }

    /// Returns whether times of this age can be trusted.
    func isSteady(for age: Duration) -> Bool { steady.map { $0 >= age } ?? true }
}
