/// A JSON number with its spelling.
///
/// Equality is by spelling: `1.0` and `1.00` differ here, and are equal as values of a DOUBLE. Most
/// numbers need no memory of their own, because lists can have very many.
package struct JSONNumber: Hashable, Sendable {
    /// Each spelling has one form.
    private enum Form: Hashable, Sendable {
        /// A number in the spelling of integers: without fraction and exponent, and not `-0`.
        case integer(Int64)
        /// Another spelling of at most 8 bytes, the first in the lowest byte.
        case short(UInt64)
        case long([UInt8])
    }

    private let form: Form

    /// Creates a number from a spelling that the parser has checked and that `init(_:)` would write
    /// differently.
    init(checked spelling: some Collection<UInt8>) {
        if spelling.count <= 8 {
            form = .short(spelling.reversed().reduce(0) { $0 << 8 | UInt64($1) })
        } else {
            form = .long(Array(spelling))
        }
    }

    package init(_ value: Int64) { form = .integer(value) }

    /// Creates the number of a double. Returns nil for NaN and the infinities, which JSON does not
    /// have.
    package init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self.init(checked: Array(value.description.utf8))
    }

    package var spelling: [UInt8] {
        switch form {
        case .integer(let value): return Array(String(value).utf8)
        case .short(var rest):
            var bytes: [UInt8] = []
            while rest != 0 {
                bytes.append(UInt8(truncatingIfNeeded: rest))
                rest >>= 8
            }
            return bytes
        case .long(let bytes): return bytes
        }
    }

    /// The value when it is spelled as an integer (no fraction, no exponent) and fits 64 bits.
    package var int64: Int64? {
        switch form {
        case .integer(let value): value
        case .short(let bytes): bytes == Self.negativeZero ? 0 : nil
        case .long: nil
        }
    }

    /// `-0`, which is an integer that `Int64` would spell differently.
    private static let negativeZero: UInt64 = 0x302D

    /// The nearest double; digits beyond its precision are rounded away.
    package var double: Double {
        if case .integer(let value) = form { return Double(value) }
        return DecimalSpelling.double(spelling)
    }

    /// The number of bytes of `spelling`.
    var spellingCount: Int {
        switch form {
        case .integer(let value):
            var count = value < 0 ? 2 : 1
            var rest = value.magnitude
            while rest >= 10 {
                count += 1
                rest /= 10
            }
            return count
        case .short(let bytes): return 8 - bytes.leadingZeroBitCount / 8
        case .long(let bytes): return bytes.count
        }
    }
}

/// Reads doubles out of checked JSON spellings.
enum DecimalSpelling {
    private static let exactPowers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    static func double(_ spelling: [UInt8]) -> Double {
        if let fast = exact(spelling) { return fast }
        return Double(String(decoding: spelling, as: UTF8.self)) ?? .infinity
    }

    /// Returns the double when a single operation computes it exactly: a mantissa below 2^53 and a
    /// power of ten up to 22 are both exact doubles, so that one operation rounds correctly
    /// (Clinger's fast path). Returns nil when that does not hold.
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
