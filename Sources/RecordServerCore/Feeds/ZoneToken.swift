package import RecordModel
package import RecordWire

/// A place in the feed of one zone as one viewer sees it: the `syncToken` of changes/zone,
/// records/changes and zones/list (Protocol, "Feeds and sync tokens").
///
/// It is sealed, so that nobody can make one. It is bound to the incarnation of the zone and, in a
/// shared database, to that of the view, so that it expires when either of them is renewed.
package struct ZoneToken: Hashable, Sendable {
    private static let version: UInt8 = 1
    /// The incarnation of a default zone before its first write. There is nothing in it to drop.
    private static let unwritten: UInt64 = 0
    private static let pagedFlag: UInt8 = 1

    package let incarnation: UInt64
    /// The incarnation of the view, or 0 for the caller's own zone.
    package let view: UInt64
    /// The position up to which the client has all changes.
    package let position: Int64
    /// The zone's position when a fetch from the beginning began. Its pages stay valid although
    /// older tombstones are removed, because it started after those records were deleted.
    package let start: Int64
    /// Indicates whether the first page of this fetch was in reverse. Then the next one goes
    /// forward.
    package let hasReversedPage: Bool

    package init(
        access: ZoneAccess, position: Int64, start: Int64 = 0, hasReversedPage: Bool = false
    ) {
        incarnation = access.zone.incarnation
        view = access.viewIncarnation
        self.position = position
        self.start = start
        self.hasReversedPage = hasReversedPage
    }

    /// Returns the token of a client that has received nothing.
    package static func beginning(of access: ZoneAccess) -> ZoneToken {
        ZoneToken(access: access, position: 0, start: access.zone.position)
    }

    /// Returns the token of a client that has received nothing now, but may have seen the server
    /// before it was restored. The client also receives the deletions after a position, as far as
    /// they are known.
    static func beginning(of access: ZoneAccess, deletionsBehind position: Int64) -> ZoneToken {
        let known = max(position, access.zone.horizon)
        return ZoneToken(access: access, position: 0, start: min(known, access.zone.position))
    }

    /// Returns the token of the newest place in the feed.
    package static func current(_ access: ZoneAccess) -> ZoneToken {
        ZoneToken(access: access, position: access.zone.position)
    }

    package func sealed(_ seal: Seal) -> Text {
        var payload = TokenWriter()
        payload.byte(Self.version)
        payload.byte(hasReversedPage ? Self.pagedFlag : 0)
        payload.fixed64(incarnation)
        payload.fixed64(view)
        payload.count(position)
        payload.count(start)
        return seal.seal(payload.bytes, for: .zoneToken)
    }

    /// Opens the token of a request, or makes one for the beginning when the request has none.
    ///
    /// Errors: CHANGE_TOKEN_EXPIRED when the token belongs to another zone, server, time or view,
    /// or is older than the tombstones that are kept.
    package static func open(
        _ text: Text?, access: ZoneAccess, seal: Seal
    ) throws(ServerError) -> ZoneToken {
        guard let text else { return .beginning(of: access) }
        guard let payload = seal.open(text, for: .zoneToken),
            let token = ZoneToken(payload: payload, access: access),
            token.position >= 0, token.position <= access.zone.position,
            max(token.position, token.start) >= access.zone.horizon
        else {
            throw ServerError(
                .changeTokenExpired,
                "syncToken: it belongs to another state of this zone, or is too old. Drop the cached "
                    + "zone and fetch without a token.")
        }
        return token
    }

    private init?(payload: [UInt8], access: ZoneAccess) {
        var reader = TokenReader(payload)
        guard reader.byte() == Self.version, let flags = reader.byte(),
            let incarnation = reader.fixed64(), let view = reader.fixed64(),
            let position = reader.count(), let start = reader.count(), reader.isAtEnd
        else { return nil }
        if incarnation == Self.unwritten, access.zone.key.isDefaultZone {
            self = .beginning(of: access)
            return
        }
        guard incarnation == access.zone.incarnation, view == access.viewIncarnation else {
            return nil
        }
        self.init(
            access: access, position: position, start: start,
            hasReversedPage: flags & Self.pagedFlag != 0)
    }
}

extension ZoneAccess {
    /// The random incarnation of the view, renewed whenever the set of accepted shares changes. It
    /// is 0 for the caller's own zone.
    package var viewIncarnation: UInt64 {
        guard case .participant(let row, _) = view else { return 0 }
        return row.incarnation
    }
}
