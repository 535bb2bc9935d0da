/// The text of a schema in the CloudKit schema language, with `JSON` as one more type.
///
/// Reads the exports of CloudKit's tools: roles, grants and the system fields (`___recordID` and
/// the like) are understood and dropped, comments too. `NUMBER` is read as its preferred type, or
/// as DOUBLE. `SchemaDocument` keeps all that.
package enum SchemaText {
    /// Parses a schema text.
    ///
    /// Errors: `invalidArgument` with position.
    package static func parse(_ text: [UInt8]) throws(RecordError) -> [(
        RecordTypeName, RecordSchema
    )] {
        // Every type has the system fields.
        try SchemaDocument(parsing: text).types.map { type in
            (type.name, RecordSchema(fields: type.fields.filter { !$0.isSystem }.map(\.field)))
        }
    }

    package static func print(_ types: [(RecordTypeName, RecordSchema)]) -> [UInt8] {
        let types = types.map { name, schema in
            SchemaDocument.RecordType(
                name: name, fields: schema.namedFields.map { SchemaDocument.Field($0) })
        }
        return SchemaDocument(types: types).print()
    }

    package static func quoted(_ name: [UInt8]) -> String {
        let string = String(decoding: name, as: UTF8.self)
        let isPlain = name.first.map(IdentifierRule.isLetter) ?? false
        guard isPlain, IdentifierRule.isTail(name), !reserved.contains(string.lowercased()) else {
            return "\"\(string)\""
        }
        return string
    }

    private static let reserved: Set<String> = [
        "grant", "preferred", "queryable", "searchable", "sortable",
    ]
}
