package import RecordModel

/// A completed part of the exchange with the record server, as NSPersistentCloudKitContainer
/// reports it (Apple, `NSPersistentCloudKitContainer.Event`).
package struct SyncEvent: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// The server was reached with the account.
        case setup
        /// Changes of others were downloaded.
        case `import`
        /// Changes of this machine were uploaded.
        case export
    }

    /// A number that grows. 0 for an event that is not stored yet.
    package var id: Int64 = 0
    package let kind: Kind
    package let database: Database
    /// The zone. Nil when the event is not about a single zone.
    package let zone: ZoneID?
    package let start: Timestamp
    package let end: Timestamp
    /// The number of records that it has changed.
    package let records: Int64
    /// The reason why it failed. Nil when it has not failed.
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
