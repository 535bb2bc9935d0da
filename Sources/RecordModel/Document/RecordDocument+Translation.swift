extension RecordDocument {
    /// Returns the text in the names and forms of another schema: of a model that is attached, or
    /// of none. Order and layout stay, and so do the fields.
    ///
    /// Errors: those of a parse, for a value that an attribute of the model cannot have.
    package func translated(
        to schema: RecordSchema, limits: RecordLimits
    ) throws(RecordError) -> [UInt8] {
        var source = self
        let foreign = lists.keys.filter { schema.mapping?.lists.contains($0) != true }
        if !foreign.isEmpty {
            source = try RecordDocument(
                parsing: replacing(foreign.sorted().map { ($0, nil) }), schema: ownSchema,
                limits: limits)
        }
        if let constant = schema.mapping?.constant, source.hasKey(constant.name) {
            // No text of the model shows it.
            source = try RecordDocument(
                parsing: source.replacing([(constant.name, nil)]), schema: ownSchema, limits: limits
            )
        }
        let text = source.rewritten(for: schema.mapping)
        guard let constant = mapping?.constant, constant != schema.mapping?.constant else {
            return text
        }
        return try RecordDocument(parsing: text, schema: schema, limits: limits)
            .replacing([(constant.name, constant.value)])
    }

    /// Indicates whether the text names a field by its own name, although an attribute has another
    /// one: a machine without the model has written it.
    package var hasFieldNames: Bool {
        guard let mapping else { return false }
        return members.contains { member in
            guard !mapping.lists.contains(member.name) else { return false }
            guard let mapped = mapping.member(of: member.name) else {
                return member.name == mapping.constant.name
            }
            return !text[member.key].dropFirst().dropLast().elementsEqual(mapped.name.bytes)
        }
    }

    /// A schema under which the document's own text means the same.
    private var ownSchema: RecordSchema {
        var schema = RecordSchema.empty.adopting(fields) ?? .empty
        schema.mapping = mapping
        return schema
    }

    /// Returns the text with the names and forms of another mapping.
    private func rewritten(for target: MemberMapping?) -> [UInt8] {
        guard let first = members.first else { return text }
        let layout = DocumentLayout(self)
        var result = Array(text[..<first.key.lowerBound])
        for (index, member) in members.enumerated() {
            let mapped = target?.member(of: member.name)
            result += JSONValue.string(Text(utf8: (mapped?.name ?? member.name).bytes)).serialized()
            result += text[member.key.upperBound..<member.value.lowerBound]
            result += value(of: member, mapped, layout)
            let end = index + 1 < members.count ? members[index + 1].key.lowerBound : text.count
            result += text[member.value.upperBound..<end]
        }
        return result
    }

    private func value(
        of member: MemberSpan, _ target: MemberMapping.Member?, _ layout: DocumentLayout
    ) -> [UInt8] {
        let old = Array(text[member.value])
        guard let value = self[member.name],
            target != nil || mapping?.member(of: member.name) != nil
        else { return old }
        return layout.replacement(target?.json(value) ?? value.json(), for: old)
    }
}
