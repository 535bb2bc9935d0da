package import RecordModel
package import RecordWire

/// What somebody has reported of a share to who runs the server.
package struct ShareReport: Hashable, Sendable {
    /// Of `text`.
    package static let maximumBytes = 2_000
    /// How many the server keeps: the oldest go first.
    package static let limit = 10_000

    package let zone: ZoneKey
    /// The name of the share's record.
    package let share: RecordName
    package let shortGUID: Text
    package let reporter: UserName
    /// Since 1970.
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
