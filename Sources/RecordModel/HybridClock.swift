/// Gives the times of stamps.
///
/// Each time is later than the one before, and later than every time received from others, unless
/// that is more than a day ahead of the clock.
package struct HybridClock: Sendable {
    /// The largest lead over this clock that a time from another clock may have. The clock ignores
    /// a time with a larger lead, so that one wrong clock cannot move all others forward.
    private static let believed: Duration = .seconds(86_400)
    /// The last millisecond that is counted, in the year 6429.
    private static let millisecondsMax: Int64 = 1 << 47 - 1

    /// The last time that was given or believed.
    private(set) package var last: Int64

    /// Creates a clock.
    ///
    /// - Parameter last: the last time that was given.
    package init(last: Int64) { self.last = last }

    package mutating func tick(_ now: Timestamp) -> Int64 {
        // A clock that was days ahead and was then corrected no longer counts.
        let isBelieved = last < Self.time(at: now + Self.believed)
        last = isBelieved ? max(Self.time(at: now), last + 1) : Self.time(at: now)
        return last
    }

    package mutating func hear(_ stamp: FieldStamp, _ now: Timestamp) {
        if stamp.time < Self.time(at: now + Self.believed) { last = max(last, stamp.time) }
    }

    /// Returns whether the last time is in a later millisecond than the clock shows.
    package func isAhead(of now: Timestamp) -> Bool { last >> 16 > Self.time(at: now) >> 16 }

    static func time(at time: Timestamp) -> Int64 {
        max(0, min(time.milliseconds, millisecondsMax)) << 16
    }
}
