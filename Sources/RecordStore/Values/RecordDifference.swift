import RecordModel

/// A record that differs between two moments, by its versions. At least one of them is there.
package struct RecordDifference: Hashable, Sendable {
    package let place: RecordPlace
    /// The token of its version at the first moment. Nil when there was no record.
    package let old: Int64?
    /// The token of its version at the second moment.
    package let new: Int64?
}
