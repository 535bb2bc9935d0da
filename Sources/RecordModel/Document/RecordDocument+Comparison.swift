extension RecordDocument {
    /// Returns whether both have the same fields with the same values and the same parent, whatever
    /// the order and the layout.
    package func hasSameValues(as other: RecordDocument) -> Bool {
        guard fields.count == other.fields.count, parent == other.parent else { return false }
        let sameOrder = zip(fields, other.fields).allSatisfy {
            $0.name == $1.name && $0.value.isSame(as: $1.value)
        }
        return sameOrder || changedFields(from: other).isEmpty
    }

    /// Returns whether both have the same values, where `6` and `6.0` are one number: the schema of
    /// the author of a text is not known.
    package func saysTheSame(as other: RecordDocument) -> Bool {
        hasSameValues(as: other) || withDoubles.hasSameValues(as: other.withDoubles)
    }

    private var withDoubles: RecordDocument {
        var document = self
        document.fields = fields.map {
            RecordField(name: $0.name, value: $0.value.withExactDoubles)
        }
        return document
    }

    /// Returns the names of the fields that were added or have another value, in the order of this
    /// file, then the names of the fields that only `other` has. `FieldName.parent` is last when
    /// the parent differs.
    package func changedFields(from other: RecordDocument?) -> [FieldName] {
        var changed = FieldMerge.changedFields(from: other?.fields ?? [], to: fields)
        if parent != other?.parent { changed.append(.parent) }
        return changed
    }

    /// All texts of STRING and JSON values, for full-text search.
    package var searchableTexts: [Text] {
        var texts: [Text] = []
        for field in fields { Self.collect(field.value, into: &texts) }
        return texts
    }

    private static func collect(_ value: FieldValue, into texts: inout [Text]) {
        switch value {
        case .string(let text): texts.append(text)
        case .list(let elements):
            for element in elements { collect(element, into: &texts) }
        case .json(let json): collect(json, into: &texts)
        case .int64, .double, .timestamp, .bytes, .location, .reference, .asset: break
        }
    }

    private static func collect(_ json: JSONValue, into texts: inout [Text]) {
        switch json {
        case .string(let text): texts.append(text)
        case .array(let elements):
            for element in elements { collect(element, into: &texts) }
        case .object(let members):
            for member in members { collect(member.value, into: &texts) }
        case .null, .bool, .number: break
        }
    }
}

extension FieldValue {
    /// The value with each whole number as a double, if a double holds it exactly.
    fileprivate var withExactDoubles: FieldValue {
        switch self {
        case .int64(let value): Double(exactly: value).map { .double($0) } ?? self
        case .list(let elements): .list(elements.map(\.withExactDoubles))
        default: self
        }
    }
}
