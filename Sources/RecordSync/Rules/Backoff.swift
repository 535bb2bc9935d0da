/// The wait after the n-th failure in a row: twice as long each time, with jitter, so that clients
/// that failed together do not return together.
package struct Backoff: Hashable, Sendable {
    package var first: Duration
    package var longest: Duration

    package init(first: Duration = .milliseconds(500), longest: Duration = .seconds(300)) {
        self.first = first
        self.longest = longest
    }

    /// - Parameters:
    ///   - failures: the number of failures in a row, 1 after the first.
    ///   - jitter: 0..<1; the wait is between half and all of the time for this number of failures.
    package func wait(failures: Int, jitter: Double) -> Duration {
        let doublings = min(max(failures - 1, 0), 20)
        let whole = min(first * (1 << doublings), longest)
        return whole / 2 + whole / 2 * jitter
    }
}
