/// A JSON Schema (draft 2020-12) of the texts that a record type takes, for editors.
///
/// It accepts what a save accepts, and refuses what a save refuses, as far as JSON Schema has words
/// for it. It has none for the range of a date in quotes, for `5.0` where a whole number is wanted,
/// and for duplicate keys; and it counts the characters of a text in another way than UTF-16.
package struct EditorSchema {
    private let type: RecordTypeName
    private let schema: RecordSchema
    /// The words of a model for its members.
    private let notes: [FieldName: String]

    package init(
        of type: RecordTypeName, _ schema: RecordSchema, notes: [FieldName: String] = [:]
    ) {
        self.type = type
        self.schema = schema
        self.notes = notes
    }

    /// The schema as a text.
    package var text: [UInt8] { json.serialized(pretty: true) + [0x0A] }

    private var json: JSONValue {
        var root: [JSONMember] = []
        func add(_ key: Text, _ value: JSONValue) {
            root.append(JSONMember(key: key, value: value))
        }
        add("$schema", "https://json-schema.org/draft/2020-12/schema")
        add("title", JSONValue("\(type)"))
        add("type", "object")
        add("properties", .object([Self.parent] + properties))
        if let mapping = schema.mapping {
            add("patternProperties", .object(fieldPatterns(mapping)))
            add("additionalProperties", false)
            let required = mapping.members.filter(\.isRequired).map { JSONValue("\($0.name)") }
            if !required.isEmpty { add("required", .array(required)) }
        } else {
            add("propertyNames", ["pattern": "^(\\$parent|[A-Za-z][A-Za-z0-9_]{0,254})$"])
            add("additionalProperties", EditorForms.reference("any"))
        }
        add("$defs", EditorForms.definitions)
        return .object(root)
    }

    private static let parent = JSONMember(
        key: "$parent",
        value: [
            "description": "The name of the record above this one.",
            "type": ["string", "null"], "minLength": 1,
        ])

    private var properties: [JSONMember] {
        guard let mapping = schema.mapping else { return schema.fields.map(plain) }
        let lists = mapping.lists.sorted().map {
            Self.member($0, described(notes[$0], EditorForms.names))
        }
        let others = schema.fields.filter {
            mapping.member(of: $0.name) == nil && !Self.isOfPrefix($0.name)
        }
        return mapping.members.map(mapped) + lists + others.map(plain)
    }

    private func plain(_ field: RecordSchema.Field) -> JSONMember {
        let forms = EditorForms.plain(field.wider ?? field.type, isWhole: field.wider != nil)
        return Self.member(field.name, ["anyOf": .array(forms + [EditorForms.none(field.type)])])
    }

    private func mapped(_ member: MemberMapping.Member) -> JSONMember {
        var value = described(notes[member.name], anyOf(EditorForms.mapped(member), member))
        if let initial = member.usableInitial {
            value = value.adding("default", initial)
        }
        return Self.member(member.name, value)
    }

    private func anyOf(_ forms: [JSONValue], _ member: MemberMapping.Member) -> JSONValue {
        ["anyOf": .array(forms + (member.isRequired ? [] : [EditorForms.none(member.type)]))]
    }

    /// The fields under their own names. Editors do not suggest what a pattern has.
    private func fieldPatterns(_ mapping: MemberMapping) -> [JSONMember] {
        var patterns = mapping.members.map {
            Self.pattern($0.field, anyOf(EditorForms.field($0), $0))
        }
        patterns += schema.fields.filter {
            mapping.member(of: $0.name) == nil && Self.isOfPrefix($0.name)
                && $0.name != mapping.constant.name
        }.map { Self.pattern($0.name, plain($0).value) }
        patterns.append(
            Self.pattern(mapping.constant.name, ["enum": [mapping.constant.value.json(), nil]]))
        patterns.append(
            JSONMember(
                key: Text("^\(MemberMapping.fieldPrefix)[A-Za-z0-9_]*$"),
                value: EditorForms.reference("any")))
        return patterns
    }

    private static func isOfPrefix(_ name: FieldName) -> Bool {
        name.bytes.starts(with: MemberMapping.fieldPrefix.utf8)
    }

    private static func pattern(_ name: FieldName, _ value: JSONValue) -> JSONMember {
        JSONMember(key: Text("^\(name)$"), value: value)
    }

    private static func member(_ name: FieldName, _ value: JSONValue) -> JSONMember {
        JSONMember(key: Text(utf8: name.bytes), value: value)
    }

    private func described(_ note: String?, _ value: JSONValue) -> JSONValue {
        guard let note, case .object(let members) = value else { return value }
        return .object([JSONMember(key: "description", value: JSONValue(note))] + members)
    }
}

extension JSONValue {
    fileprivate func adding(_ key: Text, _ value: JSONValue) -> JSONValue {
        .object((object ?? []) + [JSONMember(key: key, value: value)])
    }
}
