package import RecordModel
package import RecordWire

extension ContainerSchema {
    /// Returns whether a caller with these roles has this permission for records of the type in the
    /// public database. `isCreator` tells whether the caller made the record (never for `create`).
    /// The permission to write includes the permission to read. With an unknown type, a caller can
    /// only create a record: in development, the first record gives the type the usual grants.
    package func allows(
        _ permission: SchemaPermission, type: RecordTypeName, roles: Set<String>, isCreator: Bool
    ) -> Bool {
        let grants = self.type(type)?.grants ?? TypeSchema.defaultGrants
        return grants.contains { grant in
            guard roles.contains(grant.role) || (isCreator && grant.role == "_creator") else {
                return false
            }
            return grant.permissions.contains(permission)
                || (permission == .read && grant.permissions.contains(.write))
        }
    }

    /// Returns the roles of a caller except `_creator`: `_world` always, `_icloud` with a user, and
    /// those given to the user in this container.
    package static func roles(
        of caller: Caller, in container: ContainerKey, _ reader: any StorageReader
    ) throws(ServerError) -> Set<String> {
        guard let user = caller.user else { return ["_world"] }
        let given = try reader.roles(container, of: user.name)
        return Set(given).subtracting(["_creator"]).union(["_world", "_icloud"])
    }
}
