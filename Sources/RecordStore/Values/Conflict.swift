package import RecordModel

/// What two sides made of one record, where one of them lost: kept until somebody has looked.
package struct Conflict: Hashable, Sendable {
    /// Whose text. The raw value is stored; never renumber.
    package enum Side: Int64, Sendable, CaseIterable {
        /// What both began with.
        case base = 0
        /// Of this machine.
        case mine = 1
        /// Of the server.
        case theirs = 2
    }

    package let id: Int64
    package let zone: ZoneID
    package let type: RecordTypeName
    /// That of the record's file now; when it is gone, the one that it had.
    package let stem: Stem
    package let record: RecordID
    /// When the two met here.
    package let at: Timestamp
    /// Changed by both; empty when one side deleted the record and the other edited it.
    package let fields: [FieldName]
    /// Those of `fields` that got the server's value.
    package let theirsStood: [FieldName]
    package let theirTime: Timestamp?
    /// As the server names who changed it; empty when that is not known.
    package let theirUser: String
    /// Somebody has said how it shall be.
    package let isSettled: Bool
}
