/// Turns the members of the root object into fields.
struct MemberReader {
    let text: [UInt8]
    let schema: RecordSchema
    private(set) var fields: [RecordField] = []
    private(set) var parent: RecordName?
    private(set) var spans: [MemberSpan] = []
    private(set) var lists: [FieldName: [RecordName]] = [:]

    init(text: [UInt8], schema: RecordSchema) {
        self.text = text
        self.schema = schema
        fields.reserveCapacity(16)
        spans.reserveCapacity(16)
    }

    mutating func read(_ member: ParsedRoot.Member) throws(RecordError) {
        let written = FieldName(bytes: member.key.utf8)
        guard written.isValid else { return try readReserved(member, written) }
        if schema.mapping?.lists.contains(written) == true { return try readList(member, written) }
        let mapped = schema.mapping?.member(named: written)
        let name = mapped?.field ?? written
        if let mapping = schema.mapping {
            try checkIsOnce(name, member, mapping)
            if mapped == nil { try checkIsField(name, member, mapping) }
        }
        let reading: ValueReader.Reading?
        do throws(ValueError) {
            reading = try read(member.value, mapped, written)
        } catch {
            let offset = JSONScanner.offset(
                of: error.path, from: member.valueRange.lowerBound, in: text)
            throw RecordError(
                error.code, error.message, at: TextPosition(offset: offset, in: text))
        }
        if let reading { fields.append(RecordField(name: name, value: reading.value)) }
        append(name, member, isPlain: reading?.isPlain ?? false)
    }

    /// Reads the names of the objects of a to-many relationship.
    private mutating func readList(
        _ member: ParsedRoot.Member, _ name: FieldName
    ) throws(RecordError) {
        var elements: [JSONValue] = []
        switch member.value {
        case .null: break
        case .array(let values): elements = values
        default: throw badList(member, name)
        }
        var names: [RecordName] = []
        for element in elements {
            guard let text = element.string, !text.isEmpty else { throw badList(member, name) }
            names.append(RecordName(bytes: text.utf8))
        }
        lists[name] = names
        append(name, member, isPlain: true)
    }

    private func badList(_ member: ParsedRoot.Member, _ name: FieldName) -> RecordError {
        RecordError(
            .schemaMismatch, "\"\(name)\" takes the names of objects, such as [\"NAME\", \"NAME\"]",
            at: TextPosition(offset: member.valueRange.lowerBound, in: text))
    }

    /// Adds the field that no text of the mapping shows.
    mutating func addConstant() throws(RecordError) {
        guard let mapping = schema.mapping else { return }
        let constant = mapping.constant
        guard let written = fields.first(where: { $0.name == constant.name }) else {
            return fields.append(constant)
        }
        guard !written.value.isSame(as: constant.value) else { return }
        throw RecordError(
            .schemaMismatch,
            "\"\(constant.name)\" is another one, and this directory has objects of "
                + "\(mapping.entity) alone; leave it out",
            at: spans.first { $0.name == constant.name }.map {
                TextPosition(offset: $0.value.lowerBound, in: text)
            })
    }

    private func read(
        _ value: JSONValue, _ mapped: MemberMapping.Member?, _ written: FieldName
    ) throws(ValueError) -> ValueReader.Reading? {
        if let mapped {
            return try ValueReader(field: written, wanted: mapped.example)
                .read(try mapped.plainForm(of: value), as: mapped.type)
        }
        if let attribute = schema.mapping?.member(of: written) {
            // The model has said the type: a fraction does not change it.
            return try ValueReader(field: written, wanted: attribute.type.example)
                .read(value, as: attribute.type)
        }
        let known = schema[written]
        return try ValueReader(field: written, widens: known?.wider != nil)
            .read(value, as: known?.type)
    }

    /// Checks that a field is not in the text under both its names.
    private func checkIsOnce(
        _ name: FieldName, _ member: ParsedRoot.Member, _ mapping: MemberMapping
    ) throws(RecordError) {
        guard spans.contains(where: { $0.name == name }) else { return }
        throw RecordError(
            .invalidRecord,
            "\"\(mapping.name(of: name))\" and \"\(name)\" are one field; remove one of them",
            at: TextPosition(offset: member.keyRange.lowerBound, in: text))
    }

    /// Checks a name that no attribute has. It may be the field of another version of the model.
    private func checkIsField(
        _ name: FieldName, _ member: ParsedRoot.Member, _ mapping: MemberMapping
    ) throws(RecordError) {
        let isField = name.bytes.starts(with: MemberMapping.fieldPrefix.utf8) || schema[name] != nil
        guard !isField else { return }
        throw RecordError(
            .schemaMismatch,
            "\(mapping.entity) has no \"\(name)\" in the attached model; it has "
                + mapping.shownNames,
            at: TextPosition(offset: member.keyRange.lowerBound, in: text))
    }

    private mutating func append(_ name: FieldName, _ member: ParsedRoot.Member, isPlain: Bool) {
        spans.append(
            MemberSpan(
                name: name, key: member.keyRange, value: member.valueRange, isPlain: isPlain))
    }

    private mutating func readReserved(
        _ member: ParsedRoot.Member, _ name: FieldName
    ) throws(RecordError) {
        guard name == .parent else { throw badKey(member) }
        switch member.value {
        case .null: break
        case .string(let text) where !text.isEmpty: parent = RecordName(bytes: text.utf8)
        default:
            throw RecordError(
                .invalidRecord,
                "\"$parent\" takes the name of a record in double quotes, and this is "
                    + (member.value.string == nil ? member.value.kind : "empty"),
                at: TextPosition(offset: member.valueRange.lowerBound, in: text))
        }
        append(name, member, isPlain: false)
    }

    private func badKey(_ member: ParsedRoot.Member) -> RecordError {
        let isReserved = member.key.utf8.first == UInt8(ascii: "$")
        let reason =
            isReserved
            ? "keys that begin with $ are reserved, and only \"$parent\" can stand here"
            : "a field's name is a letter and then letters, digits or _, at most 255"
        let shown = String(decoding: member.key.utf8.prefix(80), as: UTF8.self)
        return RecordError(
            .invalidRecord, "the key \"\(shown)\" is no name of a field: \(reason)",
            at: TextPosition(offset: member.keyRange.lowerBound, in: text))
    }
}
