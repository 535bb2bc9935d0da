/// The forms of values that a model gives.
extension MemberMapping.Member {
    /// Returns the value to read in the form that the field's type has, or the value itself.
    ///
    /// The server's records may have any text for a UUID, and any number for a truth value: a save
    /// checks these.
    ///
    /// Errors: `schemaMismatch` for a text that is no decimal number.
    func plainForm(of json: JSONValue) throws(ValueError) -> JSONValue {
        switch (form, json) {
        case (.decimal, .string(let text)):
            guard let number = ExactDecimal.double(text), let value = JSONNumber(number) else {
                throw ValueError(
                    .schemaMismatch,
                    "\"\(name)\" takes a decimal number in quotes, such as \"12.50\", that is exact "
                        + "with 15 digits, and this is \"\(text)\"")
            }
            return .number(value)
        case (.uuid, .string(let text)):
            return .string(UUIDText.uppercased(text) ?? text)
        default: return json
        }
    }

    /// A value as a text has it, for messages.
    var example: String {
        switch form {
        case .plain: type.example
        case .boolean: "true or false"
        case .decimal: "a decimal number in quotes, such as \"12.50\""
        case .uuid: "a UUID in quotes"
        case .key: "the name of an object in double quotes"
        }
    }

    /// Returns a value as a text has it.
    func json(_ value: FieldValue) -> JSONValue {
        switch (form, value) {
        case (.boolean, .int64(0)): .bool(false)
        case (.boolean, .int64(1)): .bool(true)
        case (.decimal, .double(let double)) where double.isFinite:
            .string(Text(ExactDecimal.spelling(of: double)))
        default: value.json(plain: value.type == type)
        }
    }
}

/// Decimal numbers that a double holds so that the same decimal number is read out of it.
enum ExactDecimal {
    /// Returns the double of a decimal number. Returns nil for a text that is none, and for a
    /// number that another one would be read as.
    static func double(_ text: Text) -> Double? {
        guard let given = Digits(text.utf8), let double = Double(text.description),
            double.isFinite, Digits(Array(double.description.utf8)) == given
        else { return nil }
        return double
    }

    /// Returns the shortest decimal number of a double, without an exponent where that is short.
    static func spelling(of double: Double) -> String {
        guard double.magnitude < 1e15, double.rounded() == double else { return "\(double)" }
        return "\(Int64(double))"
    }

    /// The digits of a decimal number without zeros at both ends, and the power of ten behind them.
    private struct Digits: Equatable {
        private var isNegative = false
        private var digits: [UInt8] = []
        private var exponent = 0

        init?(_ spelling: [UInt8]) {
            var rest = spelling[...]
            if rest.first == UInt8(ascii: "-") {
                isNegative = true
                rest.removeFirst()
            }
            let end = rest.firstIndex { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
            if let end {
                let text = String(decoding: rest[(end + 1)...], as: UTF8.self)
                guard let power = Int(text), power.magnitude < 1000 else { return nil }
                exponent = power
            }
            let parts = rest[..<(end ?? rest.endIndex)].split(
                separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
            guard let whole = parts.first, !whole.isEmpty, parts.last?.isEmpty == false else {
                return nil
            }
            digits = parts.flatMap { Array($0) }
            guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            if parts.count == 2 { exponent -= parts[1].count }
            trim()
        }

        private mutating func trim() {
            digits = Array(digits.drop { $0 == 0x30 })
            while digits.last == 0x30 {
                digits.removeLast()
                exponent += 1
            }
            if digits.isEmpty { (isNegative, exponent) = (false, 0) }
        }
    }
}
