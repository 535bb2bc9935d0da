import RecordModel

/// Notices when somebody sets the clock.
///
/// Ages are differences of stored times, and mean nothing over a jump: one run ten years ahead would
/// purge the trash of today. So after a jump nothing is purged for as long as its lifetime, counted
/// by the uptime. What is old then, or of a time to come, was there before the jump and has had
/// its time.
struct ClockWatch: Sendable {
    /// What a clock is set by is noticed from here on; steering it is not.
    static let step: Duration = .seconds(1)
    /// After a jump of more than this purges wait.
    static let jump: Duration = .seconds(3600)
    /// A longer absence counts as a jump: nothing tells them apart.
    static let longestAbsence: Duration = .seconds(90 * 24 * 3600)

    private struct Look: Sendable {
        let now: Timestamp
        let uptime: Duration
    }

    private var last: Look?
    /// For how long the clock has gone on without a jump; nil when none is known of.
    private(set) var steady: Duration?

    var hasBegun: Bool { last != nil }

    /// - Parameters:
    ///   - seen: when the store was last open, nil when it never was.
    ///   - steady: as it was then.
    mutating func begin(
        now: Timestamp, uptime: Duration, seen: Timestamp?, steady: Duration?
    ) {
        self.steady = steady
        let seen = seen ?? now
        let absence = min(max(now - seen, .zero), Self.longestAbsence)
        last = Look(now: seen, uptime: uptime - absence)
    }

    /// Whether the clock was set since the last look.
    mutating func look(now: Timestamp, uptime: Duration) -> Bool {
        guard let last else { return false }
        let passed = uptime - last.uptime
        let jump = (now - last.now) - passed
        self.last = Look(now: now, uptime: uptime)
        let isJump = jump > Self.jump || jump < .zero - Self.jump
        steady = isJump ? .zero : steady.map { $0 + passed }
        return jump > Self.step || jump < .zero - Self.step
    }

    /// Whether times of so long ago can be believed.
    func isSteady(for age: Duration) -> Bool { steady.map { $0 >= age } ?? true }
}
