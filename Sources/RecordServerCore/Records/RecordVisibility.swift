package import RecordModel
package import RecordWire

/// The records of a zone that a caller may know of: those of the caller's own zone, those of
/// accepted shares, or in the public database those that the schema lets the caller's roles read.
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

    /// Returns whether the grants of the public database give the permission. Returns true in other
    /// databases.
    package func allows(_ permission: SchemaPermission, _ record: StoredRecord) -> Bool {
        guard let schema else { return true }
        return schema.allows(
            permission, type: record.type, roles: roles,
            isCreator: record.created.user == access.user?.name)
    }

    /// Returns whether a record of this type may be made here.
    package func allowsCreation(of type: RecordTypeName) -> Bool {
        guard let schema else { return true }
        return schema.allows(.create, type: type, roles: roles, isCreator: false)
    }
}
