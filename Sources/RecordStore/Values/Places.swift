package import RecordModel

/// A zone: a directory of a database.
package struct ZoneInfo: Hashable, Sendable {
    /// The raw value is stored; never renumber.
    package enum Permission: Int64, Sendable {
        case readWrite = 0
        case readOnly = 1
        /// Others share several of its records, each with what hangs on it, and not all of them for
        /// writing: `RecordStore.permission(of:in:)` tells of each record.
        case mixed = 2
    }

    package let id: ZoneID
    package let database: Database
    /// Empty but under `shared/`.
    package let owner: OwnerName
    package let name: ZoneName
    package let permission: Permission
    /// How directory names and fields map to record types (architecture §7).
    package let mapping: ZoneMapping
    package let created: Timestamp
    /// When a record type last came or went: the directory's mtime.
    package let modified: Timestamp
    /// When the directory last changed on this machine in any way.
    package let statusChanged: Timestamp
    /// When this machine's user last got other permissions in it; before all times when never.
    package let modeChanged: Timestamp
}

/// A record type in one zone: a TYPE directory.
package struct TypeInfo: Hashable, Sendable {
    package let id: TypeID
    package let zone: ZoneID
    package let name: RecordTypeName
    package let created: Timestamp
    /// When an entry last came or went: the directory's mtime.
    package let modified: Timestamp
    /// When the directory last changed on this machine in any way.
    package let statusChanged: Timestamp
}
