package import RecordModel

/// A change that the server has not acknowledged: one row for each generation of a record.
package struct OutboxRow: Hashable, Sendable {
    /// The raw value is stored; never renumber.
    package enum Operation: Int64, Sendable {
        case create = 1
        case update = 2
        case delete = 3
    }

    package let id: Int64
    package let record: RecordID
    package let generation: Int64
    package let operation: Operation
    package let zone: ZoneID
    package let type: RecordTypeName
    package let name: RecordName
    package let first: Timestamp
    package let last: Timestamp
    /// The batch that took the change. Nil while nobody sends it.
    package let batch: Int64?
    package let attempts: Int64
    package let error: String?
    /// Indicates whether the bytes of an asset that its text names have not arrived yet. The change
    /// is not sent before they arrive.
    package let waitsForAsset: Bool
    /// The version in history that was sent last, by this change or by one that it replaced. The
    /// server may have it, whatever it answered. Nil when none was sent.
    package let sent: Int64?
}

extension OutboxRow {
    /// The beginning of the error of a change that cannot be merged with the server's record.
    package static let unmergeable = "The server's record cannot be merged"

    package var isUnmergeable: Bool { error?.hasPrefix(Self.unmergeable) == true }
}

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
    private(set) var isTextWithheld = false
    /// The state of the text on the server after it accepts this change. For a `SentRequest` it is
    /// not known.
    var textOnServer: TextOnServer {
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

/// A record in the state that the server had.
package struct AcknowledgedState: Hashable, Sendable {
    /// The `recordChangeTag` that makes an update or a delete conditional.
    package let changeTag: String
    /// The text of the record. Nil when the text is damaged here.
    package let text: [UInt8]?
    /// The version of this store's history that has this text. Nil where no version has those
    /// values.
    var version: Int64?
    var textOnServer = TextOnServer.sent

    /// The text of the record's file on the server, as far as it is known. Nil for none.
    package var fileText: [UInt8]? { textOnServer == .sent ? text : nil }
}

/// The state of a record's file text on the server. The raw value is stored; never renumber.
enum TextOnServer: Int64 {
    /// The server has no text, because all machines print the same one.
    case printed = 0
    /// The server may have a text, or lacks one that it should have. The next change sends one.
    case sent = 1
    /// The server has no text, because sending it fails.
    case withheld = 2
}

/// A request with outgoing changes that may have reached the server and has no answer.
package struct SentRequest: Sendable {
    package let body: [UInt8]
    /// The changes in it, without their documents, because the body contains them.
    package let claims: [OutboxClaim]
}

/// The limits of one request.
package struct ClaimLimits: Hashable, Sendable {
    package var records: Int
    /// The bytes of texts. The first change is taken even if it is larger.
    package var bytes: Int

    package init(records: Int = 200, bytes: Int = 2_000_000) {
        self.records = records
        self.bytes = bytes
    }
}

/// Changes that are not taken now although they are ready: the server has just refused them for a
/// reason that other people can remove.
package struct ClaimExceptions: Hashable, Sendable {
    /// The numbers of these changes in the outbox.
    package var rows: Set<Int64> = []
    /// Indicates whether new records are excepted, because they need space.
    package var creates = false

    package init() {}

    func contains(_ row: OutboxRow) -> Bool {
        rows.contains(row.id) || creates && row.operation == .create
    }
}

/// Figures of a store.
package struct StoreCounts: Hashable, Sendable {
    package struct Zone: Hashable, Sendable {
        package let zone: ZoneID
        package let records: Int64
        package let pending: Int64
        package let oldestPending: Timestamp?
        package let drafts: Int64
        /// The pending changes that wait for an edit or for `recordfs retry`.
        package let refused: Int64
        /// Conflicts that nobody has settled.
        package let conflicts: Int64
        /// Records that the server has and that cannot be shown here.
        package let passedOver: Int64
    }

    package let zones: [Zone]
    package let trash: Int64
    package let historyRows: Int64
    package let databaseBytes: Int64

    package var records: Int64 { zones.reduce(0) { $0 + $1.records } }
    package var pending: Int64 { zones.reduce(0) { $0 + $1.pending } }
    package var drafts: Int64 { zones.reduce(0) { $0 + $1.drafts } }
    package var conflicts: Int64 { zones.reduce(0) { $0 + $1.conflicts } }
    package var refused: Int64 { zones.reduce(0) { $0 + $1.refused } }
    package var passedOver: Int64 { zones.reduce(0) { $0 + $1.passedOver } }
}
