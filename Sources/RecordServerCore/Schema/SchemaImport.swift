import RecordModel
import RecordWire

/// Decides whether a text can become a schema, and stores it as the schema.
struct SchemaImport {
    /// The container in the environment of the request, which may be either of the two.
    let container: ContainerKey
    let settings: ServiceSettings

    private var production: ContainerKey {
        ContainerKey(container: container.container, environment: .production)
    }

    /// Reads a text and makes the checks that need no stored schema.
    ///
    /// Errors: BAD_REQUEST with line and column; LIMIT_EXCEEDED.
    static func read(
        _ text: Text, _ settings: ServiceSettings
    ) throws(ServerError) -> SchemaDocument {
        let document: SchemaDocument
        do throws(RecordError) {
            document = try SchemaDocument(parsing: text.utf8)
        } catch {
            throw ServerError(.badRequest, "schema: \(error)")
        }
        try checkCounts(of: document, settings)
        return document
    }

    private static func checkCounts(
        of document: SchemaDocument, _ settings: ServiceSettings
    ) throws(ServerError) {
        for type in document.types {
            let count = type.fields.clientFieldCount
            guard count <= settings.fieldsPerType else {
                throw ServerError(
                    .limitExceeded,
                    "schema: record type '\(type.name)' has \(count) fields; a type has at most "
                        + "\(settings.fieldsPerType).")
            }
        }
    }

    /// Returns the stored schema with the types, fields and indexes of a document added.
    ///
    /// Errors: BAD_REQUEST that names the fields that have another type; LIMIT_EXCEEDED.
    func adding(
        _ document: SchemaDocument, _ reader: any StorageReader
    ) throws(ServerError) -> SchemaDocument {
        let old = try ContainerSchema.current(container, reader)
        let addition = SchemaAddition(of: document, to: old.document)
        let conflicts = addition.items.compactMap { item -> SchemaChanges.Loss? in
            guard case .conflict(let known) = item.state, let field = item.field else { return nil }
            return SchemaChanges.Loss(
                type: item.type, field: field.name,
                change: "would become \(field.typeText) from \(known)")
        }
        guard conflicts.isEmpty else {
            throw Self.refusal("The schema has other types", conflicts)
        }
        try Self.checkCounts(of: addition.merged, settings)
        return addition.merged
    }

    /// Refuses a document that would lose something: of production's schema, or in stored records
    /// of this environment.
    func check(
        _ document: SchemaDocument, _ reader: any StorageReader
    ) throws(ServerError) -> ContainerSchema {
        let old = try ContainerSchema.current(container, reader)
        let deployed = try ContainerSchema.current(production, reader)
        let lost = SchemaChanges.losses(from: deployed.document, to: document)
        guard lost.isEmpty else {
            throw Self.refusal(
                "The schema of production has parts that this one lacks", lost)
        }
        if container.environment == .development {
            let losses = SchemaChanges.losses(from: old.document, to: document)
            let contradicted = try contradicted(losses, reader)
            guard contradicted.isEmpty else {
                throw Self.refusal("Stored records of development contradict it", contradicted)
            }
        }
        return old
    }

    /// Stores the document and makes the index entries of stored records by it.
    func store(
        _ document: SchemaDocument, over old: ContainerSchema,
        _ transaction: any StorageTransaction
    ) throws(ServerError) {
        let new = old.replaced(by: document)
        try new.save(transaction)
        try new.reindex(SchemaChanges.typesToIndex(from: old, to: new), transaction)
    }

    /// Returns the losses for which a stored record has a value, or has the type. The records of a
    /// type are read once.
    private func contradicted(
        _ losses: [SchemaChanges.Loss], _ reader: any StorageReader
    ) throws(ServerError) -> [SchemaChanges.Loss] {
        let records = ContainerRecords(container: container, reader: reader)
        var used: Set<SchemaChanges.Loss> = []
        for (type, losses) in Dictionary(grouping: losses, by: \.type) {
            var open = losses
            try records.each(of: type, until: { open.isEmpty }) { _, record throws(ServerError) in
                guard !open.isEmpty else { return }
                let fields = try FieldsCodec.decode(record.fields)
                let values = Set(fields.lazy.filter { $0.value != nil }.map(\.name))
                let found = open.filter { loss in loss.field.map(values.contains) ?? true }
                used.formUnion(found)
                open.removeAll { used.contains($0) }
            }
        }
        return losses.filter { used.contains($0) }
    }

    /// Returns the error for these losses. It names only so many of them that the answer stays
    /// short.
    static func refusal(_ what: String, _ losses: [SchemaChanges.Loss]) -> ServerError {
        let shown = losses.prefix(20).map(\.description).joined(separator: "; ")
        let rest = losses.count > 20 ? "; and \(losses.count - 20) more" : ""
        return ServerError(.badRequest, "\(what): \(shown)\(rest). Nothing was changed.")
    }
}
