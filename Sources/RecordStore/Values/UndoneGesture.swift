package import RecordModel

/// The gestures that are to be taken back.
package enum GestureChoice: Hashable, Sendable {
    /// Undo as many as this, the latest first.
    case latest(Int)
    /// Redo as many undone ones as this, the one that was undone last first.
    case latestUndone(Int)
    /// Undo the gesture that has the version with this token, or redo it when it is an undo.
    case ofToken(Int64)
}

/// The result of taking back one gesture.
package struct UndoneGesture: Sendable {
    /// The gesture that was done first: of a redo, the one that was undone.
    package let gesture: Gesture
    package internal(set) var records: [UndoneRecord] = []

    package init(gesture: Gesture) { self.gesture = gesture }

    /// The number of records that were changed.
    package var changed: Int { records.count { !$0.effect.isNone } }
    /// The number of changed records whose change the server already had, so that others see what is
    /// taken back.
    package var sent: Int { records.count { $0.wasSent && !$0.effect.isNone } }
}

/// The result of taking back a gesture for one record.
package struct UndoneRecord: Sendable {
    package enum Effect: Hashable, Sendable {
        /// The gesture had made it.
        case removed
        /// The gesture had removed it.
        case broughtBack
        /// These fields have their former values.
        case changed([FieldName])
        /// Nothing was done.
        case none(Reason)

        package var isNone: Bool { if case .none = self { true } else { false } }
    }

    /// Why a record is as before.
    package enum Reason: String, Hashable, Sendable {
        /// All that the gesture has changed in it was changed again since.
        case changedSince
        case removedSince
        /// There is another record with the name, or the same record was made again.
        case nameIsTaken
        /// The version before the gesture is no longer kept.
        case versionIsGone
        /// Its file shows a text that was refused and is nowhere else.
        case hasDraft
        case readOnly
        /// The zone is no longer shared with this user.
        case notShared
    }

    package let zone: ZoneInfo
    package let type: RecordTypeName
    package let stem: Stem
    package internal(set) var effect: Effect
    /// The fields that the gesture has changed, and that were changed again since. They stay.
    package internal(set) var left: [FieldName] = []
    /// Indicates whether the server already had the change.
    package let wasSent: Bool
}
