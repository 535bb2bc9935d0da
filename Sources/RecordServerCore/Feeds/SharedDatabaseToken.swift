package import RecordModel
package import RecordWire

/// The state of the shared database's zones that a viewer has received: the `syncToken` of
/// changes/database and zones/changes there.
///
/// It holds a vector with one entry for each zone, because the zones that are shared with a viewer
/// are in databases of others, whose feeds are independent.
package struct SharedDatabaseToken: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        /// A hash of the incarnations of the zone and of the viewer's view of it.
        package let incarnation: UInt32
        package let position: Int64
    }

    private static let version: UInt8 = 1
    /// The entries, by `key(of:)`.
    package private(set) var entries: [UInt64: Entry] = [:]

    package init() {}

    /// Returns the key of the zone that an entry is about.
    package static func key(of zone: ZoneKey) -> UInt64 {
        DatabaseToken.prefix(zone.database.owner.bytes + [0] + zone.zone.bytes)
    }

    /// Returns the entry of a zone whose changes the client has completely.
    package static func entry(of access: ZoneAccess) -> Entry {
        var identity = TokenWriter()
        identity.fixed64(access.zone.incarnation)
        identity.fixed64(access.viewIncarnation)
        return Entry(
            incarnation: UInt32(truncatingIfNeeded: DatabaseToken.prefix(identity.bytes)),
            position: access.zone.position)
    }

    package mutating func note(_ access: ZoneAccess) {
        entries[Self.key(of: access.zone.key)] = Self.entry(of: access)
    }

    package mutating func forget(_ key: UInt64) { entries[key] = nil }

    package func sealed(_ seal: Seal, database: DatabaseKey) -> Text {
        var payload = TokenWriter()
        payload.byte(Self.version)
        payload.fixed64(DatabaseToken.identity(of: database))
        payload.count(Int64(entries.count))
        for (key, entry) in entries.sorted(by: { $0.key < $1.key }) {
            payload.fixed64(key)
            payload.fixed32(entry.incarnation)
            payload.count(entry.position)
        }
        return seal.seal(payload.bytes, for: .databaseToken)
    }

    /// Opens the token of a request, or makes an empty one when the request has none. `database` is
    /// the caller's, with a name that no zone has.
    ///
    /// Errors: CHANGE_TOKEN_EXPIRED when the token belongs to another database or server.
    package static func open(
        _ text: Text?, database: DatabaseKey, seal: Seal
    ) throws(ServerError) -> SharedDatabaseToken {
        guard let text else { return SharedDatabaseToken() }
        guard let payload = seal.open(text, for: .databaseToken),
            let token = SharedDatabaseToken(payload: payload, database: database)
        else { throw DatabaseToken.expired }
        return token
    }

    private init?(payload: [UInt8], database: DatabaseKey) {
        var reader = TokenReader(payload)
        guard reader.byte() == Self.version,
            reader.fixed64() == DatabaseToken.identity(of: database),
            let count = reader.count(), count >= 0
        else { return nil }
        for _ in 0..<count {
            guard let key = reader.fixed64(), let incarnation = reader.fixed32(),
                let position = reader.count()
            else { return nil }
            entries[key] = Entry(incarnation: incarnation, position: position)
        }
        guard reader.isAtEnd else { return nil }
    }
}
