/// Dates in the form `2026-11-20T10:00:00.000Z`, in the proleptic Gregorian calendar.
///
/// Years outside 0000...9999 are written with a sign and at least six digits, as ISO 8601 extends
/// them, so that every millisecond of 64 bits has a text and comes back from it.
package enum ISO8601 {
    private static let millisecondsADay: Int64 = 86_400_000

    /// Returns the milliseconds since 1970-01-01T00:00:00Z. Returns nil when the text is no such
    /// date.
    ///
    /// Accepts a time without seconds, a fraction of 1 to 9 digits (cut to milliseconds), and `Z`
    /// or an offset `+hh:mm`. The offset is required, because a time without one is no point in
    /// time.
    package static func parse(_ text: [UInt8]) -> Int64? {
        var reader = DateReader(text)
        guard let year = reader.year(), reader.skip("-"),
            let month = reader.two(1...12), reader.skip("-"),
            let day = reader.two(1...daysOfMonth(year, month)), reader.skip("T"),
            let time = reader.timeOfDay(), let offset = reader.offset(), reader.isAtEnd
        else { return nil }
        let days = daysSinceEpoch(year: year, month: month, day: day)
        // Computed in two steps, so that the first and the last day of the range do not overflow
        // early.
        let whole = days.multipliedReportingOverflow(by: millisecondsADay)
        if !whole.overflow {
            let sum = whole.partialValue.addingReportingOverflow(time - offset)
            return sum.overflow ? nil : sum.partialValue
        }
        let next = (days + 1).multipliedReportingOverflow(by: millisecondsADay)
        let sum = next.partialValue.addingReportingOverflow(time - offset - millisecondsADay)
        return next.overflow || sum.overflow ? nil : sum.partialValue
    }

    package static func print(milliseconds: Int64) -> String {
        let (days, time) = floorDivision(milliseconds, millisecondsADay)
        let (year, month, day) = civil(daysSinceEpoch: days)
        let (minutes, rest) = floorDivision(time, 60_000)
        var text = printYear(year)
        text += "-" + padded(month, 2) + "-" + padded(day, 2)
        text += "T" + padded(minutes / 60, 2) + ":" + padded(minutes % 60, 2)
        text += ":" + padded(rest / 1000, 2) + "." + padded(rest % 1000, 3) + "Z"
        return text
    }

    private static func printYear(_ year: Int64) -> String {
        if (0...9999).contains(year) { return padded(year, 4) }
        return (year < 0 ? "-" : "+") + padded(abs(year), 6)
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Returns the quotient, rounded down, and the remainder, which is never negative.
    private static func floorDivision(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
        var (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        if remainder < 0 { (quotient, remainder) = (quotient - 1, remainder + divisor) }
        return (quotient, remainder)
    }

    static func daysOfMonth(_ year: Int64, _ month: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the days since 1970-01-01. Counts in years that begin in March, so that the leap day
    /// is the last day of its year.
    private static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let (era, yearOfEra) = floorDivision(shifted, 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func civil(daysSinceEpoch days: Int64) -> (Int64, Int64, Int64) {
        let (era, dayOfEra) = floorDivision(days + 719_468, 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}

/// The parts of a date, one after the other.
private struct DateReader {
    private let text: [UInt8]
    private var at = 0

    init(_ text: [UInt8]) { self.text = text }

    var isAtEnd: Bool { at == text.count }
    private var next: UInt8 { at < text.count ? text[at] : 0 }

    mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: scalar) else { return false }
        at += 1
        return true
    }

    /// Reads four digits, or a sign and six to nine digits.
    mutating func year() -> Int64? {
        let isNegative = next == UInt8(ascii: "-")
        if isNegative || next == UInt8(ascii: "+") {
            at += 1
            return digits(6...9).map { isNegative ? -$0 : $0 }
        }
        return digits(4...4)
    }

    mutating func two(_ range: ClosedRange<Int64>) -> Int64? {
        guard let value = digits(2...2), range.contains(value) else { return nil }
        return value
    }

    /// Reads the time of day, in milliseconds.
    mutating func timeOfDay() -> Int64? {
        guard let hour = two(0...23), skip(":"), let minute = two(0...59) else { return nil }
        var milliseconds = (hour * 60 + minute) * 60_000
        if skip(":") {
            guard let second = two(0...59) else { return nil }
            milliseconds += second * 1000
            if skip(".") {
                let start = at
                guard let fraction = digits(1...9) else { return nil }
                var scaled = fraction
                for _ in 0..<max(0, 3 - (at - start)) { scaled *= 10 }
                for _ in 0..<max(0, at - start - 3) { scaled /= 10 }
                milliseconds += scaled
            }
        }
        return milliseconds
    }

    /// Reads the offset, in milliseconds east of UTC.
    mutating func offset() -> Int64? {
        if skip("Z") { return 0 }
        let isWest = next == UInt8(ascii: "-")
        guard skip("+") || skip("-"), let hour = two(0...23), skip(":"), let minute = two(0...59)
        else { return nil }
        let milliseconds = (hour * 60 + minute) * 60_000
        return isWest ? -milliseconds : milliseconds
    }

    private mutating func digits(_ count: ClosedRange<Int>) -> Int64? {
        let start = at
        var value: Int64 = 0
        while at - start < count.upperBound, IdentifierRule.isDigit(next) {
            value = value * 10 + Int64(next - UInt8(ascii: "0"))
            at += 1
        }
        return at - start >= count.lowerBound ? value : nil
    }
}
