import Glibc
package import RecordModel

extension RestorePoint {
    /// Reads a moment: `10m`, `2h`, `3d`, `1w` mean that long ago; `now`; a date or a time, with
    /// `today` or `yesterday` for a date, in this machine's time zone when it names none; a number,
    /// also after `@`, is the token of a version; the name of a gesture after `@` is the moment after
    /// it; everything else is the name of a moment.
    ///
    /// - Returns: nil for a text that is none of these.
    package init?(_ text: String, now: Timestamp) {
        let digits = text.hasPrefix("@") ? text.dropFirst() : text[...]
        if let token = Int64(digits) {
            guard token >= 0 else { return nil }
            self = .token(token)
        } else if text.hasPrefix("@"), let name = GestureName(digits) {
            self = .gesture(name)
        } else if let time = Self.ago(text, now) ?? Self.time(Self.dated(text, now)) {
            self = .time(time)
        } else if let name = MomentName(text) {
            self = .named(name)
        } else {
            return nil
        }
    }

    private static func ago(_ text: String, _ now: Timestamp) -> Timestamp? {
        if text == "now" { return now }
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            count >= 0
        else { return nil }
        let seconds = count.multipliedReportingOverflow(by: unit)
        // A time before 1970 counts as the beginning.
        guard !seconds.overflow, seconds.partialValue < now.seconds else {
            return Timestamp(nanoseconds: 0)
        }
        return Timestamp(seconds: now.seconds - seconds.partialValue, nanoseconds: now.subsecond)
    }

    /// Returns the text with a date for `today` or `yesterday`.
    private static func dated(_ text: String, _ now: Timestamp) -> String {
        for (word, days) in [("today", 0), ("yesterday", -1)] where text.hasPrefix(word) {
            var seconds = time_t(now.seconds)
            var parts = tm()
            localtime_r(&seconds, &parts)
            // Noon, so that a change to summer time does not lead to another day.
            (parts.tm_mday, parts.tm_hour) = (parts.tm_mday + Int32(days), 12)
            parts.tm_isdst = -1
            mktime(&parts)
            let date = [parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday].map {
                $0 < 10 ? "0\($0)" : "\($0)"
            }
            return date.joined(separator: "-") + text.dropFirst(word.count)
        }
        return text
    }

    private static func time(_ text: String) -> Timestamp? {
        var text = text.replacing(" ", with: "T", maxReplacements: 1)
        if !text.contains("T") { text += "T00:00" }
        if let time = timestamp(text) { return time }
        // Without a zone: read it as UTC, then shift it by the offset of this machine at that time.
        guard let reading = timestamp(text + "Z") else { return nil }
        var seconds = time_t(reading.seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        parts.tm_isdst = -1
        let local = mktime(&parts)
        return Timestamp(seconds: Int64(local), nanoseconds: reading.subsecond)
    }

    private static func timestamp(_ text: String) -> Timestamp? {
        guard let milliseconds = ISO8601.parse(Array(text.utf8)) else { return nil }
        let nanoseconds = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        guard !nanoseconds.overflow else { return nil }
        // Times are shown cut to milliseconds. A copied time means its whole millisecond.
        let isCut = text.contains(".")
        return Timestamp(nanoseconds: nanoseconds.partialValue + (isCut ? 999_999 : 0))
    }
}
