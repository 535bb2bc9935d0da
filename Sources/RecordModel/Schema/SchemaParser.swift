/// Recursive descent over `SchemaTokens`.
struct SchemaParser {
    private let text: [UInt8]
    private let tokens: [SchemaTokens.Token]
    private var index = 0

    init(_ tokens: SchemaTokens) {
        text = tokens.text
        self.tokens = tokens.tokens
    }

    mutating func schema() throws(RecordError) -> [(RecordTypeName, RecordSchema)] {
        try keyword("DEFINE")
        try keyword("SCHEMA")
        var types: [(RecordTypeName, RecordSchema)] = []
        var seen: Set<RecordTypeName> = []
        while current.kind != .end {
            if take("CREATE") {
                try keyword("ROLE")
                _ = try name("a role")
            } else {
                try keyword("RECORD", or: "CREATE ROLE")
                try keyword("TYPE")
                let offset = current.offset
                let type = RecordTypeName(try name("a record type"))
                guard seen.insert(type).inserted else {
                    throw error("the record type \"\(type)\" is here twice", offset)
                }
                types.append((type, try recordType()))
            }
            try sign(";")
        }
        return types
    }

    private mutating func recordType() throws(RecordError) -> RecordSchema {
        try sign("(")
        var fields: [RecordSchema.Field] = []
        var seen: Set<FieldName> = []
        if take(sign: ")") { return RecordSchema(fields: []) }
        repeat {
            let offset = current.offset
            if take("GRANT") {
                try grant()
                continue
            }
            let field = try field()
            guard seen.insert(field.name).inserted else {
                throw error("the field \"\(field.name)\" is here twice", offset)
            }
            // System fields are there in every type.
            if !field.name.bytes.starts(with: "___".utf8) { fields.append(field) }
        } while take(sign: ",")
        try sign(")")
        return RecordSchema(fields: fields)
    }

    private mutating func grant() throws(RecordError) {
        repeat {
            guard take("READ") || take("CREATE") || take("WRITE") else {
                throw expected("READ, CREATE or WRITE")
            }
        } while take(sign: ",")
        try keyword("TO")
        _ = try name("a role")
    }

    private mutating func field() throws(RecordError) -> RecordSchema.Field {
        let name = FieldName(try name("a field"))
        let type: FieldType
        var isEncrypted = false
        if take("LIST") {
            try sign("<")
            let offset = current.offset
            let element = try scalar(&isEncrypted)
            guard element.canBeListed else {
                throw error("there are no lists of \(element.name)", offset)
            }
            type = .list(element)
            try sign(">")
        } else {
            type = try scalar(&isEncrypted)
        }
        var field = RecordSchema.Field(
            name: name, type: type, isQueryable: false, isSortable: false, isSearchable: false,
            isEncrypted: isEncrypted)
        while true {
            if take("QUERYABLE") {
                field.isQueryable = true
            } else if take("SORTABLE") {
                field.isSortable = true
            } else if take("SEARCHABLE") {
                field.isSearchable = true
            } else {
                return field
            }
        }
    }

    private mutating func scalar(_ isEncrypted: inout Bool) throws(RecordError) -> FieldType {
        if take("ENCRYPTED") { isEncrypted = true }
        if take("NUMBER") {
            guard take("PREFERRED") else { return .double }
            try keyword("AS")
            if take("INT64") { return .int64 }
            try keyword("DOUBLE", or: "INT64")
            return .double
        }
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
            case .word(let word): "\"\(word)\""
            case .quoted(let name): "\"\(name)\""
            case .sign(let sign): "\"\(Character(Unicode.Scalar(sign)))\""
            case .end: "the end of the text"
            }
        return error("expected \(what), found \(found)", current.offset)
    }

    private func error(_ message: String, _ offset: Int) -> RecordError {
        SchemaTokens.error(message, offset, text)
    }
}
