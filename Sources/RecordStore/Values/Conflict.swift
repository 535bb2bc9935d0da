package import RecordModel

/// The two versions of one record where the edit of one side lost. It is kept until somebody has
/// settled it.
package struct Conflict: Hashable, Sendable {
    /// The side that a text belongs to. The raw value is stored; never renumber.
    package enum Side: Int64, Sendable, CaseIterable {
        /// The text that both sides began with.
        case base = 0
        /// The text of this machine.
        case mine = 1
        /// The text of the server.
        case theirs = 2
    }

    package let id: Int64
    package let zone: ZoneID
    package let type: RecordTypeName
    /// The stem of the record's file now. If the file was removed, the stem that it had.
    package let stem: Stem
    package let record: RecordID
    /// The time at which the two edits met on this machine.
    package let at: Timestamp
    /// The fields that both sides changed. Empty when one side deleted the record and the other
    /// edited it.
    package let fields: [FieldName]
    /// The fields of `fields` that got the server's value.
    package let theirsStood: [FieldName]
    package let theirTime: Timestamp?
    /// The user who changed the record, as the server names them. Empty when that is not known.
    package let theirUser: String
    /// Indicates whether somebody has settled the conflict.
    package let isSettled: Bool
}
