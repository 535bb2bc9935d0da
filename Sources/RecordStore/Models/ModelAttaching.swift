package import RecordModel
import RecordObjects
import RecordSQL

extension ModelAttaching {
    /// Attaches a model, in place of the one that is attached.
    ///
    /// Errors: `alreadyExists` when records of another kind are in a type with the name of an
    /// entity; `schemaMismatch` when a record has a value that its attribute cannot have.
    package func attach(_ model: AttachedModel) throws(RecordError) {
        try checkNames(of: model)
        try regroup(to: model)
        try store(model)
    }

    /// Detaches the model. The records show as the server has them.
    ///
    /// Errors: `notFound` without a model.
    package func detach() throws(RecordError) {
        guard transaction.model != nil else {
            throw RecordError(.notFound, "no model is attached to this store.")
        }
        try regroup(to: nil)
        try transaction.connection.run("DELETE FROM object_model")
    }

    private func store(_ model: AttachedModel) throws(RecordError) {
        let text = JSONModelWriter.print(model.mapping.model)
        try transaction.connection.run(
            """
            INSERT OR REPLACE INTO object_model
                (id, text, configuration, attached, checksum, largest_version)
            VALUES (1, ?, ?, ?, ?, ?)
            """,
            [
                .blob(text), .optional(model.configuration), .time(model.attached),
                .checksum(text), .optional(model.mapping.largestVersion),
            ])
    }

    private func checkNames(of model: AttachedModel) throws(RecordError) {
        let known = Set(transaction.model?.mapping.types ?? [])
        for type in model.mapping.types where !known.contains(type) {
            let place = try transaction.connection.first(
                """
                SELECT z.name FROM record_type t JOIN zone z ON z.id = t.zone_id
                WHERE t.name = ? AND EXISTS (SELECT 1 FROM record WHERE type_id = t.id)
                """, [.name(type)]
            ) { ZoneName(bytes: $0.bytes(0)) }
            guard let place else { continue }
            throw RecordError(
                .alreadyExists,
                "zone \(place) has records of a type \(type), which are no objects of the entity "
                    + "\(type); move them to a type with another name first.")
        }
    }

    /// Gives all records the types and texts that they have under another model.
    private func regroup(to model: AttachedModel?) throws(RecordError) {
        let regrouping = try Regrouping(transaction, to: model)
        try regrouping.run()
        transaction.model = model
        transaction.modelChanged = true
        transaction.placesChanged = true
        for (type, schema) in regrouping.schemas { try transaction.put(schema, of: type) }
        try transaction.links.rebuild()
        try transaction.retryPassedOver()
    }
}
