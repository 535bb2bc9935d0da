import RecordModel
import RecordWire

/// One page of the feed of a database: the zones that changed, were made or were removed since a
/// token.
package struct DatabasePage: Sendable {
    private(set) var zones: [ZoneAnswer] = []
    private(set) var token: Text = ""
    private(set) var moreComing = false
    /// The quotas, on the last page and for a client that asks.
    private(set) var quotas: [QuotaAnswer]?
    /// The invitations, on the same condition; in the shared database only.
    private(set) var invitations: [InvitationAnswer]?
    /// The marker of the next page of invitations. It is nil when there is none.
    private(set) var invitationsMarker: Text?

    init(
        _ request: DatabaseChangesRequest, _ extensions: FeedExtensions,
        _ context: OperationContext, _ settings: ServiceSettings, _ seal: Seal,
        _ reader: any StorageReader
    ) throws(ServerError) {
        let user = try context.requireUser()
        if context.scope == .shared {
            let present = try ZoneList.stored(context, reader)
            try readShared(user.name, present, request, extensions, context, seal, reader)
            guard !moreComing else { return }
            if extensions.wantsQuota {
                quotas = try Self.quotas(ofShared: present, settings, reader)
            }
            if extensions.wantsInvitations {
                (invitations, invitationsMarker) = try Self.invitations(
                    of: user, from: extensions.invitationsOffset(), context, reader)
            }
        } else {
            let database = DatabaseKey(container: context.container, owner: user.name)
            try read(database, request, extensions, context, seal, reader)
            guard extensions.wantsQuota, !moreComing else { return }
            quotas = try [Self.quota(of: user.name, settings, reader)].compactMap(\.self)
        }
    }

    /// Reads the next zones of the feed. The cost does not depend on the number of zones.
    private mutating func read(
        _ database: DatabaseKey, _ request: DatabaseChangesRequest, _ extensions: FeedExtensions,
        _ context: OperationContext, _ seal: Seal, _ reader: any StorageReader
    ) throws(ServerError) {
        let feed = try reader.zoneFeed(database) ?? ZoneFeed(position: 0, horizon: 0)
        let told = try DatabaseToken.open(
            request.syncToken, database: database, feed: feed, seal: seal)
        let limit = request.resultsLimit
        let changes = try reader.zoneChanges(
            database, after: told.position, start: told.start, limit: limit + 1)
        moreComing = changes.count > limit
        let page = changes.prefix(limit)
        zones = page.map { Self.answer($0.key, $0.deletion, extensions, context) }
        let next = DatabaseToken(
            position: moreComing ? page.last?.position ?? told.position : feed.position,
            start: told.start)
        token = next.sealed(seal, database: database)
    }

    /// Returns the answer for a zone, or its tombstone.
    private static func answer(
        _ key: ZoneKey, _ deletion: DeletionReason?, _ extensions: FeedExtensions,
        _ context: OperationContext
    ) -> ZoneAnswer {
        let id = ZoneIdentifier(zone: key.zone, owner: key.database.owner)
        guard let deletion else { return ZoneAnswer(id, dialect: context.dialect) }
        return ZoneAnswer(
            id, isDeleted: true,
            deletionReason: extensions.wantsDeletionReason ? deletion.rawValue : nil,
            dialect: context.dialect)
    }

    /// Compares each zone that is shared with the viewer with its entry in the token.
    private mutating func readShared(
        _ user: UserName, _ present: [ZoneAccess], _ request: DatabaseChangesRequest,
        _ extensions: FeedExtensions, _ context: OperationContext, _ seal: Seal,
        _ reader: any StorageReader
    ) throws(ServerError) {
        // The key of a database that no user has, because names of users have no slash.
        let database = DatabaseKey(
            container: context.container,
            owner: UserName(bytes: user.bytes + Array("/shared".utf8)))
        var told = try SharedDatabaseToken.open(
            request.syncToken, database: database, seal: seal)
        try addGone(&told, present, request, extensions, context, reader)
        try addChanged(&told, present, request, extensions, context, reader)
        token = told.sealed(seal, database: database)
    }

    /// Adds the zones that the viewer knows and that are gone.
    ///
    /// - Throws: changeTokenExpired when one of them has no tombstone any more, because its name is
    ///   then unknown.
    private mutating func addGone(
        _ told: inout SharedDatabaseToken, _ present: [ZoneAccess],
        _ request: DatabaseChangesRequest, _ extensions: FeedExtensions,
        _ context: OperationContext, _ reader: any StorageReader
    ) throws(ServerError) {
        let here = Set(present.map { SharedDatabaseToken.key(of: $0.zone.key) })
        let missing = Set(told.entries.keys).subtracting(here)
        guard !missing.isEmpty else { return }
        var named: Set<UInt64> = []
        for tombstone in try reader.sharedZoneTombstones(
            try context.requireUser().name, context.container)
        {
            let key = SharedDatabaseToken.key(of: tombstone.key)
            guard missing.contains(key) else { continue }
            named.insert(key)
            guard zones.count < request.resultsLimit else {
                moreComing = true
                continue
            }
            told.forget(key)
            zones.append(Self.answer(tombstone.key, tombstone.reason, extensions, context))
        }
        guard named == missing else {
            throw ServerError(
                .changeTokenExpired,
                "syncToken: a zone in it was deleted too long ago. Fetch all zones "
                    + "without a token, and drop those that are not there.")
        }
    }

    private mutating func addChanged(
        _ told: inout SharedDatabaseToken, _ present: [ZoneAccess],
        _ request: DatabaseChangesRequest, _ extensions: FeedExtensions,
        _ context: OperationContext, _ reader: any StorageReader
    ) throws(ServerError) {
        for access in present {
            let entry = told.entries[SharedDatabaseToken.key(of: access.zone.key)]
            guard entry != SharedDatabaseToken.entry(of: access) else { continue }
            guard try isVisible(access, since: entry, reader) else {
                told.note(access)
                continue
            }
            guard zones.count < request.resultsLimit else {
                moreComing = true
                return
            }
            told.note(access)
            let owner =
                extensions.wantsOwnerIdentity ? try Self.ownerIdentity(access, reader) : nil
            zones.append(
                ZoneAnswer(access.identifier, ownerIdentity: owner, dialect: context.dialect))
        }
    }

    /// Returns the identity of the owner. An invited viewer learns the address of the owner; a
    /// viewer who came by a public link learns the name only.
    private static func ownerIdentity(
        _ access: ZoneAccess, _ reader: any StorageReader
    ) throws(ServerError) -> JSONValue? {
        guard case .participant(let row, _) = access.view else { return nil }
        return try UserIdentity(
            owner: row.zone.database.owner, showsAddress: try isInvited(row, reader), reader
        ).json
    }

    /// Returns whether somebody has let the viewer in by name, and not only by a link for
    /// everybody.
    static func isInvited(
        _ row: SharedZoneRow, _ reader: any StorageReader
    ) throws(ServerError) -> Bool {
        for name in row.shares {
            let isNamed = try reader.share(row.zone, name)?.participants.contains {
                $0.user == row.viewer && $0.type != .publicUser
            }
            if isNamed == true { return true }
        }
        return false
    }

    /// Returns whether the viewer may learn of the change. The owner's changes outside of the
    /// shares stay private.
    private func isVisible(
        _ access: ZoneAccess, since entry: SharedDatabaseToken.Entry?, _ reader: any StorageReader
    ) throws(ServerError) -> Bool {
        guard let shares = access.visibleShares, let entry,
            entry.incarnation == SharedDatabaseToken.entry(of: access).incarnation
        else { return true }
        return try !reader.changes(
            access.zone.handle, after: entry.position, shares: shares, descending: false, limit: 1
        ).isEmpty
    }
}
