extension ValueReader {
    /// Returns the value of a field that the schema does not know, except for null and tagged
    /// values.
    func infer(_ json: JSONValue) throws(ValueError) -> FieldValue {
        switch json {
        case .bool(let value): return .int64(value ? 1 : 0)
        case .number(let number):
            return number.int64.map { .int64($0) } ?? .double(number.double)
        case .string(let text): return .string(text)
        case .array(let elements): return try inferList(elements)
        case .object, .null:
            try TagReader.refuseTags(in: json)
            return .json(json)
        }
    }

    /// Elements of one kind make a LIST (whole numbers among fractions count as fractions), others
    /// make JSON. An empty list is a value whose type is not known yet.
    private func inferList(_ elements: [JSONValue]) throws(ValueError) -> FieldValue {
        var values: [FieldValue] = []
        values.reserveCapacity(elements.count)
        var common: FieldType?
        for (index, element) in elements.enumerated() {
            guard let value = try inferElement(element, index), let type = value.type,
                type.canBeListed, let joined = Self.join(common, type)
            else {
                let mixed = JSONValue.array(elements)
                try TagReader.refuseTags(in: mixed)
                return .json(mixed)
            }
            common = joined
            values.append(value)
        }
        return .list(common == .double ? values.map(\.asDouble) : values)
    }

    /// Returns the value of an element. Returns nil for null.
    private func inferElement(_ element: JSONValue, _ index: Int) throws(ValueError)
        -> FieldValue?
    {
        do throws(ValueError) {
            return try read(element, as: nil)?.value
        } catch {
            throw error.inside(.element(index))
        }
    }

    private static func join(_ common: FieldType?, _ type: FieldType) -> FieldType? {
        guard let common, common != type else { return type }
        switch (common, type) {
        case (.int64, .double), (.double, .int64): return .double
        default: return nil
        }
    }
}
