import ArgumentParser
import Glibc
import RecordModel
import RecordStore

extension RestorePoint: ExpressibleByArgument {
    /// Reads an argument: `10m`, `2h`, `3d`, `1w` mean that long ago; a date or a time is in this
    /// machine's time zone when it names none; digits alone are the token of a version.
    public init?(argument: String) {
        if let token = Int64(argument) {
            guard token >= 0 else { return nil }
            self = .token(token)
        } else if let time = Self.ago(argument) ?? Self.time(argument) {
            self = .time(time)
        } else {
            return nil
        }
    }

    private static func ago(_ text: String) -> Timestamp? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            count >= 0
        else { return nil }
        let seconds = count.multipliedReportingOverflow(by: unit)
        let now = SystemClock().now
        // A time before 1970 counts as the beginning.
        guard !seconds.overflow, seconds.partialValue < now.seconds else {
            return Timestamp(nanoseconds: 0)
        }
        return Timestamp(seconds: now.seconds - seconds.partialValue, nanoseconds: now.subsecond)
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
