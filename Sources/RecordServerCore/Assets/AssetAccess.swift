import RecordModel
import RecordWire

/// The rights to upload bytes for a record, and to see those of one.
enum AssetAccess {
    /// Refuses a caller who may neither create the record nor, if it exists, change it.
    ///
    /// - Throws: accessDenied.
    static func requireWrite(
        _ record: RecordName, type: RecordTypeName, _ access: ZoneAccess,
        _ context: OperationContext, _ reader: any StorageReader
    ) throws(ServerError) {
        let stored = try readable(record, access, context, reader)
        switch access.view {
        case .owner: break
        case .participant(_, let permissions):
            if let stored {
                try access.requireWrite(for: stored.share)
            } else {
                guard permissions.values.contains(.readWrite) else {
                    throw ServerError(
                        .accessDenied, "All that is shared here is read-only for this user.")
                }
            }
        case .publicDatabase:
            let isCreator = stored.map { $0.created.user == access.user?.name } ?? false
            guard
                try allows(
                    stored == nil ? .create : .write, stored?.type ?? type,
                    isCreator: isCreator, context, reader)
            else {
                throw ServerError(
                    .accessDenied, "The schema does not let this user write such records.")
            }
        }
    }

    /// Returns the record as the caller may see it. Returns nil when it does not exist for this
    /// caller.
    static func readable(
        _ name: RecordName, _ access: ZoneAccess, _ context: OperationContext,
        _ reader: any StorageReader
    ) throws(ServerError) -> StoredRecord? {
        guard let stored = try record(name, access, reader) else { return nil }
        guard access.zone.key.database.isPublic else { return stored }
        let isCreator =
            access.user != nil && stored.created.user == access.user?.name
        return try allows(.read, stored.type, isCreator: isCreator, context, reader)
            ? stored : nil
    }

    /// Returns the record. Returns nil when it does not exist or is not in this view.
    private static func record(
        _ name: RecordName, _ access: ZoneAccess, _ reader: any StorageReader
    ) throws(ServerError) -> StoredRecord? {
        guard let stored = try reader.records(access.zone.handle, [name])[name],
            !stored.isDeleted, access.shows(stored)
        else { return nil }
        return stored
    }

    private static func allows(
        _ permission: SchemaPermission, _ type: RecordTypeName, isCreator: Bool,
        _ context: OperationContext, _ reader: any StorageReader
    ) throws(ServerError) -> Bool {
        let schema = try ContainerSchema.current(context.container, reader)
        let roles = try ContainerSchema.roles(
            of: context.caller, in: context.container, reader)
        return schema.allows(permission, type: type, roles: roles, isCreator: isCreator)
    }
}

extension OperationContext {
    /// Returns the context of a request whose sealed URL is its only credential. It is the same as
    /// for a call of `user` in the database that has the zone for this user.
    static func bearer(
        _ endpoint: Endpoint, of user: UserRow?, zone: ZoneKey, requestID: Text, now: Timestamp
    ) -> OperationContext {
        let scope: DatabaseScope =
            zone.database.isPublic
            ? .public : zone.database.owner == user?.name ? .private : .shared
        return OperationContext(
            endpoint: endpoint, container: zone.database.container, scope: scope,
            caller: user.map(Caller.user) ?? .anonymous, requestID: requestID, now: now,
            baseURL: "")
    }
}

extension ZoneKey {
    /// The zone in a request.
    var identifier: ZoneIdentifier { ZoneIdentifier(zone: zone, owner: database.owner) }
}
