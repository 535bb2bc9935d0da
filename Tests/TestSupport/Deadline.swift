/// When a test gives up on what does not come. It tells a hang from a slow machine and nothing else:
/// no test that passes waits for it, so it is long enough for cores and disks that many share.
package struct Deadline: Sendable {
    /// How much slower than a quiet machine a busy one may be.
    package static let patience = 6.0

    private let end: ContinuousClock.Instant

    /// - Parameter seconds: enough on a quiet machine.
    package init(seconds: Double) { end = .now + .seconds(seconds * Self.patience) }

    package var isOver: Bool { ContinuousClock.now >= end }

    /// What is left of it, for poll.
    package var milliseconds: Int32 {
        let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
        return Int32(max(0, min(3_600_000, left)))
    }
}
