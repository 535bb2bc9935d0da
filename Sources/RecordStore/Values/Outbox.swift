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
}

/// Figures of a store.
package struct StoreCounts: Hashable, Sendable {
    package struct Zone: Hashable, Sendable {
        package let zone: ZoneID
        package let records: Int64
        package let pending: Int64
        package let oldestPending: Timestamp?
        package let drafts: Int64
    }

    package let zones: [Zone]
    package let trash: Int64
    package let historyRows: Int64
    package let databaseBytes: Int64

    package var records: Int64 { zones.reduce(0) { $0 + $1.records } }
    package var pending: Int64 { zones.reduce(0) { $0 + $1.pending } }
    package var drafts: Int64 { zones.reduce(0) { $0 + $1.drafts } }
}
