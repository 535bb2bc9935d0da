package import RecordModel
package import RecordWire

/// A container in one of its environments. Two environments share nothing.
package struct ContainerKey: Hashable, Sendable {
    /// The name: `iCloud.` and a reverse domain name, case-sensitive.
    package let container: Text
    package let environment: ServerEnvironment
    package init(container: Text, environment: ServerEnvironment) {
        self.container = container
        self.environment = environment
    }
}

/// The private database of a user, or the public database of the container.
///
/// A shared database has no key: it is a view of other people's private databases.
package struct DatabaseKey: Hashable, Sendable {
    package let container: ContainerKey
    /// The user's record name, or `UserName.everyone` for the public database.
    package let owner: UserName
    package init(container: ContainerKey, owner: UserName) {
        self.container = container
        self.owner = owner
    }
    package var isPublic: Bool { owner == .everyone }
}

extension UserName {
    /// The owner of public databases. No user can have this name.
    package static let everyone = UserName("_public")
}

package struct ZoneKey: Hashable, Sendable {
    package let database: DatabaseKey
    package let zone: ZoneName
    package init(database: DatabaseKey, zone: ZoneName) {
        self.database = database
        self.zone = zone
    }
    package var isDefaultZone: Bool { zone == ZoneIdentifier.defaultZone.zone }
    /// Indicates whether batches are all-or-nothing. They are so only in custom zones (Protocol,
    /// "Records and saves").
    package var isAtomic: Bool { !database.isPublic && !isDefaultZone }
}

/// A zone in a storage, valid for one incarnation of the zone.
///
/// It names the database of the zone. A storage over several machines finds the machine by the
/// database, and the number has to be unique in the database only.
package struct ZoneHandle: Hashable, Sendable {
    package let database: DatabaseKey
    package let number: Int64
    package init(_ database: DatabaseKey, _ number: Int64) {
        self.database = database
        self.number = number
    }
}
