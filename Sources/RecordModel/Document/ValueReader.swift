/// Reads the JSON value of a field as the type that the schema gives it, or infers a type.
struct ValueReader {
    /// The name of the field, for messages.
    let field: FieldName
    /// Indicates whether a field of whole numbers accepts a fraction, which then widens the field.
    var widens = false
    /// The values that the attached model wants here. Nil for a field whose type the schema alone gives.
    var wanted: String?

    struct Reading {
        let value: FieldValue
        /// Indicates whether the text has the value in the plain form that needs the schema's type
        /// (an ISO date in quotes for a TIMESTAMP). The value is written back in the same form.
        let isPlain: Bool
    }

    /// Reads a value. Returns nil for null, which is no value.
    ///
    /// - Parameter type: nil for a field that the schema does not know.
    func read(_ json: JSONValue, as type: FieldType?) throws(ValueError) -> Reading? {
        switch json {
        case .null: return nil
        case .object(let members) where TagReader.isTagged(members):
            let value = try TagReader(field: field).read(members)
            return Reading(value: try checked(value, as: type), isPlain: false)
        default: break
        }
        switch type {
        case nil: return Reading(value: try infer(json), isPlain: false)
        case .list(let element):
            guard case .array(let elements) = json else {
                throw mismatch(json.kind, .list(element))
            }
            return try list(elements, of: element)
        case .json:
            try TagReader.refuseTags(in: json)
            return Reading(value: .json(json), isPlain: true)
        case .some(let type):
            // An empty list was accepted before the field's type was known: it fits every type.
            if case .array([]) = json { return Reading(value: .list([]), isPlain: true) }
            return Reading(value: try plain(json, as: type), isPlain: true)
        }
    }

    private func list(_ elements: [JSONValue], of type: FieldType) throws(ValueError) -> Reading {
        var values: [FieldValue] = []
        values.reserveCapacity(elements.count)
        var isPlain = true
        for (index, element) in elements.enumerated() {
            do throws(ValueError) {
                guard let reading = try read(element, as: type) else {
                    throw ValueError(
                        .schemaMismatch,
                        "the list in field \"\(field)\" cannot hold null; remove it")
                }
                if type != .asset, case .asset = reading.value {
                    throw ValueError(
                        .schemaMismatch,
                        "an element of a \(type.name) list cannot be an asset; write the value")
                }
                isPlain = isPlain && reading.isPlain
                values.append(reading.value)
            } catch {
                throw error.inside(.element(index))
            }
        }
        return Reading(value: .list(try widened(values, of: type)), isPlain: isPlain)
    }

    /// Makes all elements doubles when one of them is a fraction.
    private func widened(
        _ values: [FieldValue], of type: FieldType
    ) throws(ValueError) -> [FieldValue] {
        guard widens, type == .int64, values.contains(where: { $0.type == .double }) else {
            return values
        }
        if let integer = FieldValue.list(values).inexactInteger {
            throw ValueError(
                .schemaMismatch,
                "the list in field \"\(field)\" has a fraction, beside which \(integer) would "
                    + "not be exact; write a fraction or an exponent behind it to round it")
        }
        return values.map(\.asDouble)
    }

    /// Checks a tagged value against the schema. Long texts and bytes may be assets.
    private func checked(_ value: FieldValue, as type: FieldType?) throws(ValueError)
        -> FieldValue
    {
        guard let type, let valueType = value.type, type != valueType else { return value }
        if valueType == .asset, type == .string || type == .bytes { return value }
        throw mismatch(valueType.name, type)
    }

    private func plain(_ json: JSONValue, as type: FieldType) throws(ValueError) -> FieldValue {
        switch (type, json) {
        case (.string, .string(let text)): return .string(text)
        case (.int64, .bool(let value)): return .int64(value ? 1 : 0)
        case (.int64, .number(let number)):
            if let value = number.int64 { return .int64(value) }
            if widens { return .double(number.double) }
        case (.double, .number(let number)): return .double(number.double)
        case (.timestamp, .string(let text)):
            return .timestamp(milliseconds: try TagReader.timestamp(text, field))
        case (.bytes, .string(let text)): return .bytes(try TagReader.bytes(text, field))
        case (.reference, .string(let text)):
            return .reference(Reference(name: try TagReader.recordName(text, field)))
        case (.asset, .string(let text)):
            return .asset(AssetValue(fileName: try TagReader.assetName(text, field)))
        case (.location, .object(let members)):
            return .location(try LocationReader(field: field).read(members))
        default: break
        }
        throw mismatch(json.kind, type)
    }

    private func mismatch(_ found: String, _ type: FieldType) -> ValueError {
        if let wanted {
            return ValueError(
                .schemaMismatch, "\"\(field)\" takes \(wanted), and this is \(found)")
        }
        return ValueError(
            .schemaMismatch,
            "field \"\(field)\" is \(type.name) in the schema, and this is \(found); "
                + type.advice)
    }
}

extension FieldType {
    /// Tells the user how to write a value of this type, or how to change the type.
    var advice: String {
        "write \(example), or change the type in .recordfs/schema/development.ckdb"
    }

    /// A value of this type, for messages.
    var example: String {
        switch self {
        case .string: "text in double quotes"
        case .int64: "a whole number"
        case .double: "a number"
        case .timestamp: "a date like \"2026-11-20T10:00:00.000Z\""
        case .bytes: "base 64 in double quotes"
        case .location: "{\"$location\": {\"latitude\": 48.1, \"longitude\": 11.6}}"
        case .reference: "{\"$ref\": \"NAME\"}"
        case .asset: "{\"$asset\": \"NAME@FIELD.EXT\"}"
        case .json: "any JSON without keys that start with $"
        case .list(let element): "an array of \(element.name) values"
        }
    }
}
