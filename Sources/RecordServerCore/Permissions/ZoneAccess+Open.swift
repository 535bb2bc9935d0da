package import RecordModel
package import RecordWire

extension ZoneAccess {
    /// Indicates whether the zone has a row. The default zone exists for readers before its first
    /// write.
    package var exists: Bool { !zone.handle.isNone }

    /// Returns the zone as the caller may see it. A zone that does not exist and one that the
    /// caller may not see give the same error, `zoneNotFound`. Creates nothing.
    package static func open(
        _ id: ZoneIdentifier, _ context: OperationContext, _ reader: any StorageReader
    ) throws(ServerError) -> ZoneAccess {
        let key = try key(id, context)
        var row = try reader.zone(key)
        if row == nil, key.isDefaultZone, context.scope != .shared {
            row = ZoneRow(key: key, handle: .none(in: key.database), incarnation: 0)
        }
        guard let row else { throw notFound(id) }
        return try view(row, id, context, reader)
    }

    /// Returns the zone for a transaction that writes. Keeps other writers of the zone out, and
    /// makes the default zone with this incarnation when it is missing.
    package static func openForWriting(
        _ id: ZoneIdentifier, _ context: OperationContext, incarnation: UInt64,
        _ transaction: any StorageTransaction
    ) throws(ServerError) -> ZoneAccess {
        let key = try key(id, context)
        var row = try transaction.lockZone(key)
        if row == nil, key.isDefaultZone, context.scope != .shared {
            // A caller without a user may only read.
            _ = try context.requireUser()
            row = try transaction.createZone(key, incarnation: incarnation)
        }
        guard let row else { throw notFound(id) }
        return try view(row, id, context, transaction)
    }

    /// Returns the error for a zone that does not exist and for one that the caller may not see.
    package static func notFound(_ id: ZoneIdentifier) -> ServerError {
        ServerError(.zoneNotFound, "There is no such zone in this database for this user.")
    }

    /// Decides about a member of `share`, or about a record that becomes one.
    func place(in share: RecordName?) -> Decision {
        Permissions.decide(.records(.place(in: share), ZoneRights(view: view)))
    }

    /// Refuses to change a member of `share`, or to put a record into it, without READ_WRITE.
    package func requireWrite(for share: RecordName?) throws(ServerError) {
        try place(in: share).require()
    }

    /// Returns the database and zone that an identifier names in the scope of the request.
    private static func key(_ id: ZoneIdentifier, _ context: OperationContext)
        throws(ServerError) -> ZoneKey
    {
        switch context.scope {
        case .public:
            guard id.zone == ZoneIdentifier.defaultZone.zone,
                isCaller(id.owner, context) || id.owner == .everyone
            else { throw notFound(id) }
            return ZoneKey(
                database: DatabaseKey(container: context.container, owner: .everyone),
                zone: id.zone)
        case .private:
            let user = try context.requireUser()
            guard isCaller(id.owner, context) else { throw notFound(id) }
            return ZoneKey(
                database: DatabaseKey(container: context.container, owner: user.name),
                zone: id.zone)
        case .shared:
            _ = try context.requireUser()
            guard let owner = id.owner else {
                throw ServerError(
                    .badRequest,
                    "zoneID.ownerRecordName is missing: the shared database has zones of others.")
            }
            guard !isCaller(owner, context), owner != .everyone else { throw notFound(id) }
            return ZoneKey(
                database: DatabaseKey(container: context.container, owner: owner), zone: id.zone)
        }
    }

    private static func isCaller(_ owner: UserName?, _ context: OperationContext) -> Bool {
        owner == nil || owner == .defaultOwner || owner == context.caller.user?.name
    }

    private static func view(
        _ row: ZoneRow, _ id: ZoneIdentifier, _ context: OperationContext,
        _ reader: any StorageReader
    ) throws(ServerError) -> ZoneAccess {
        let user = context.caller.user
        switch context.scope {
        case .public: return ZoneAccess(zone: row, view: .publicDatabase, user: user)
        case .private: return ZoneAccess(zone: row, view: .owner, user: user)
        case .shared:
            guard let user, var shared = try reader.sharedZone(user.name, row.key) else {
                throw notFound(id)
            }
            var permissions: [RecordName: SharePermission] = [:]
            var roots: Set<RecordName> = []
            for name in shared.shares {
                guard let share = try reader.share(row.key, name) else { continue }
                let permission = share.acceptedPermission(of: user.name)
                guard permission != .none else { continue }
                permissions[name] = permission
                if let root = share.root { roots.insert(root) }
            }
            guard !permissions.isEmpty else { throw notFound(id) }
            shared.shares = shared.shares.filter { permissions[$0] != nil }
            return ZoneAccess(
                zone: row, view: .participant(shared, permissions: permissions), user: user,
                roots: roots)
        }
    }
}

extension ZoneHandle {
    /// Returns the handle of the default zone before its first write. Nothing is stored under it.
    package static func none(in database: DatabaseKey) -> ZoneHandle { ZoneHandle(database, 0) }
    package var isNone: Bool { number == 0 }
}
