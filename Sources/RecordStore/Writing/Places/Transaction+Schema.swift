package import RecordModel
import RecordSQL
import Synchronization

extension Transaction {
    /// The development schema as this transaction sees it.
    package func schema(of type: RecordTypeName) throws(RecordError) -> RecordSchema {
        if let schema = schemas[type] { return schema }
        if !modelChanged, let schema = store.cache.withLock({ $0.schemas[type] }) { return schema }
        var schema = try SchemaRows.read(connection, type)
        schema.mapping = model?.members(of: type)
        guard !modelChanged else { return schema }
        store.cache.withLock { $0.schemas[type] = schema }
        return schema
    }

    /// Requests the records once more that were passed over, because the missing data may be here now.
    ///
    /// - Parameter database: nil for all databases.
    package func retryPassedOver(of database: Database? = nil) throws(RecordError) {
        try connection.run(
            """
            UPDATE passed_over SET due = 1
            WHERE ?1 IS NULL OR zone_id IN (SELECT id FROM zone WHERE database = ?1)
            """, [.optional(database?.rawValue)])
    }

    /// Replaces the development schema of a type by one that somebody wrote. Its fields keep their
    /// types, whatever values arrive.
    ///
    /// Errors: schemaMismatch when a stored record does not fit the new one.
    package func setSchema(
        _ schema: RecordSchema, of type: RecordTypeName
    ) throws(RecordError) {
        let old = try self.schema(of: type)
        var new = schema.renamed(by: old.mapping).declared
        new.mapping = old.mapping
        try eachRecord(of: type) { (text, stem) throws(RecordError) in
            try self.check(text, stem, fits: new, insteadOf: old)
        }
        try put(new, of: type)
        if old.fields.contains(where: { new.type(of: $0.name) != $0.type }) {
            try indexAgain(type)
        }
        try retryPassedOver()
    }

    /// Makes the indexes again that have the values of a type, because the same text has values of
    /// another type now.
    private func indexAgain(_ type: RecordTypeName) throws(RecordError) {
        try connection.run(
            """
            UPDATE query_index SET built = 0,
                token = (SELECT COALESCE(MAX(token), 0) FROM history)
            WHERE type = ?
            """, [.name(type)])
        try emptySearchIndex()
    }

    /// Adds fields for which it is known that the rows to come have values of these types. Fields
    /// that the schema already has stay as they are.
    package func expect(
        _ fields: [(name: FieldName, type: FieldType)], of type: RecordTypeName
    ) throws(RecordError) {
        guard let schema = try schema(of: type).adding(fields) else { return }
        try put(schema, of: type)
    }

    /// Adds the fields of a document that is about to be stored to the schema.
    ///
    /// - Parameter record: the record that the document replaces; its old text does not matter.
    ///
    /// Errors: schemaMismatch when the document has a fraction for a field of whole numbers, and a
    /// stored record has a whole number there that no double holds exactly.
    package func adopt(
        _ document: RecordDocument, _ type: RecordTypeName, replacing record: RecordID? = nil
    ) throws(RecordError) {
        let old = try schema(of: type)
        guard let new = old.adopting(document) else { return }
        let count = new.countedFields
        guard author == .sync || count <= ServerLimits.fieldsPerType || count <= old.countedFields
        else {
            throw RecordError(
                .tooLarge,
                "record type \(type) would have \(count) fields, and a type has at most "
                    + "\(ServerLimits.fieldsPerType) on the server; use fields that it has, or nest "
                    + "values in one field")
        }
        let widened = old.widened(in: new)
        if !widened.isEmpty { try checkWidening(type, from: old, to: new, besides: record) }
        try put(new, of: type)
    }

    /// Reads every record of the type. This happens once in the life of a field.
    private func checkWidening(
        _ type: RecordTypeName, from old: RecordSchema, to new: RecordSchema,
        besides record: RecordID?
    ) throws(RecordError) {
        // The rows of a long import are refused for one reason, which is searched for once.
        let fields = old.widened(in: new)
        if let reason = refusedWidenings[type], reason.fields == fields { throw reason.error }
        do {
            try eachRecord(of: type, besides: record) { (text, stem) throws(RecordError) in
                try self.check(text, stem, fits: new, insteadOf: old)
            }
        } catch {
            let names = fields.map { "\"\($0)\"" }.joined(separator: ", ")
            let reason = RecordError(
                .schemaMismatch,
                "field \(names) holds whole numbers, and a fraction cannot make it DOUBLE: "
                    + "\(error.message)")
            refusedWidenings[type] = (fields, reason)
            throw reason
        }
    }

    private func eachRecord(
        of type: RecordTypeName, besides record: RecordID? = nil,
        _ body: (_ text: [UInt8], _ stem: Stem) throws(RecordError) -> Void
    ) throws(RecordError) {
        try connection.each(
            """
            SELECT text, checksum, stem FROM record_type t JOIN record r ON r.type_id = t.id
                JOIN saved_text ON record_id = r.id
            WHERE t.name = ? AND state != 1 AND r.id != ?
            """, [.name(type), .integer(record?.rawValue ?? -1)]
        ) { row throws(RecordError) in
            // A damaged text says nothing about its type. The error appears when somebody reads it.
            guard let text = row.wholeText(0) else { return }
            try body(text, Stem(bytes: row.bytes(2)))
        }
    }

    private func check(
        _ text: [UInt8], _ stem: Stem, fits new: RecordSchema, insteadOf old: RecordSchema
    ) throws(RecordError) {
        var limits = store.options.limits
        // A stored text may have come from the server, which accepts more.
        limits.recordBytes = .max
        let document: RecordDocument
        do {
            document = try RecordDocument(parsing: text, schema: new, limits: limits)
        } catch {
            throw RecordError(
                .schemaMismatch, "Record \(stem) does not fit this schema: \(error.message)")
        }
        guard new.adopting(document) == nil else {
            throw RecordError(
                .schemaMismatch, "Record \(stem) has a field that this schema leaves out.")
        }
        let widened = old.widened(in: new).filter { document[$0] != nil }
        guard !widened.isEmpty else { return }
        let before = try RecordDocument(parsing: text, schema: old, limits: limits)
        for field in widened {
            guard let integer = before[field]?.inexactInteger else { continue }
            throw RecordError(
                .schemaMismatch,
                "Record \(stem) has \(integer) in \"\(field)\", which no DOUBLE holds exactly. "
                    + "Write that value as text, or round it.")
        }
    }

    func put(_ schema: RecordSchema, of type: RecordTypeName) throws(RecordError) {
        var schema = schema
        schema.mapping = model?.members(of: type)
        try SchemaRows.write(connection, type, schema)
        schemas[type] = schema
    }
}
