package import RecordModel
package import RecordWire

/// A report of a user about a share, for the operator of the server.
package struct ShareReport: Hashable, Sendable {
    /// The most bytes of `text`.
    package static let maximumBytes = 2_000
    /// The most reports that the server keeps. The oldest are removed first.
    package static let limit = 10_000

    package let zone: ZoneKey
    /// The name of the share's record.
    package let share: RecordName
    package let shortGUID: Text
    package let reporter: UserName
    /// The time of the report, in milliseconds since 1970.
    package let milliseconds: Int64
    package let text: Text

    package init(
        zone: ZoneKey, share: RecordName, shortGUID: Text, reporter: UserName, milliseconds: Int64,
        text: Text
    ) {
        self.zone = zone
        self.share = share
        self.shortGUID = shortGUID
        self.reporter = reporter
        self.milliseconds = milliseconds
        self.text = text
    }
}
