extension Allowance {
    /// Returns how long a caller who misses so many waits until there is one, in seconds. Returns
    /// nil when there is one now.
    func secondsToWait(missing: Int64) -> Int? {
        let limit = whole / interval
        guard missing >= limit else { return nil }
        let seconds = (missing - limit + 1) * interval / 1_000_000_000
        return max(1, Int(clamping: seconds))
    }
}

extension Duration {
    /// The duration in whole seconds, rounded up, at least one.
    package var wholeSeconds: Int {
        let parts = components
        return max(1, Int(parts.seconds) + (parts.attoseconds > 0 ? 1 : 0))
    }
}
