/// The complete content of a text in the CloudKit schema language, in its order: also roles, grants
/// and the options of system fields, which `SchemaText` drops.
package struct SchemaDocument: Hashable, Sendable {
    package enum Permission: String, CaseIterable, Sendable {
        case read = "READ"
        case create = "CREATE"
        case write = "WRITE"
    }

    package struct Grant: Hashable, Sendable {
        package var permissions: [Permission]
        package var role: String
        package init(_ permissions: [Permission], to role: String) {
            self.permissions = permissions
            self.role = role
        }
    }

    /// The spelling of a number: as its type, or as a `NUMBER`.
    package enum NumberSpelling: Hashable, Sendable {
        case type
        /// `NUMBER PREFERRED AS` the type of the field.
        case preferred
        /// `NUMBER`: whole numbers and fractions side by side. The type of the field is DOUBLE.
        case open
    }

    package struct Field: Hashable, Sendable {
        /// The field. It may be a system field, such as `___recordID`.
        package var field: RecordSchema.Field
        package var number: NumberSpelling
        package init(_ field: RecordSchema.Field, number: NumberSpelling = .type) {
            self.field = field
            self.number = number
        }
        package var name: FieldName { field.name }
        package var type: FieldType { field.type }
        package var isSystem: Bool { field.name.bytes.starts(with: "___".utf8) }
    }

    package struct RecordType: Hashable, Sendable {
        package let name: RecordTypeName
        /// The fields. A system field is among them when the text mentions it, which it does to
        /// give it indexes.
        package var fields: [Field]
        package var grants: [Grant]
        package init(name: RecordTypeName, fields: [Field] = [], grants: [Grant] = []) {
            self.name = name
            self.fields = fields
            self.grants = grants
        }
    }

    /// The roles of `CREATE ROLE`.
    package var roles: [String]
    package var types: [RecordType]

    package init(roles: [String] = [], types: [RecordType] = []) {
        self.roles = roles
        self.types = types
    }

    /// Parses a schema text.
    ///
    /// Errors: `invalidArgument` with position.
    package init(parsing text: [UInt8]) throws(RecordError) {
        var parser = SchemaParser(try SchemaTokens(text))
        self = try parser.document()
    }

    /// The roles that need no `CREATE ROLE`. Every user has the first two. A user has the last one
    /// for the records that this user created.
    package static let builtInRoles = ["_world", "_icloud", "_creator"]

    /// The type of shares. It is the only type with dots in its name and in the names of its
    /// fields.
    package static let shareType = RecordTypeName("cloudkit.share")

    /// Returns whether records of the type can have a field with this name.
    package static func isFieldName(_ name: FieldName, of type: RecordTypeName) -> Bool {
        if type != shareType { return name.isValid }
        let parts = name.bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return name.bytes.count <= FieldName.maximumBytes
            && parts.allSatisfy { FieldName(bytes: Array($0)).isValid }
    }

    /// The system fields that every type has, with their types.
    package static let systemFields: [(name: String, type: FieldType)] = [
        ("___createTime", .timestamp), ("___createdBy", .reference), ("___etag", .string),
        ("___modTime", .timestamp), ("___modifiedBy", .reference), ("___recordID", .reference),
        ("___parent", .reference), ("___share", .reference),
    ]
}

extension SchemaDocument {
    /// Returns the text, which reads back as this document.
    package func print() -> [UInt8] {
        var text = "DEFINE SCHEMA\n"
        for role in roles { text += "\n    CREATE ROLE \(SchemaText.quoted(Array(role.utf8)));\n" }
        for type in types {
            text += "\n    RECORD TYPE \(SchemaText.quoted(type.name.bytes)) (\n"
            let lines = type.fields.map(Self.line) + type.grants.map(Self.line)
            text += lines.joined(separator: ",\n") + (lines.isEmpty ? "" : "\n") + "    );\n"
        }
        return Array(text.utf8)
    }

    private static func line(_ field: Field) -> String { "        " + field.text }

    fileprivate static func text(_ field: Field) -> String {
        var words = [SchemaText.quoted(field.name.bytes)]
        let encrypted = field.field.isEncrypted ? "ENCRYPTED " : ""
        let scalar: (FieldType) -> String = { type in
            switch field.number {
            case .type: encrypted + type.name
            case .preferred: "NUMBER PREFERRED AS \(type.name)"
            case .open: "NUMBER"
            }
        }
        if case .list(let element) = field.type {
            words.append("LIST<\(scalar(element))>")
        } else {
            words.append(scalar(field.type))
        }
        if field.field.isQueryable { words.append("QUERYABLE") }
        if field.field.isSortable { words.append("SORTABLE") }
        if field.field.isSearchable { words.append("SEARCHABLE") }
        return words.joined(separator: " ")
    }

    private static func line(_ grant: Grant) -> String {
        let permissions = grant.permissions.map(\.rawValue).joined(separator: ", ")
        return "        GRANT \(permissions) TO \(SchemaText.quoted(Array(grant.role.utf8)))"
    }
}

extension SchemaDocument.Field {
    /// The field as it is written in a schema text.
    package var text: String { SchemaDocument.text(self) }
}
