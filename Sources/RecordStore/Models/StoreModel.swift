package import RecordModel
import RecordObjects
import RecordSQL
import Synchronization

extension StoreModel {
    /// The model that is attached. Nil without one.
    package var attached: AttachedModel? { store.attachedModel.withLock { $0 } }

    /// Returns the type that the records of a type have on the server.
    package func serverType(of type: RecordTypeName) -> RecordTypeName {
        attached?.mapping.serverType(of: type) ?? type
    }

    /// Returns the type here of a record that the server has.
    ///
    /// - Parameter entity: the value of the record's `CD_entityName`.
    /// - Returns: nil for a record of a type that has the name of an entity, and so cannot be shown.
    package func type(
        of serverType: RecordTypeName, entity: FieldValue?
    ) -> RecordTypeName? {
        guard let mapping = attached?.mapping else { return serverType }
        guard mapping.members(of: serverType) == nil else { return nil }
        return mapping.type(of: serverType, entity: entity)
    }

    /// The field of the server's records that names their entity.
    package static var entityField: FieldName { ObjectMapping.entityField }

    /// Links objects that have arrived from elsewhere, and that relationships have been waiting for.
    package func endWaitingLinks() throws(RecordError) {
        guard attached != nil else { return }
        let due = try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT DISTINCT l.zone_id, l.member
                FROM object_link l JOIN record r ON r.zone_id = l.zone_id AND r.name = l.member
                WHERE l.holder = 0 AND r.state = 0 LIMIT 100
                """
            ) { (zone: ZoneID($0.int64(0)), name: RecordName(bytes: $0.bytes(1))) }
        }
        guard !due.isEmpty else { return }
        try store.write(author: .mount) { transaction throws(RecordError) in
            for object in due {
                try transaction.links.endWaiting(for: object.name, in: object.zone)
            }
        }
    }

    /// Reads the attached model, when the store is opened.
    func load() throws(RecordError) {
        let model = try store.read { connection throws(RecordError) in
            try connection.first(
                "SELECT text, checksum, configuration, attached FROM object_model"
            ) { row throws(RecordError) in
                try AttachedModel(
                    try JSONModelReader.read(try row.text(0, of: { "the attached model" })),
                    configuration: row.isNull(2) ? nil : row.string(2), attached: row.time(3))
            }
        }
        store.attachedModel.withLock { $0 = model }
    }
}
