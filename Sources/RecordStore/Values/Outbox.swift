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
    /// The batch that took it; nil while nobody sends it.
    package let batch: Int64?
    package let attempts: Int64
    package let error: String?
    /// The bytes of an asset that its text names have not come yet: not sent before.
    package let waitsForAsset: Bool
    /// The version in history that was sent last, by this change or by one that it took up: the
    /// server may have it, whatever it answered. Nil when none was.
    package let sent: Int64?
}

extension OutboxRow {
    /// How the error begins of a change that cannot be brought together with the server's record.
    package static let unmergeable = "The server's record cannot be merged"

    package var isUnmergeable: Bool { error?.hasPrefix(Self.unmergeable) == true }
}

/// A change that the engine has taken to send it, with all that its request says.
package struct OutboxClaim: Sendable {
    package internal(set) var row: OutboxRow
    /// What the server had when it last answered for the record. Nil when it never did: then a
    /// `delete` is of a record that may have arrived, whose tag is not known yet.
    package let base: AcknowledgedState?
    /// The record as it was taken; nil of a `delete`, and in a `SentRequest`.
    package let document: RecordDocument?
    package var isDelete: Bool { row.operation == .delete }
    /// The text of `base`; nil also where it is damaged: then all fields count as changed.
    package var baseDocument: RecordDocument?
    /// Of a `delete`: where the record has gone in the same database.
    package var movedTo: RecordAddress?
    /// Those of the record that are others than on the server, without the parent.
    package var changedFields: [FieldName] = []
    /// Those whose values go as assets (`RecordDocument.longFields`), and those that are so there.
    package var longFields: Set<FieldName> = []
    package var longFieldsOfBase: Set<FieldName> = []
    /// When the changed fields were given their values: of all but what was never there before.
    package var stamps: [FieldName: FieldStamp] = [:]
    /// The text of the record's file, where another machine would not print the same from the values;
    /// nil also when it is too long to be sent.
    package var fileText: [UInt8]?
    private(set) var isTextWithheld = false
    /// What the server has of the text when it takes this; of a `SentRequest` that is not known.
    var textOnServer: TextOnServer {
        if isTextWithheld { return .withheld }
        return document == nil || fileText != nil ? .sent : .printed
    }

    /// It goes with its values alone.
    package mutating func withholdText() {
        isTextWithheld = fileText != nil
        fileText = nil
    }
    /// The bytes of its text, or of the base when that is larger, by which requests are filled.
    package var bytes: Int {
        max(document?.text.count ?? 0, baseDocument?.text.count ?? 0) + (fileText?.count ?? 0)
    }
}

/// A record as the server had it.
package struct AcknowledgedState: Hashable, Sendable {
    /// The `recordChangeTag` by which an update or a delete is conditional.
    package let changeTag: String
    /// Nil when the text is damaged here.
    package let text: [UInt8]?
    /// The version of this store's history whose text it is; nil where no version has those values.
    var version: Int64?
    var textOnServer = TextOnServer.sent

    /// What the server has of the text of the record's file, as far as it is known; nil for none.
    package var fileText: [UInt8]? { textOnServer == .sent ? text : nil }
}

/// What the server has of the text of a record's file. Stored; never renumber.
enum TextOnServer: Int64 {
    /// None, for all machines print the same.
    case printed = 0
    /// It may have one, or lacks one that it should have: with the next change one goes.
    case sent = 1
    /// None, for it does not get through.
    case withheld = 2
}

/// A request with outgoing changes that may have reached the server, and has no answer.
package struct SentRequest: Sendable {
    package let body: [UInt8]
    /// The changes in it, without their documents: what they were is in the body.
    package let claims: [OutboxClaim]
}

/// How much one request may hold.
package struct ClaimLimits: Hashable, Sendable {
    package var records: Int
    /// Of texts; the first change is taken however large it is.
    package var bytes: Int

    package init(records: Int = 200, bytes: Int = 2_000_000) {
        self.records = records
        self.bytes = bytes
    }
}

/// Changes that are not taken now, though they could be: the server has just refused them for what
/// others may put right.
package struct ClaimExceptions: Hashable, Sendable {
    /// By their numbers in the outbox.
    package var rows: Set<Int64> = []
    /// New records, which need room.
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
        /// Of the pending ones, those that wait for an edit or for `recordfs retry`.
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
