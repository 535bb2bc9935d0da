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
    /// - Parameter entity: what the record says of its entity and its version.
    /// - Returns: nil for a record of a type that has the name of an entity, and so cannot be shown.
    package func type(
        of serverType: RecordTypeName, entity: ObjectMark
    ) -> RecordTypeName? {
        guard let mapping = attached?.mapping else { return serverType }
        guard mapping.members(of: serverType) == nil else { return nil }
        return mapping.type(
            of: serverType, entity: entity.entity, version: entity.version)
    }

    /// The field of the server's records that names their entity.
    package static var entityField: FieldName { ObjectMapping.entityField }

    /// The field of the server's records that tells the version of the app.
    package static var versionField: FieldName { ObjectMapping.versionField }

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
                "SELECT text, checksum, configuration, attached, largest_version FROM object_model"
            ) { row throws(RecordError) in
                try AttachedModel(
                    try JSONModelReader.read(try row.text(0, of: { "the attached model" })),
                    configuration: row.isNull(2) ? nil : row.string(2),
                    largestVersion: row.isNull(4) ? nil : row.int64(4), attached: row.time(3))
            }
        }
        store.attachedModel.withLock { $0 = model }
    }
}

/// The values of a record by which a model gives it its place.
package struct ObjectMark: Sendable {
    package let entity: FieldValue?
    package let version: FieldValue?

    package init(entity: FieldValue?, version: FieldValue? = nil) {
        self.entity = entity
        self.version = version
    }
}
