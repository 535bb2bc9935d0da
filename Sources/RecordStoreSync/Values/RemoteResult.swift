package import RecordModel

/// The effect of a remote change on this machine.
package struct RemoteResult: Sendable {
    package enum Outcome: Hashable, Sendable {
        case created, updated, unchanged, deleted
        /// A deletion that lost against a local edit. The record stays and is sent again.
        case kept
        /// A deletion of a record that is not here.
        case absent
    }

    package let outcome: Outcome
    package let id: RecordID?
    /// The fields that both sides changed to different values. The later value wins, and the other
    /// one is kept with the conflict.
    package let conflicts: [FieldName]
}
