package import RecordModel

extension WireField {
    /// Returns the field with the type of the schema. A value without tag is converted to that type
    /// where possible. A tag must agree. A field without a value stays unchanged.
    ///
    /// JSON, an extension, is a STRING on the wire whose text is JSON. `isStrict` refuses the
    /// values that Apple's server refuses: timestamps without their type.
    ///
    /// Errors: `badRequest` that names the field.
    package func coerced(
        to type: FieldType, isStrict: Bool = false
    ) throws(ServerError) -> WireField {
        guard let value else { return self }
        var field = self
        field.type = type == .json ? .string : type
        field.isTagged = true
        if self.type == field.type, type != .json { return field }
        guard !isTagged || self.type == nil || self.type == field.type else {
            throw mismatch(type)
        }
        switch (type, value) {
        case (.list(let element), .list(let elements)):
            var coerced: [WireValue] = []
            coerced.reserveCapacity(elements.count)
            for value in elements {
                coerced.append(try scalar(value, element, of: type, isStrict))
            }
            field.value = .list(coerced)
        case (.list, _), (_, .list): throw mismatch(type)
        default: field.value = try scalar(value, type, of: type, isStrict)
        }
        if type == .json { field.isJSON = true }
        return field
    }

    /// Returns one value with the type of the schema.
    ///
    /// - Parameter whole: the type of the field, for the message.
    private func scalar(
        _ value: WireValue, _ type: FieldType, of whole: FieldType, _ isStrict: Bool
    ) throws(ServerError) -> WireValue {
        switch (type, value) {
        case (.json, .string(let text)):
            if let fault = JSONText.fault(of: text) {
                throw ServerError(
                    .badRequest,
                    "Field \(name) is JSON in the schema, and its text is not JSON: "
                        + ServerError.cut(fault.description))
            }
            return value
        case (.double, .int64(let number)): return .double(Double(number))
        case (.int64, .string(let text)):
            if let number = DecimalText.int64(text) { return .int64(number) }
        case (.double, .string(let text)):
            if let number = DecimalText.double(text) { return .double(number) }
        case (.bytes, .string(let text)):
            if let bytes = Base64.decode(text.utf8) { return .bytes(bytes) }
        case (.timestamp, .int64(let milliseconds)):
            guard WireTime.range.contains(milliseconds) else { break }
            if !isStrict { return .timestamp(milliseconds: milliseconds) }
        case (.timestamp, .double(let fraction)):
            guard let milliseconds = WireTime.milliseconds(fraction) else { break }
            if !isStrict { return .timestamp(milliseconds: milliseconds) }
        default:
            if value.impliedType == type { return value }
        }
        throw mismatch(whole)
    }

    private func mismatch(_ type: FieldType) -> ServerError {
        let found = self.type?.wireTag ?? "a list"
        return ServerError(
            .badRequest,
            "Invalid value, expected type \(type.wireTag): field \(name) is \(type.name) in the "
                + "schema, and this is \(found).")
    }
}

enum JSONText {
    /// Returns the reason why a text is not JSON. Returns nil for JSON.
    static func fault(of text: Text) -> RecordError? {
        do throws(RecordError) {
            _ = try JSONParser.parse(text.utf8)
            return nil
        } catch {
            return error
        }
    }
}
