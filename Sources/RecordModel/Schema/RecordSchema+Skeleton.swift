extension RecordSchema {
    /// The text of a new record, for a person to fill in.
    ///
    /// It has the attributes of a model with the values of new objects, or all fields of a plain
    /// type. What has no value yet is null, which is no value. Missing are fields that have files,
    /// because null would remove a file that is made beside the text, and relationships, because
    /// null would end a link of another object that waits for this one.
    package var skeleton: [UInt8] {
        let members = mapping.map(Self.attributes) ?? plainMembers
        return JSONValue.object(members).serialized(pretty: true) + [0x0A]
    }

    private static func attributes(of mapping: MemberMapping) -> [JSONMember] {
        mapping.members.filter { $0.form != .key && $0.type.isShownInText }.map {
            JSONMember(key: Text(utf8: $0.name.bytes), value: $0.usableInitial ?? .null)
        }
    }

    private var plainMembers: [JSONMember] {
        fields.filter(\.type.isShownInText).map {
            JSONMember(key: Text(utf8: $0.name.bytes), value: .null)
        }
    }
}

extension FieldType {
    /// Indicates whether people write the value into the text, and not into a file beside it.
    fileprivate var isShownInText: Bool {
        switch self {
        case .asset, .bytes, .list(.asset), .list(.bytes): false
        default: true
        }
    }
}
