/// A JSON number with its spelling.
///
/// Equality is by spelling: `1.0` and `1.00` differ here, and are the same as values of a DOUBLE.
package struct JSONNumber: Hashable, Sendable {
    package let spelling: [UInt8]
    /// The value when it is spelled as an integer (no fraction, no exponent) and fits 64 bits.
    package let int64: Int64?

    /// For a spelling that the parser has checked.
    init(checked spelling: [UInt8], int64: Int64?) {
        self.spelling = spelling
        self.int64 = int64
    }

    package init(_ value: Int64) {
        self.init(checked: Array(String(value).utf8), int64: value)
    }

    /// nil for NaN and the infinities, which JSON does not have.
    package init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self.init(checked: Array(value.description.utf8), int64: nil)
    }

    /// The nearest double; digits beyond its precision are rounded away.
    package var double: Double {
        if let int64 { return Double(int64) }
        return DecimalSpelling.double(spelling)
    }

    package static func == (left: Self, right: Self) -> Bool { left.spelling == right.spelling }
    package func hash(into hasher: inout Hasher) { hasher.combine(spelling) }
}

/// Reading doubles out of checked JSON spellings.
enum DecimalSpelling {
    private static let exactPowers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    static func double(_ spelling: [UInt8]) -> Double {
        if let fast = exact(spelling) { return fast }
        return Double(String(decoding: spelling, as: UTF8.self)) ?? .infinity
    }

    /// A mantissa below 2^53 and a power of ten up to 22 are both exact doubles, so that one
    /// operation rounds correctly (Clinger's fast path); nil when that does not hold.
    private static func exact(_ spelling: [UInt8]) -> Double? {
        var mantissa: UInt64 = 0
        var scale = 0
        var inFraction = false
        var at = 0
        if spelling.first == UInt8(ascii: "-") { at = 1 }
        let first = at
        while at < spelling.count {
            let byte = spelling[at]
            if byte == UInt8(ascii: ".") {
                inFraction = true
            } else if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
                break
            } else {
                mantissa = mantissa &* 10 &+ UInt64(byte &- 0x30)
                if inFraction { scale -= 1 }
            }
            at += 1
        }
        guard at - first <= 17, mantissa < 1 << 53 else { return nil }
        if at < spelling.count {
            guard let exponent = Int(String(decoding: spelling[(at + 1)...], as: UTF8.self)),
                exponent.magnitude < 400
            else { return nil }
            scale += exponent
        }
        guard abs(scale) <= 22 else { return nil }
        let power = exactPowers[abs(scale)]
        let magnitude = scale < 0 ? Double(mantissa) / power : Double(mantissa) * power
        return first == 1 ? -magnitude : magnitude
    }
}
