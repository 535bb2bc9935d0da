/// A pointer from one record to another.
package struct Reference: Hashable, Sendable {
    /// The effect on both records when one of them is deleted.
    package enum Action: String, CaseIterable, Sendable, Hashable {
        case none = "NONE"
        /// This record is deleted when its target is deleted.
        case deleteSelf = "DELETE_SELF"
        /// The target must exist, and stays as long as this record does.
        case validate = "VALIDATE"
    }

    package let name: RecordName
    /// The zone of the target. It is nil for the zone of the record that holds the reference.
    package let zone: ZoneName?
    package let action: Action

    package init(name: RecordName, zone: ZoneName? = nil, action: Action = .none) {
        self.name = name
        self.zone = zone
        self.action = action
    }
}
