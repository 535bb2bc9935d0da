package import RecordModel
package import RecordWire

extension ContainerSchema {
    /// Whether a caller with these roles may do this to records of the type in the public
    /// database. `isCreator` is whether the caller made the record (never for `create`). Who may
    /// write a record may read it. Nobody may do anything with an unknown type but create it: in
    /// development its first record brings it the usual grants.
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

    /// The roles of a caller but `_creator`: `_world` always, `_icloud` with a user, and those
    /// given to the user in this container.
    package static func roles(
        of caller: Caller, in container: ContainerKey, _ reader: any StorageReader
    ) throws(ServerError) -> Set<String> {
        guard let user = caller.user else { return ["_world"] }
        let given = try reader.roles(container, of: user.name)
        return Set(given).subtracting(["_creator"]).union(["_world", "_icloud"])
    }
}
