package import RecordModel

/// A part of the exchange with the record server, as NSPersistentCloudKitContainer reports it
/// (Apple, `NSPersistentCloudKitContainer.Event`).
package struct SyncEvent: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// The server was reached with the account.
        case setup
        /// Changes of others were downloaded.
        case `import`
        /// Changes of this machine were uploaded.
        case export
    }

    /// The record that an event is about.
    package struct Record: Hashable, Sendable {
        package let type: RecordTypeName
        package let name: RecordName

        package init(_ type: RecordTypeName, _ name: RecordName) {
            self.type = type
            self.name = name
        }
    }

    /// A number that grows. 0 for an event that is not stored yet.
    package var id: Int64 = 0
    package let kind: Kind
    package let database: Database
    /// The zone. Nil when the event is not about a single zone.
    package let zone: ZoneID?
    package let start: Timestamp
    /// The end. Nil while the exchange runs, and for one whose process ended before it was over.
    package let end: Timestamp?
    /// The number of records that it has changed.
    package let records: Int64
    /// The reason why it failed. Nil when it has not failed.
    package let error: String?
    /// The record that was refused, for an event about a single record.
    package var record: Record?
    /// The number of the event that told of the beginning of this exchange. Nil when none did.
    package var begun: Int64?

    /// - Parameter end: nil for an exchange that begins.
    package init(
        _ kind: Kind, _ database: Database, _ zone: ZoneID?, start: Timestamp, end: Timestamp?,
        records: Int64 = 0, error: String? = nil, record: Record? = nil
    ) {
        self.kind = kind
        self.database = database
        self.zone = zone
        self.start = start
        self.end = end
        self.records = records
        self.error = error
        self.record = record
    }

    /// Indicates whether the exchange runs.
    package var isRunning: Bool { end == nil && error == nil }

    /// The event of this exchange when its process has ended before it was over.
    package var interrupted: SyncEvent {
        var event = SyncEvent(
            kind, database, zone, start: start, end: nil, records: records,
            error: Self.interruption, record: record)
        (event.id, event.begun) = (id, begun)
        return event
    }

    package static let interruption = "The program ended before this was over."

    /// The time that filters compare: the end, or the beginning while there is none.
    package var time: Timestamp { end ?? start }
}
