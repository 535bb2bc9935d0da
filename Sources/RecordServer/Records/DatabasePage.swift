import RecordModel
import RecordWire

/// One page of the feed of a database: the zones that changed, came or went since a token.
struct DatabasePage: Sendable {
    private(set) var zones: [ZoneAnswer] = []
    private(set) var token: Text = ""
    private(set) var moreComing = false

    init(
        _ request: DatabaseChangesRequest, _ extensions: FeedExtensions,
        _ context: OperationContext, _ seal: Seal, _ reader: any StorageReader
    ) throws(ServerError) {
        let database = try Self.identity(context)
        var told = try DatabaseToken.open(request.syncToken, database: database, seal: seal)
        let present = try ZoneList.stored(context, reader)
        try addGone(&told, present, request, extensions, context, reader)
        try addChanged(&told, present, request, context, reader)
        token = told.sealed(seal, database: database)
    }

    /// Tells the shared database of a user from the private one.
    private static func identity(_ context: OperationContext) throws(ServerError) -> DatabaseKey {
        let user = try context.requireUser().name
        let owner =
            context.scope == .shared
            ? UserName(bytes: user.bytes + Array("/shared".utf8)) : user
        return DatabaseKey(container: context.container, owner: owner)
    }

    /// Zones that the viewer was told of and that are gone.
    ///
    /// - Throws: changeTokenExpired when one of them has no tombstone any more: nobody knows its
    ///   name.
    private mutating func addGone(
        _ told: inout DatabaseToken, _ present: [ZoneAccess], _ request: DatabaseChangesRequest,
        _ extensions: FeedExtensions, _ context: OperationContext, _ reader: any StorageReader
    ) throws(ServerError) {
        let here = Set(present.map { DatabaseToken.key(of: $0.zone.key) })
        let missing = Set(told.entries.keys).subtracting(here)
        guard !missing.isEmpty else { return }
        var named: Set<UInt64> = []
        for tombstone in try ZoneList.gone(context, reader) {
            let key = DatabaseToken.key(of: tombstone.key)
            guard missing.contains(key) else { continue }
            named.insert(key)
            guard zones.count < request.resultsLimit else {
                moreComing = true
                continue
            }
            told.forget(key)
            zones.append(
                ZoneAnswer(
                    ZoneIdentifier(zone: tombstone.key.zone, owner: tombstone.key.database.owner),
                    isDeleted: true,
                    deletionReason: extensions.wantsDeletionReason
                        ? tombstone.reason.rawValue : nil,
                    dialect: context.dialect))
        }
        guard named == missing else {
            throw ServerError(
                .changeTokenExpired,
                "syncToken: a zone that it tells of was deleted too long ago. Fetch all zones "
                    + "without a token, and drop those that are not there.")
        }
    }

    private mutating func addChanged(
        _ told: inout DatabaseToken, _ present: [ZoneAccess], _ request: DatabaseChangesRequest,
        _ context: OperationContext, _ reader: any StorageReader
    ) throws(ServerError) {
        for access in present {
            let entry = told.entries[DatabaseToken.key(of: access.zone.key)]
            guard entry != DatabaseToken.entry(of: access) else { continue }
            guard try isVisible(access, since: entry, reader) else {
                told.note(access)
                continue
            }
            guard zones.count < request.resultsLimit else {
                moreComing = true
                return
            }
            told.note(access)
            zones.append(ZoneAnswer(access.identifier, dialect: context.dialect))
        }
    }

    /// What the owner does outside of what is shared is nobody else's business.
    private func isVisible(
        _ access: ZoneAccess, since entry: DatabaseToken.Entry?, _ reader: any StorageReader
    ) throws(ServerError) -> Bool {
        guard let shares = access.visibleShares, let entry,
            entry.incarnation == DatabaseToken.entry(of: access).incarnation
        else { return true }
        return try !reader.changes(
            access.zone.handle, after: entry.position, shares: shares, descending: false, limit: 1
        ).isEmpty
    }
}
