import RecordModel

extension Timestamp {
    var iso8601: String { ISO8601.print(milliseconds: milliseconds) }
}
