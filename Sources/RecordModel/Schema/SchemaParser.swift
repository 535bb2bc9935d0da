/// A recursive descent parser over `SchemaTokens`.
struct SchemaParser {
    private let text: [UInt8]
    private let tokens: [SchemaTokens.Token]
    private var index = 0
    /// The places at which grants name roles. The roles may be created further down.
    private var grantedRoles: [(role: String, offset: Int)] = []

    init(_ tokens: SchemaTokens) {
        text = tokens.text
        self.tokens = tokens.tokens
    }

    mutating func document() throws(RecordError) -> SchemaDocument {
        try keyword("DEFINE")
        try keyword("SCHEMA")
        var document = SchemaDocument()
        var seen: Set<RecordTypeName> = []
        var roles: Set<String> = []
        while current.kind != .end {
            let start = current.offset
            if take("CREATE") {
                try keyword("ROLE")
                let role = try name("a role")
                guard roles.insert(role).inserted else {
                    throw error("the role \"\(role)\" is here twice", start)
                }
                document.roles.append(role)
            } else {
                try keyword("RECORD", or: "CREATE ROLE")
                try keyword("TYPE")
                let offset = current.offset
                let type = RecordTypeName(try name("a record type"))
                guard type.isValid || type == SchemaDocument.shareType else {
                    throw error(
                        "a record type has letters, digits and _ only, no digit first", offset)
                }
                guard seen.insert(type).inserted else {
                    throw error("the record type \"\(type)\" is here twice", offset)
                }
                document.types.append(try recordType(type))
            }
            try sign(";")
        }
        for (role, offset) in grantedRoles
        where !roles.contains(role) && !SchemaDocument.builtInRoles.contains(role) {
            throw error("there is no role \"\(role)\": add CREATE ROLE", offset)
        }
        return document
    }

    private mutating func recordType(
        _ name: RecordTypeName
    ) throws(RecordError) -> SchemaDocument.RecordType {
        var type = SchemaDocument.RecordType(name: name)
        var seen: Set<FieldName> = []
        try sign("(")
        if take(sign: ")") { return type }
        repeat {
            let offset = current.offset
            if take("GRANT") {
                type.grants.append(try grant())
                continue
            }
            let field = try field()
            guard field.isSystem || SchemaDocument.isFieldName(field.name, of: name) else {
                throw error("a field has letters, digits and _ only, a letter first", offset)
            }
            guard seen.insert(field.name).inserted else {
                throw error("the field \"\(field.name)\" is here twice", offset)
            }
            type.fields.append(field)
        } while take(sign: ",")
        try sign(")")
        return type
    }

    private mutating func grant() throws(RecordError) -> SchemaDocument.Grant {
        var permissions: [SchemaDocument.Permission] = []
        repeat {
            guard let next = SchemaDocument.Permission.allCases.first(where: { take($0.rawValue) })
            else { throw expected("READ, CREATE or WRITE") }
            if !permissions.contains(next) { permissions.append(next) }
        } while take(sign: ",")
        try keyword("TO")
        let offset = current.offset
        let role = try name("a role")
        grantedRoles.append((role, offset))
        return SchemaDocument.Grant(permissions, to: role)
    }
}

// MARK: - Fields

extension SchemaParser {
    /// The type of one value with its marks.
    private struct Scalar {
        var type: FieldType
        var isEncrypted = false
        var number = SchemaDocument.NumberSpelling.type
    }

    private mutating func field() throws(RecordError) -> SchemaDocument.Field {
        let offset = current.offset
        let name = FieldName(try name("a field"))
        let scalar: Scalar
        let type: FieldType
        let typeOffset = current.offset
        if take("LIST") {
            try sign("<")
            let offset = current.offset
            scalar = try self.scalar()
            guard scalar.type.canBeListed else {
                throw error("there are no lists of \(scalar.type.name)", offset)
            }
            type = .list(scalar.type)
            try sign(">")
        } else {
            scalar = try self.scalar()
            type = scalar.type
        }
        var field = SchemaDocument.Field(
            RecordSchema.Field(
                name: name, type: type, isQueryable: false, isSortable: false,
                isSearchable: false, isEncrypted: scalar.isEncrypted),
            number: scalar.number)
        if field.isSystem { try checkSystem(field, offset, typeOffset) }
        while let option = try option(of: field) {
            switch option {
            case .queryable: field.field.isQueryable = true
            case .sortable: field.field.isSortable = true
            case .searchable: field.field.isSearchable = true
            }
        }
        return field
    }

    private func checkSystem(
        _ field: SchemaDocument.Field, _ offset: Int, _ typeOffset: Int
    ) throws(RecordError) {
        guard
            let known = SchemaDocument.systemFields.first(where: {
                field.name.bytes.elementsEqual($0.name.utf8)
            })
        else { throw error("there is no system field \"\(field.name)\"", offset) }
        guard field.type == known.type, !field.field.isEncrypted else {
            throw error("\"\(field.name)\" is \(known.type.name)", typeOffset)
        }
    }

    private enum Option: String, CaseIterable {
        case queryable = "QUERYABLE"
        case sortable = "SORTABLE"
        case searchable = "SEARCHABLE"

        /// Returns whether fields of the type can have the index.
        func fits(_ field: SchemaDocument.Field) -> Bool {
            guard !field.field.isEncrypted else { return false }
            let element = if case .list(let element) = field.type { element } else { field.type }
            guard element != .asset, element != .json else { return false }
            return switch self {
            case .queryable: true
            case .sortable: field.type == element
            case .searchable: element == .string
            }
        }
    }

    private mutating func option(of field: SchemaDocument.Field) throws(RecordError) -> Option? {
        let offset = current.offset
        guard let option = Option.allCases.first(where: { take($0.rawValue) }) else { return nil }
        guard option.fits(field) else {
            let type = (field.field.isEncrypted ? "ENCRYPTED " : "") + field.type.name
            throw error("a field of type \(type) cannot be \(option.rawValue)", offset)
        }
        return option
    }

    private mutating func scalar() throws(RecordError) -> Scalar {
        let offset = current.offset
        if take("ENCRYPTED") {
            let type = try plainType()
            switch type {
            case .reference, .asset, .json, .list:
                throw error("\(type.name) cannot be ENCRYPTED", offset)
            case .string, .int64, .double, .timestamp, .bytes, .location:
                return Scalar(type: type, isEncrypted: true)
            }
        }
        guard take("NUMBER") else { return Scalar(type: try plainType()) }
        guard take("PREFERRED") else { return Scalar(type: .double, number: .open) }
        try keyword("AS")
        if take("INT64") { return Scalar(type: .int64, number: .preferred) }
        try keyword("DOUBLE", or: "INT64")
        return Scalar(type: .double, number: .preferred)
    }

    private mutating func plainType() throws(RecordError) -> FieldType {
        guard case .word(let word) = current.kind,
            let type = FieldType.scalars.first(where: { $0.name == word.uppercased() })
        else {
            throw expected(
                "a type (STRING, INT64, DOUBLE, TIMESTAMP, BYTES, LOCATION, REFERENCE, ASSET, "
                    + "JSON or LIST<...>)")
        }
        index += 1
        return type
    }
}

// MARK: - Tokens

extension SchemaParser {
    private var current: SchemaTokens.Token { tokens[index] }

    private mutating func take(_ word: String) -> Bool {
        guard case .word(let found) = current.kind, found.uppercased() == word else {
            return false
        }
        index += 1
        return true
    }

    private mutating func take(sign: Unicode.Scalar) -> Bool {
        guard current.kind == .sign(UInt8(ascii: sign)) else { return false }
        index += 1
        return true
    }

    private mutating func keyword(_ word: String, or other: String? = nil) throws(RecordError) {
        if !take(word) { throw expected(other.map { "\(word) or \($0)" } ?? word) }
    }

    private mutating func sign(_ sign: Unicode.Scalar) throws(RecordError) {
        if !take(sign: sign) { throw expected("\"\(sign)\"") }
    }

    private mutating func name(_ what: String) throws(RecordError) -> String {
        switch current.kind {
        case .word(let name), .quoted(let name):
            guard !name.isEmpty, name.utf8.count <= 255 else {
                throw expected("the name of \(what), at most 255 bytes")
            }
            index += 1
            return name
        case .sign, .end: throw expected("the name of \(what)")
        }
    }

    private func expected(_ what: String) -> RecordError {
        let found =
            switch current.kind {
            case .word(let word), .quoted(let word): "\"\(Self.short(word))\""
            case .sign(let sign): "\"\(Character(Unicode.Scalar(sign)))\""
            case .end: "the end of the text"
            }
        return error("expected \(what), found \(found)", current.offset)
    }

    /// Shortens a word, so that a word of megabytes makes no message of megabytes.
    private static func short(_ word: String) -> String {
        let start = String(String.UnicodeScalarView(word.unicodeScalars.prefix(40)))
        return start.utf8.count < word.utf8.count ? start + "..." : start
    }

    private func error(_ message: String, _ offset: Int) -> RecordError {
        SchemaTokens.error(message, offset, text)
    }
}
