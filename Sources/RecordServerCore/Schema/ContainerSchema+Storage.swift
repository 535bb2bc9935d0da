import RecordModel
package import RecordWire
import Synchronization

extension ContainerSchema {
    /// Returns the schema as the transaction of `reader` sees it. The row is read every time, so
    /// that another process' change counts at once. Its text is parsed once for each version.
    package static func current(
        _ container: ContainerKey, _ reader: any StorageReader
    ) throws(ServerError) -> ContainerSchema {
        guard let row = try reader.schema(container) else {
            return stored(container, SchemaRow(version: 0, text: []), SchemaDocument())
        }
        if let known = reader.schemas.schema(container, row) { return known }
        let document: SchemaDocument
        do {
            document = try SchemaDocument(parsing: row.text)
        } catch {
            throw ServerError(
                .internalError, "The stored schema of \(container.container) cannot be read.")
        }
        let schema = stored(container, row, document)
        reader.schemas.keep(schema, of: row)
        return schema
    }

    private static func stored(
        _ container: ContainerKey, _ row: SchemaRow, _ document: SchemaDocument
    ) -> ContainerSchema {
        var schema = ContainerSchema(
            container: container, version: row.version, document: document)
        schema.isStored = true
        return schema
    }

    /// Stores the schema under its version.
    package func save(_ transaction: any StorageTransaction) throws(ServerError) {
        try transaction.putSchema(
            container, SchemaRow(version: version, text: document.print()))
    }
}

/// The parsed schemas that a storage has given to this process, the newest one of each container.
/// Nothing relies on them alone: the row is read each time, and only its parsing is saved.
package final class SchemaCache: Sendable {
    private struct Entry {
        let text: [UInt8]
        let schema: ContainerSchema
    }
    private let entries = Mutex<[ContainerKey: Entry]>([:])
    private static let capacity = 256

    package init() {}

    /// Returns the parsed schema of a row. The text is compared too, because a transaction that was
    /// rolled back can have used the version for another text.
    func schema(_ container: ContainerKey, _ row: SchemaRow) -> ContainerSchema? {
        entries.withLock { entries in
            guard let entry = entries[container], entry.schema.version == row.version,
                entry.text == row.text
            else { return nil }
            return entry.schema
        }
    }

    func keep(_ schema: ContainerSchema, of row: SchemaRow) {
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries.removeAll() }
            entries[schema.container] = Entry(text: row.text, schema: schema)
        }
    }
}
