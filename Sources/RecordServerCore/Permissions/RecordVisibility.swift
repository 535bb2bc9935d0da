import RecordModel
package import RecordWire

/// The view of a caller in one zone, together with the grants of the public database.
package struct RecordVisibility: Sendable {
    package let access: ZoneAccess
    let rights: ZoneRights
    private let sight: Sight

    package init(
        _ access: ZoneAccess, _ context: OperationContext, _ reader: any StorageReader
    ) throws(ServerError) {
        self.access = access
        rights = ZoneRights(view: access.view, grants: try Grants(access, context, reader))
        sight = rights.sight
    }

    package func shows(_ record: StoredRecord) -> Bool {
        !record.isDeleted && sight.shows(RecordFacts(record))
    }

    /// Decides whether the caller may do something with the records of the zone.
    func decide(_ action: RecordAction) -> Decision {
        Permissions.decide(.records(action, rights))
    }

    /// Returns the record. Returns nil when it does not exist for this caller.
    func record(
        _ name: RecordName, _ reader: any StorageReader
    ) throws(ServerError) -> StoredRecord? {
        guard let stored = try reader.records(access.zone.handle, [name])[name], shows(stored)
        else { return nil }
        return stored
    }

    /// Decides about bytes for a field of a record, or of a new record of the type when the caller
    /// sees none of this name.
    func decideUpload(
        to name: RecordName, type: RecordTypeName, _ reader: any StorageReader
    ) throws(ServerError) -> Decision {
        decide(.upload(to: try record(name, reader).map { RecordFacts($0) }, type))
    }
}

extension Grants {
    /// Reads the grants to the caller in a zone.
    init(
        _ access: ZoneAccess, _ context: OperationContext, _ reader: any StorageReader
    ) throws(ServerError) {
        guard access.zone.key.database.isPublic else {
            self.init(schema: nil, roles: [], user: access.user?.name)
            return
        }
        self.init(
            schema: try ContainerSchema.current(context.container, reader),
            roles: try ContainerSchema.roles(of: context.caller, in: context.container, reader),
            user: access.user?.name)
    }
}
