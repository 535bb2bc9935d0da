package import RecordModel

/// A page of the answer to records/history, an extension: the states that records have had, those
/// that ended last first.
package struct HistoryAnswer: Hashable, Sendable {
    package let versions: [FormerAnswer]
    /// The place where the next page begins. It is nil after the last page.
    package let continuationMarker: Text?

    package init(_ json: JSONReader) throws(ServerError) {
        versions = try json.required("versions").array().map(FormerAnswer.init(_:))
        continuationMarker = try json.string("continuationMarker")
    }
}

/// A state that a record has had, with the change that ended it.
package struct FormerAnswer: Hashable, Sendable {
    package let record: RecordAnswer
    package let replaced: StampAnswer
    /// The origin of that change.
    package let gesture: Text?
    /// Indicates whether that change was a deletion.
    package let isDeletion: Bool

    package init(_ json: JSONReader) throws(ServerError) {
        record = try RecordAnswer(try json.required("record"))
        replaced = try StampAnswer(try json.required("replaced"))
        gesture = try json.string("gesture")
        isDeletion = try json.bool("deleted", default: false)
    }
}
