package import RecordModel
import Synchronization

/// The difference between the server's time and the time of this machine, from the `Date` of the
/// server's answers.
final class ServerClock: Sendable {
    private let clock: any WallClock
    private let ahead = Mutex<Duration?>(nil)

    init(_ clock: any WallClock = SystemClock()) { self.clock = clock }

    /// The time by which the server is ahead. Nil when the server has not sent its time yet.
    var difference: Duration? { ahead.withLock(\.self) }

    /// Notes the time of an answer.
    /// - Parameter date: the header of an answer that has just arrived.
    func hear(_ date: String?) {
        guard let date, let time = HTTPTime.parse(date) else { return }
        let difference = time - clock.now
        ahead.withLock { $0 = difference }
    }
}

/// The date format of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
package enum HTTPTime {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the time, or nil for any other text.
    package static func parse(_ text: String) -> Timestamp? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let day = number(parts[1], 1...31),
            let month = months.firstIndex(of: String(parts[2])),
            let year = number(parts[3], 1970...9_999)
        else { return nil }
        let time = parts[4].split(separator: ":")
        guard time.count == 3, let hour = number(time[0], 0...23),
            let minute = number(time[1], 0...59), let second = number(time[2], 0...60)
        else { return nil }
        let seconds = hour * 3_600 + minute * 60 + second
        return Timestamp(
            seconds: days(year: year, month: Int64(month) + 1, day: day) * 86_400 + seconds)
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(text) else {
            return nil
        }
        return range.contains(number) ? number : nil
    }

    /// Returns the days since 1970-01-01 in the Gregorian calendar (Hinnant, "chrono-Compatible
    /// Low-Level Date Algorithms").
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }
}
