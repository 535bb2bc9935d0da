import Glibc
package import RecordModel

/// Values in a form for people.
package enum Showing {
    package static func time(_ timestamp: Timestamp) -> String {
        ISO8601.print(milliseconds: timestamp.milliseconds)
    }

    /// Returns a time in this machine's time zone, to the second: `2026-11-30 14:03:12`.
    package static func localTime(_ timestamp: Timestamp) -> String {
        var seconds = time_t(timestamp.seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns a size, such as `512 B` or `12.3 KiB`: three significant digits.
    package static func size(_ bytes: Int64) -> String {
        var value = Double(bytes)
        var unit = 0
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        while value >= 1024, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return unit == 0 ? "\(bytes) B" : "\(Double(Int(value * 10)) / 10) \(units[unit])"
    }

    /// Returns a number and a noun, such as `1 record` or `2 records`.
    package static func count(_ number: some BinaryInteger, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(grouped(number)) \(noun)s"
    }

    package static func days(_ duration: Duration) -> String {
        count(duration.components.seconds / (24 * 3600), "day")
    }

    /// Returns the digits in groups of three.
    package static func grouped(_ number: some BinaryInteger) -> String {
        var groups: [Substring] = []
        var rest = Substring(String(number.magnitude))
        while rest.count > 3 {
            groups.append(rest.suffix(3))
            rest = rest.dropLast(3)
        }
        return (number < 0 ? "-" : "") + ([rest] + groups.reversed()).joined(separator: " ")
    }
}
