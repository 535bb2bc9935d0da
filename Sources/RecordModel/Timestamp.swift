/// A point in time with the precision of `stat`: any time that `utimensat` accepts.
///
/// Stored as `nanoseconds`, which holds the years 1677 to 2262. An earlier or later time is kept as
/// the first or the last time of that range. No operation traps or wraps: at the ends of the range
/// times stay there.
package struct Timestamp: Hashable, Comparable, Sendable {
    /// The seconds since 1970-01-01T00:00:00Z, rounded down also before 1970.
    package let seconds: Int64
    /// The nanoseconds past `seconds`, 0..<1 000 000 000.
    package let subsecond: Int64

    private static let nanosecondsASecond: Int64 = 1_000_000_000

    /// Creates a time.
    ///
    /// - Parameter nanoseconds: any number. A whole second or more is carried over.
    package init(seconds: Int64, nanoseconds: Int64 = 0) {
        let (carry, rest) = Self.split(nanoseconds)
        self.seconds = seconds.addingClamped(carry)
        subsecond = rest
    }

    package init(nanoseconds: Int64) {
        (seconds, subsecond) = Self.split(nanoseconds)
    }

    private static func split(_ nanoseconds: Int64) -> (seconds: Int64, subsecond: Int64) {
        let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: nanosecondsASecond)
        return rest < 0 ? (whole - 1, rest + nanosecondsASecond) : (whole, rest)
    }

    /// The nanoseconds since 1970-01-01T00:00:00Z, clamped to 64 bits.
    package var nanoseconds: Int64 {
        // The first second of the range begins before the range does: for a negative time count up
        // to the next second.
        let (base, rest) =
            seconds < 0 ? (seconds + 1, subsecond - Self.nanosecondsASecond) : (seconds, subsecond)
        return base.multipliedClamped(by: Self.nanosecondsASecond).addingClamped(rest)
    }

    /// The milliseconds since 1970-01-01T00:00:00Z, rounded down, clamped to 64 bits.
    package var milliseconds: Int64 {
        seconds.multipliedClamped(by: 1000).addingClamped(subsecond / 1_000_000)
    }

    /// The time as a store returns it.
    package var asStored: Timestamp { Timestamp(nanoseconds: nanoseconds) }

    package static func < (left: Self, right: Self) -> Bool {
        (left.seconds, left.subsecond) < (right.seconds, right.subsecond)
    }

    package static func + (left: Self, right: Duration) -> Timestamp {
        let (seconds, attoseconds) = right.components
        return Timestamp(
            seconds: left.seconds.addingClamped(seconds),
            nanoseconds: left.subsecond + attoseconds / nanosecondsASecond)
    }

    package static func - (left: Self, right: Duration) -> Timestamp {
        let (seconds, attoseconds) = right.components
        return Timestamp(
            seconds: left.seconds.subtractingClamped(seconds),
            nanoseconds: left.subsecond - attoseconds / nanosecondsASecond)
    }

    /// Returns the duration from `right` to `left`. It is negative when `left` is earlier.
    package static func - (left: Self, right: Timestamp) -> Duration {
        .nanoseconds(left.nanoseconds.subtractingClamped(right.nanoseconds))
    }
}

extension Int64 {
    package func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    package func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    package func multipliedClamped(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
