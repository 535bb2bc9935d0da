extension FieldValue {
    /// Returns the value as it is written in a record's file: tagged, or in the plain form that
    /// needs a schema to be read back. A double that JSON does not have becomes null.
    package func json(plain: Bool = false) -> JSONValue {
        switch self {
        case .string(let text): .string(text)
        case .int64(let value): .number(JSONNumber(value))
        case .double(let value): JSONNumber(value).map { .number($0) } ?? .null
        case .timestamp(let milliseconds):
            Self.tag("$timestamp", .init(ISO8601.print(milliseconds: milliseconds)), plain)
        case .bytes(let bytes):
            Self.tag("$bytes", .string(Text(utf8: Base64.encode(bytes))), plain)
        case .location(let location): Self.tag("$location", location.json, plain)
        case .reference(let reference): reference.json(plain: plain)
        case .asset(let asset): asset.json
        case .json(let value): value
        case .list(let elements): .array(elements.map { $0.json(plain: plain) })
        }
    }

    private static func tag(_ key: Text, _ value: JSONValue, _ plain: Bool) -> JSONValue {
        plain ? value : .object([JSONMember(key: key, value: value)])
    }
}

extension Location {
    fileprivate var json: JSONValue {
        var members: [JSONMember] = []
        func add(_ key: Text, _ value: Double?) {
            guard let number = value.flatMap(JSONNumber.init(_:)) else { return }
            members.append(JSONMember(key: key, value: .number(number)))
        }
        add("latitude", latitude)
        add("longitude", longitude)
        add("altitude", altitude)
        add("horizontalAccuracy", horizontalAccuracy)
        add("verticalAccuracy", verticalAccuracy)
        add("course", course)
        add("speed", speed)
        if let timestampMilliseconds {
            let text = ISO8601.print(milliseconds: timestampMilliseconds)
            members.append(JSONMember(key: "timestamp", value: JSONValue(text)))
        }
        return .object(members)
    }
}

extension Reference {
    fileprivate func json(plain: Bool) -> JSONValue {
        let target = JSONValue.string(Text(utf8: name.bytes))
        if plain, zone == nil, action == .none { return target }
        var members = [JSONMember(key: "$ref", value: target)]
        if let zone {
            members.append(JSONMember(key: "zone", value: .string(Text(utf8: zone.bytes))))
        }
        if action != .none {
            members.append(JSONMember(key: "action", value: JSONValue(action.rawValue)))
        }
        return .object(members)
    }
}

extension AssetValue {
    fileprivate var json: JSONValue {
        var members = [JSONMember(key: "$asset", value: .string(fileName))]
        if let size { members.append(JSONMember(key: "size", value: JSONValue(size))) }
        if let sha256 {
            members.append(JSONMember(key: "sha256", value: JSONValue(sha256.hex)))
        }
        return .object(members)
    }
}

extension RecordDocument {
    /// Returns whether a machine that receives only the values writes the same text. Such a machine
    /// writes the fields of `base` in their order, then the new ones.
    package func isPrinted(after base: RecordDocument?) -> Bool {
        if let base {
            let names = fields.map(\.name)
            let known = Set(names)
            guard names.starts(with: base.fields.map(\.name).filter(known.contains)) else {
                return false
            }
        }
        return withoutLists == Self.print(fields, parent: parent, mapping: mapping)
    }

    /// Returns the text for a record that has none of its own: 2 spaces, `$parent` first, then the
    /// fields in the schema's order and those it does not know, values tagged so that they mean the
    /// same under any schema, UTF-8 unescaped, a final newline.
    ///
    /// - Parameter mapping: the names and forms of the members; by default those of the schema.
    package static func print(
        _ fields: [RecordField], parent: RecordName?,
        schema: RecordSchema = RecordSchema(fields: []), mapping: MemberMapping? = nil
    ) -> [UInt8] {
        var order: [FieldName: Int] = [:]
        for (index, field) in schema.fields.enumerated() { order[field.name] = index }
        let sorted = fields.enumerated().sorted {
            (order[$0.element.name] ?? .max, $0.offset) < (
                order[$1.element.name] ?? .max, $1.offset
            )
        }
        var members: [JSONMember] = []
        if let parent {
            members.append(JSONMember(key: "$parent", value: .string(Text(utf8: parent.bytes))))
        }
        let mapping = mapping ?? schema.mapping
        for (_, field) in sorted where field.name != mapping?.constant.name {
            let mapped = mapping?.member(of: field.name)
            members.append(
                JSONMember(
                    key: Text(utf8: (mapped?.name ?? field.name).bytes),
                    value: mapped?.json(field.value) ?? field.value.json()))
        }
        return JSONValue.object(members).serialized(pretty: true) + [0x0A]
    }
}
