package import RecordModel
package import RecordWire

/// What a grant of the public database allows (reference §15.3).
package enum SchemaPermission: String, CaseIterable, Sendable {
    case read = "READ"
    case create = "CREATE"
    case write = "WRITE"
}

/// The schema of a container in one environment: types, fields, indexes, roles and grants.
package struct ContainerSchema: Hashable, Sendable {
    package let container: ContainerKey
    /// Of the stored schema, or of the one that `save` would store.
    package let version: Int64

    /// The schema as the transaction of `reader` sees it. Parsed once for each version.
    package static func current(
        _ container: ContainerKey, _ reader: any StorageReader
    ) throws(ServerError) -> ContainerSchema {
        ContainerSchema(container: container, version: 0)
    }

    /// The fields with the types of the schema, and the schema that has them all when this one
    /// had to grow (development only): the caller goes on with it, and saves it at the end.
    ///
    /// Errors: BAD_REQUEST that names the field.
    package func resolve(
        type: RecordTypeName, fields: [WireField], environment: ServerEnvironment,
        settings: ServiceSettings
    ) throws(ServerError) -> (fields: [WireField], grown: ContainerSchema?) {
        (fields, nil)
    }

    /// Stores the schema under its version.
    package func save(_ transaction: any StorageTransaction) throws(ServerError) {}

    /// All index entries of a record with these (decoded) fields, its system fields included.
    /// To be stored with every `put` of a record that is not deleted.
    package func indexEntries(_ record: StoredRecord, fields: [WireField]) -> [IndexEntry] { [] }

    /// Whether a caller with these roles may do this to records of the type in the public
    /// database. `isCreator` is whether the caller made the record (never for `create`).
    package func allows(
        _ permission: SchemaPermission, type: RecordTypeName, roles: Set<String>, isCreator: Bool
    ) -> Bool { false }

    /// The roles of a caller but `_creator`: `_world` always, `_icloud` with a user, and those
    /// given to the user in this container.
    package static func roles(
        of caller: Caller, in container: ContainerKey, _ reader: any StorageReader
    ) throws(ServerError) -> Set<String> { [] }
}
