import RecordModel
import RecordStore

/// A refused save that the user has seen: the user removed its `.error`.
struct AcknowledgedRefusal: Hashable, Sendable {
    let record: RecordID
    let since: Timestamp

    init(_ refusal: Refusal) {
        record = refusal.record
        since = refusal.since
    }
}

/// An object that was saved although the model wants fewer or more objects in a relationship.
struct CountWarning: Sendable {
    let record: RecordID
    let stem: Stem
    let since: Timestamp
}

/// The text of `.error`: the last rejected save of a directory, and the last of its assets that
/// could not be read or saved.
struct ErrorReport: Sendable {
    let text: [UInt8]
    let since: Timestamp
}
