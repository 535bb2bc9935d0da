package import RecordModel

/// The record name of a user, `_` and 32 hexadecimal digits: the owner of a private database.
package struct UserName: ByteName {
    package let bytes: [UInt8]
    package init(bytes: [UInt8]) { self.bytes = bytes }
    /// The name that requests use for the caller.
    package static let defaultOwner = UserName("__defaultOwner__")
}

/// `public`, `private` or `shared`: the third part of a database's path.
package enum DatabaseScope: String, CaseIterable, Sendable {
    case `public`, `private`, shared
}

/// `development` or `production`.
package enum ServerEnvironment: String, CaseIterable, Sendable {
    case development, production
}

/// The zoneID dictionary (CloudKit Web Services Reference, Types and Dictionaries).
package struct ZoneIdentifier: Hashable, Sendable {
    package var zone: ZoneName
    /// The owner. Nil means the caller, like `UserName.defaultOwner`.
    package var owner: UserName?

    package init(zone: ZoneName, owner: UserName? = nil) {
        self.zone = zone
        self.owner = owner
    }
    package static let defaultZone = ZoneIdentifier(zone: ZoneName("_defaultZone"))
}
