/// The time at which a field was given its value, and the device that gave it. It orders two edits
/// of one field that knew nothing of each other.
///
/// A hybrid logical clock: milliseconds of the device's clock, and a counter. When a device has
/// seen an edit and then changes the field, its change is always the later one, whatever its clock
/// says.
/// Kulkarni et al., "Logical Physical Clocks" (2014).
package struct FieldStamp: Hashable, Sendable, Comparable {
    /// Milliseconds since 1970-01-01T00:00:00Z in the upper 48 bits, a counter in the lower 16.
    package let time: Int64
    /// The number of the device, which breaks ties.
    package let device: UInt64
    /// Edits that lost against this one, or against the edits that this one replaced. Their
    /// machines list a conflict when they receive this stamp. The newest is the last, and there are
    /// at most `losersMax`.
    package private(set) var losers: [LostEdit] = []

    package init(time: Int64, device: UInt64) {
        self.time = max(0, time)
        self.device = device
    }

    /// Returns this edit with more edits that lost against it.
    package func over(_ more: [LostEdit]) -> FieldStamp {
        var stamp = self
        for loser in more where !stamp.losers.contains(loser) { stamp.losers.append(loser) }
        stamp.losers = stamp.losers.suffix(Self.losersMax)
        return stamp
    }

    package static let losersMax = 6

    /// Creates the stamp of an edit whose time alone is known: it is before all other edits of that
    /// millisecond.
    package init(at time: Timestamp) {
        self.init(time: HybridClock.time(at: time), device: 0)
    }

    package var milliseconds: Int64 { time >> 16 }

    package static func < (left: Self, right: Self) -> Bool {
        (left.time, left.device) < (right.time, right.device)
    }

    // MARK: As text

    private static let hexDigits = 16

    /// The form that the server keeps with the field: 33 characters, which sort in the order of the
    /// stamps, and 29 more for each edit that lost.
    package var text: String {
        losers.reduce(Self.hex(UInt64(time)) + "-" + Self.hex(device)) { $0 + "-" + $1.text }
    }

    /// Reads the form of `text`. Returns nil when another client has written something else there.
    package init?(text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        // `Int64(_:radix:)` takes a sign too.
        guard parts.count >= 2, parts.count <= 2 + Self.losersMax,
            parts.prefix(2).allSatisfy({
                $0.utf8.count == Self.hexDigits && $0.allSatisfy(\.isHexDigit)
            }),
            let time = Int64(parts[0], radix: 16), time >= 0,
            let device = UInt64(parts[1], radix: 16)
        else { return nil }
        self.init(time: time, device: device)
        for part in parts.dropFirst(2) {
            guard let loser = LostEdit(text: part) else { return nil }
            losers.append(loser)
        }
    }

    fileprivate static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: hexDigits - digits.count) + digits
    }
}

/// An edit of a field that lost in a merge. The stamp of the value that won names it.
package struct LostEdit: Hashable, Sendable {
    /// The time of the edit's stamp. When the value had no stamp, as with the values that a record
    /// was created with, it is a checksum of the value.
    package let time: Int64
    /// The lower 48 bits of the device's number. It is 0 beside a checksum.
    package let device: UInt64

    package init(_ stamp: FieldStamp) {
        time = stamp.time
        device = stamp.device & Self.deviceMask
    }

    package init(valueChecksum: Int64) {
        time = valueChecksum & .max
        device = 0
    }

    private static let deviceMask: UInt64 = 1 << 48 - 1
    private static let timeDigits = 16
    private static let deviceDigits = 12

    fileprivate var text: String {
        FieldStamp.hex(UInt64(time)) + FieldStamp.hex(device).suffix(Self.deviceDigits)
    }

    fileprivate init?(text: Substring) {
        guard text.utf8.count == Self.timeDigits + Self.deviceDigits,
            text.allSatisfy(\.isHexDigit),
            let time = Int64(text.prefix(Self.timeDigits), radix: 16), time >= 0,
            let device = UInt64(text.suffix(Self.deviceDigits), radix: 16)
        else { return nil }
        self.time = time
        self.device = device
    }
}
