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

/// A record in the state that the server had.
package struct AcknowledgedState: Hashable, Sendable {
    /// The `recordChangeTag` that makes an update or a delete conditional.
    package let changeTag: String
    /// The text of the record. Nil when the text is damaged here.
    package let text: [UInt8]?
    /// The version of this store's history that has this text. Nil where no version has those
    /// values.
    package var version: Int64?
    package var textOnServer = TextOnServer.sent

    /// The text of the record's file on the server, as far as it is known. Nil for none.
    package var fileText: [UInt8]? { textOnServer == .sent ? text : nil }
}

/// The state of a record's file text on the server. The raw value is stored; never renumber.
package enum TextOnServer: Int64 {
    /// The server has no text, because all machines print the same one.
    case printed = 0
    /// The server may have a text, or lacks one that it should have. The next change sends one.
    case sent = 1
    /// The server has no text, because sending it fails.
    case withheld = 2
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
