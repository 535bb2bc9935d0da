package import RecordModel
package import RecordStore

/// A change that the engine has taken to send it, with everything that its request needs.
package struct OutboxClaim: Sendable {
    package internal(set) var row: OutboxRow
    /// The state that the server had when it last answered for the record. Nil when it never did:
    /// then a `delete` belongs to a record that may have reached the server, and its change tag is
    /// not known yet.
    package let base: AcknowledgedState?
    /// The record when the change was taken. Nil for a `delete`, and in a `SentRequest`.
    package let document: RecordDocument?
    package var isDelete: Bool { row.operation == .delete }
    /// The text of `base`. Also nil where it is damaged: then all fields count as changed.
    package var baseDocument: RecordDocument?
    /// The place in the same database to which the record has moved, for a `delete`.
    package var movedTo: RecordAddress?
    /// The fields of the record that differ from the server's, without the parent.
    package var changedFields: [FieldName] = []
    /// The fields whose values are sent as assets (`RecordDocument.longFields`), and the fields
    /// that the server already has as assets.
    package var longFields: Set<FieldName> = []
    package var longFieldsOfBase: Set<FieldName> = []
    /// The times at which the changed fields got their values. Empty for a record that the server
    /// never had.
    package var stamps: [FieldName: FieldStamp] = [:]
    /// The text of the record's file, if another machine would print a different text from the
    /// values. Also nil when it is too long to be sent.
    package var fileText: [UInt8]?
    /// The last gesture here that has changed the record. Nil when only the store has.
    package var origin: GestureOrigin?
    private(set) var isTextWithheld = false
    /// The state of the text on the server after it accepts this change. For a `SentRequest` it is
    /// not known.
    package var textOnServer: TextOnServer {
        if isTextWithheld { return .withheld }
        return document == nil || fileText != nil ? .sent : .printed
    }

    /// Removes the file text, so that the change sends only its values.
    package mutating func withholdText() {
        isTextWithheld = fileText != nil
        fileText = nil
    }
    /// The number of bytes of its text, or of the base when that is larger. Requests are filled by
    /// this number.
    package var bytes: Int {
        max(document?.text.count ?? 0, baseDocument?.text.count ?? 0) + (fileText?.count ?? 0)
    }
}
