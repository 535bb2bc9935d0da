package import RecordModel
package import RecordWire

/// A place in the feed of a private database: the `syncToken` of changes/database and
/// zones/changes.
package struct DatabaseToken: Hashable, Sendable {
    private static let version: UInt8 = 2

    /// The position up to which the client has all changes.
    package let position: Int64
    /// The end of the feed when a fetch from the beginning began. The client never had the zones
    /// that were gone by then.
    package let start: Int64

    package init(position: Int64, start: Int64) {
        self.position = position
        self.start = start
    }

    package func sealed(_ seal: Seal, database: DatabaseKey) -> Text {
        var payload = TokenWriter()
        payload.byte(Self.version)
        payload.fixed64(Self.identity(of: database))
        payload.count(position)
        payload.count(start)
        return seal.seal(payload.bytes, for: .databaseToken)
    }

    /// Opens the token of a request, or makes one for the beginning when the request has none.
    ///
    /// Errors: CHANGE_TOKEN_EXPIRED when the token belongs to another database or server, or is
    /// older than the tombstones that are kept.
    package static func open(
        _ text: Text?, database: DatabaseKey, feed: ZoneFeed, seal: Seal
    ) throws(ServerError) -> DatabaseToken {
        guard let text else { return DatabaseToken(position: 0, start: feed.position) }
        guard let payload = seal.open(text, for: .databaseToken),
            let token = DatabaseToken(payload: payload, database: database),
            (0...feed.position).contains(token.position)
        else { throw expired }
        guard max(token.position, token.start) >= feed.horizon else {
            throw ServerError(
                .changeTokenExpired,
                "syncToken: zones were deleted after it, too long ago. Fetch all zones without a "
                    + "token, and drop those that are not there.")
        }
        return token
    }

    static let expired = ServerError(
        .changeTokenExpired,
        "syncToken: it is not of this database. Fetch all zones without a token.")

    private init?(payload: [UInt8], database: DatabaseKey) {
        var reader = TokenReader(payload)
        guard reader.byte() == Self.version, reader.fixed64() == Self.identity(of: database),
            let position = reader.count(), let start = reader.count(), reader.isAtEnd
        else { return nil }
        self.init(position: position, start: start)
    }

    static func identity(of database: DatabaseKey) -> UInt64 {
        prefix(
            database.container.container.utf8 + [0]
                + Array(database.container.environment.rawValue.utf8) + [0] + database.owner.bytes)
    }

    /// Returns the first 8 bytes of the SHA-256.
    static func prefix(_ bytes: [UInt8]) -> UInt64 {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
