package import RecordModel

/// A zone: a directory of a database.
package struct ZoneInfo: Hashable, Sendable {
    /// The raw value is stored; never renumber.
    package enum Permission: Int64, Sendable {
        case readWrite = 0
        case readOnly = 1
        /// Others share several of its records, each with its children, and not all of them for
        /// writing. `RecordStore.permission(of:in:)` returns the permission of each record.
        case mixed = 2
    }

    package let id: ZoneID
    package let database: Database
    /// The owner. Empty except under `shared/`.
    package let owner: OwnerName
    package let name: ZoneName
    package let permission: Permission
    /// The way in which directory names and fields map to record types (Architecture, "Room to
    /// leave").
    package let mapping: ZoneMapping
    package let created: Timestamp
    /// The time at which a record type was last added or removed: the directory's mtime.
    package let modified: Timestamp
    /// The time of the last change of any kind to the directory on this machine.
    package let statusChanged: Timestamp
    /// The time at which the permissions of this machine's user in the zone last changed. Before
    /// all other times if they never changed.
    package let modeChanged: Timestamp
}

/// A record type in one zone: a TYPE directory.
package struct TypeInfo: Hashable, Sendable {
    package let id: TypeID
    package let zone: ZoneID
    package let name: RecordTypeName
    package let created: Timestamp
    /// The time at which an entry was last added or removed: the directory's mtime.
    package internal(set) var modified: Timestamp
    /// The time of the last change of any kind to the directory on this machine.
    package internal(set) var statusChanged: Timestamp
}
