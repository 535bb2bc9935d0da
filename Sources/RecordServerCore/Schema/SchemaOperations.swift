import RecordModel
import RecordWire

/// Answers the operations on schemas.
struct SchemaOperations: Sendable {
    let resources: ServiceResources

    /// Answers schema/export: `{"schema": text}` of this environment.
    func exportSchema(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let schema = try await resources.storage.read { reader throws(ServerError) in
            try ContainerSchema.current(context.container, reader)
        }
        return Self.answer(schema.document)
    }

    /// Answers schema/validate: checks that `{"schema": text}` could be imported now, and answers
    /// `{}` if it could.
    func validateSchema(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let document = try document(body)
        let schemaImport = SchemaImport(container: context.container, settings: resources.settings)
        try await resources.storage.read { reader throws(ServerError) in
            _ = try schemaImport.check(document, reader)
        }
        return AnswerWriter.object { _ in }
    }

    /// Answers schema/import: makes `{"schema": text}` the schema of development, completely or not
    /// at all. With `"adds": true` the text is added to the schema that is there.
    func importSchema(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let document = try document(body)
        let adds = try JSONReader(body).bool("adds", default: false)
        guard context.container.environment == .development else {
            throw ServerError(
                .badRequest,
                "The schema of production comes from development: import it there, then deploy.")
        }
        let schemaImport = SchemaImport(container: context.container, settings: resources.settings)
        try await resources.storage.write { transaction throws(ServerError) in
            let whole = adds ? try schemaImport.adding(document, transaction) : document
            let old = try schemaImport.check(whole, transaction)
            try schemaImport.store(whole, over: old, transaction)
        }
        return AnswerWriter.object { _ in }
    }

    /// Answers schema/deploy: makes the schema of development that of production. It can only add:
    /// types, fields, indexes, and other grants. Records are not copied. Answers `{"schema":
    /// text}`.
    func deploySchema(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let (development, production) = Self.environments(context)
        let deployed = SchemaImport(container: production, settings: resources.settings)
        let document = try await resources.storage.write { transaction throws(ServerError) in
            let document = try ContainerSchema.current(development, transaction).document
            let old = try ContainerSchema.current(production, transaction)
            let lost = SchemaChanges.losses(from: old.document, to: document)
            guard lost.isEmpty else {
                throw SchemaImport.refusal(
                    "The schema of development does not have all of production's", lost)
            }
            try deployed.store(document, over: old, transaction)
            return document
        }
        return Self.answer(document)
    }

    /// Answers schema/reset: development gets the schema of production, and loses all its records.
    /// Answers `{"schema": text}`.
    func resetSchema(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        let (development, production) = Self.environments(context)
        let document = try await resources.storage.write { transaction throws(ServerError) in
            let document = try ContainerSchema.current(production, transaction).document
            let old = try ContainerSchema.current(development, transaction)
            try transaction.erase(development, reason: .purged)
            try old.replaced(by: document).save(transaction)
            return document
        }
        return Self.answer(document)
    }

    private func document(_ body: JSONValue) throws(ServerError) -> SchemaDocument {
        let text = try JSONReader(body).required("schema").string()
        return try SchemaImport.read(text, resources.settings)
    }

    private static func environments(
        _ context: OperationContext
    ) -> (development: ContainerKey, production: ContainerKey) {
        let container = context.container.container
        return (
            ContainerKey(container: container, environment: .development),
            ContainerKey(container: container, environment: .production)
        )
    }

    private static func answer(_ document: SchemaDocument) -> [UInt8] {
        AnswerWriter.object { answer in
            answer.member("schema", Text(utf8: document.print()))
        }
    }
}
