/// The text of a schema in the CloudKit schema language, with `JSON` as one more type.
///
/// Reads what CloudKit's tools export: roles, grants and the system fields (`___recordID` and the
/// like) are understood and dropped, comments too. `NUMBER` is read as what it is preferred as, or
/// as DOUBLE.
package enum SchemaText {
    /// Errors: `invalidArgument` with position.
    package static func parse(_ text: [UInt8]) throws(RecordError) -> [(
        RecordTypeName, RecordSchema
    )] {
        var parser = SchemaParser(try SchemaTokens(text))
        return try parser.schema()
    }

    package static func print(_ types: [(RecordTypeName, RecordSchema)]) -> [UInt8] {
        var text = "DEFINE SCHEMA\n"
        for (name, schema) in types {
            text += "\n    RECORD TYPE \(quoted(name.bytes)) (\n"
            text += schema.fields.map(line).joined(separator: ",\n")
            text += (schema.fields.isEmpty ? "" : "\n") + "    );\n"
        }
        return Array(text.utf8)
    }

    private static func line(_ field: RecordSchema.Field) -> String {
        var words = [quoted(field.name.bytes)]
        let encrypted = field.isEncrypted ? "ENCRYPTED " : ""
        if case .list(let element) = field.type {
            words.append("LIST<\(encrypted)\(element.name)>")
        } else {
            words.append(encrypted + field.type.name)
        }
        if field.isQueryable { words.append("QUERYABLE") }
        if field.isSortable { words.append("SORTABLE") }
        if field.isSearchable { words.append("SEARCHABLE") }
        return "        " + words.joined(separator: " ")
    }

    private static func quoted(_ name: [UInt8]) -> String {
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
