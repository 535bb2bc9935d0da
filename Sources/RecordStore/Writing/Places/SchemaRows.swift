import RecordModel
import RecordSQL

/// The rows of a type's development schema.
enum SchemaRows {
    private static let queryable: Int64 = 1
    private static let sortable: Int64 = 2
    private static let searchable: Int64 = 4
    private static let declared: Int64 = 8

    static func read(
        _ connection: SQLConnection, _ type: RecordTypeName
    ) throws(RecordError) -> RecordSchema {
        var fields: [RecordSchema.Field] = []
        try connection.each(
            "SELECT field, field_type, flags FROM schema_field WHERE type = ? ORDER BY position",
            [.name(type)]
        ) { row throws(RecordError) in
            guard let fieldType = FieldType(name: row.string(1)) else {
                throw RecordError(.corrupt, "The schema has an unknown type \(row.string(1)).")
            }
            let flags = row.int64(2)
            var field = RecordSchema.Field(
                name: FieldName(bytes: row.bytes(0)), type: fieldType,
                isQueryable: flags & queryable != 0, isSortable: flags & sortable != 0,
                isSearchable: flags & searchable != 0)
            field.isDeclared = flags & declared != 0
            fields.append(field)
        }
        return RecordSchema(fields: fields)
    }

    /// Replaces the rows of the type.
    static func write(
        _ connection: SQLConnection, _ type: RecordTypeName, _ schema: RecordSchema
    ) throws(RecordError) {
        try connection.run("DELETE FROM schema_field WHERE type = ?", [.name(type)])
        for (position, field) in schema.fields.enumerated() {
            let flags =
                (field.isQueryable ? queryable : 0) | (field.isSortable ? sortable : 0)
                | (field.isSearchable ? searchable : 0) | (field.isDeclared ? declared : 0)
            try connection.run(
                """
                INSERT INTO schema_field (type, position, field, field_type, flags)
                VALUES (?, ?, ?, ?, ?)
                """,
                [
                    .name(type), .integer(Int64(position)), .name(field.name),
                    .text(field.type.name), .integer(flags),
                ])
        }
    }
}
