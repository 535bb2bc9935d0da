package import RecordModel
package import RecordWire

/// Which records of a zone a caller may know of: one's own, those of accepted shares, or what the
/// schema lets the caller's roles read in the public database.
package struct RecordVisibility: Sendable {
    package let access: ZoneAccess
    private let schema: ContainerSchema?
    private let roles: Set<String>

    package init(
        _ access: ZoneAccess, _ context: OperationContext, _ reader: any StorageReader
    ) throws(ServerError) {
        self.access = access
        if access.zone.key.database.isPublic {
            schema = try ContainerSchema.current(context.container, reader)
            roles = try ContainerSchema.roles(of: context.caller, in: context.container, reader)
        } else {
            schema = nil
            roles = []
        }
    }

    package func shows(_ record: StoredRecord) -> Bool {
        guard !record.isDeleted, access.shows(record) else { return false }
        return allows(.read, record)
    }

    /// What the grants of the public database say; true elsewhere.
    package func allows(_ permission: SchemaPermission, _ record: StoredRecord) -> Bool {
        guard let schema else { return true }
        return schema.allows(
            permission, type: record.type, roles: roles,
            isCreator: record.created.user == access.user?.name)
    }

    /// Whether a record of this type may be made here.
    package func allowsCreation(of type: RecordTypeName) -> Bool {
        guard let schema else { return true }
        return schema.allows(.create, type: type, roles: roles, isCreator: false)
    }
}
