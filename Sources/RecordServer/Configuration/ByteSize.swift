/// A number of bytes as people write it: `5G`, `500 MB`, `1048576`.
package enum ByteSize {
    /// The units in powers of 1024, whatever the letters after the number. An operator who means
    /// powers of 1000 gets no less than that.
    private static let units: [String: Int64] = [
        "": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50,
    ]

    /// Parses a size. Returns nil for anything else, and for a number that is too large.
    package static func parse(_ text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        var unit = text.dropFirst(digits.count).drop { $0 == " " }.uppercased()
        if unit.count > 1 {
            for ending in ["IB", "B"] where unit.hasSuffix(ending) {
                unit.removeLast(ending.count)
                break
            }
        }
        guard let count = Int64(digits), let size = units[unit] else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: size)
        return overflow ? nil : product
    }

    /// Returns a size for people, in the largest unit that is reached, with one digit after the
    /// point.
    package static func text(_ bytes: Int64) -> String {
        let names = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]
        var (value, unit) = (Double(max(0, bytes)), 0)
        while value >= 1_024, unit < names.count - 1 {
            value /= 1_024
            unit += 1
        }
        guard unit > 0 else { return "\(bytes) bytes" }
        let tenths = Int64((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(names[unit])"
    }
}
