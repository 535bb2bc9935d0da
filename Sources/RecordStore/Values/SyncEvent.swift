package import RecordModel

/// A piece of the exchange with the record server that is over, as NSPersistentCloudKitContainer tells
/// of it (Apple, `NSPersistentCloudKitContainer.Event`).
package struct SyncEvent: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// The server was reached with the account.
        case setup
        /// What others have changed came here.
        case `import`
        /// What was changed here went there.
        case export
    }

    /// Rising; 0 of one that is not kept yet.
    package var id: Int64 = 0
    package let kind: Kind
    package let database: Database
    /// Nil when it is about no single zone.
    package let zone: ZoneID?
    package let start: Timestamp
    package let end: Timestamp
    /// Those that it has changed.
    package let records: Int64
    /// Why it has failed; nil when it has not.
    package let error: String?

    package init(
        _ kind: Kind, _ database: Database, _ zone: ZoneID?, start: Timestamp, end: Timestamp,
        records: Int64 = 0, error: String? = nil
    ) {
        self.kind = kind
        self.database = database
        self.zone = zone
        self.start = start
        self.end = end
        self.records = records
        self.error = error
    }
}
