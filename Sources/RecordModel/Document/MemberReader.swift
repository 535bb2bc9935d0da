/// Turns the members of the root object into fields.
struct MemberReader {
    let text: [UInt8]
    let schema: RecordSchema
    private(set) var fields: [RecordField] = []
    private(set) var parent: RecordName?
    private(set) var spans: [MemberSpan] = []

    init(text: [UInt8], schema: RecordSchema) {
        self.text = text
        self.schema = schema
        fields.reserveCapacity(16)
        spans.reserveCapacity(16)
    }

    mutating func read(_ member: ParsedRoot.Member) throws(RecordError) {
        let name = FieldName(bytes: member.key.utf8)
        guard name.isValid else { return try readReserved(member, name) }
        let reading: ValueReader.Reading?
        do throws(ValueError) {
            let known = schema[name]
            reading = try ValueReader(field: name, widens: known?.wider != nil)
                .read(member.value, as: known?.type)
        } catch {
            let offset = JSONScanner.offset(
                of: error.path, from: member.valueRange.lowerBound, in: text)
            throw RecordError(
                error.code, error.message, at: TextPosition(offset: offset, in: text))
        }
        if let reading { fields.append(RecordField(name: name, value: reading.value)) }
        append(name, member, isPlain: reading?.isPlain ?? false)
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
