package import RecordModel
package import RecordObjects
import RecordSQL
import Synchronization

/// The model that is attached to a store, whose records are its objects.
///
/// A store has one model, as a container of CloudKit has one: zones that others share hold objects
/// of the same app.
package struct AttachedModel: Sendable {
    package let mapping: ObjectMapping
    /// The configuration whose entities the store has. Nil for all.
    package let configuration: String?
    /// The time at which it was attached.
    package let attached: Timestamp

    package init(
        _ model: ObjectModel, configuration: String? = nil, attached: Timestamp
    ) throws(RecordError) {
        var chosen: Configuration?
        if let configuration {
            chosen = model.configurations.first { $0.name == configuration }
            guard chosen != nil else {
                throw RecordError(
                    .notFound, "the model has no configuration \"\(configuration)\".")
            }
        }
        mapping = ObjectMapping(model, configuration: chosen)
        self.configuration = configuration
        self.attached = attached
    }
}

extension AttachedModel {
    /// Returns the members of a type's texts. Nil for a type that is no entity.
    func members(of type: RecordTypeName) -> MemberMapping? { mapping.members(of: type) }
}

extension RecordStore {
    /// The model that is attached. Nil without one.
    package var model: AttachedModel? { attachedModel.withLock { $0 } }

    /// Returns the type that the records of a type have on the server.
    package func serverType(of type: RecordTypeName) -> RecordTypeName {
        model?.mapping.serverType(of: type) ?? type
    }

    /// Returns the type here of a record that the server has.
    ///
    /// - Parameter entity: the value of the record's `CD_entityName`.
    /// - Returns: nil for a record of a type that has the name of an entity, and so cannot be shown.
    package func type(
        of serverType: RecordTypeName, entity: FieldValue?
    ) -> RecordTypeName? {
        guard let mapping = model?.mapping else { return serverType }
        guard mapping.members(of: serverType) == nil else { return nil }
        return mapping.type(of: serverType, entity: entity)
    }

    /// The field of the server's records that names their entity.
    package static var entityField: FieldName { ObjectMapping.entityField }

    /// Reads the attached model, when the store is opened.
    func loadModel() throws(RecordError) {
        let model = try read { connection throws(RecordError) in
            try connection.first(
                "SELECT text, checksum, configuration, attached FROM object_model"
            ) { row throws(RecordError) in
                try AttachedModel(
                    try JSONModelReader.read(try row.text(0, of: { "the attached model" })),
                    configuration: row.isNull(2) ? nil : row.string(2), attached: row.time(3))
            }
        }
        attachedModel.withLock { $0 = model }
    }
}

extension AttachedModel {
    func store(in connection: SQLConnection) throws(RecordError) {
        let text = JSONModelWriter.print(mapping.model)
        try connection.run(
            """
            INSERT OR REPLACE INTO object_model (id, text, configuration, attached, checksum)
            VALUES (1, ?, ?, ?, ?)
            """,
            [.blob(text), .optional(configuration), .time(attached), .checksum(text)])
    }
}
