/// One record as queries see it.
struct QueryRow {
    let document: RecordDocument
    let name: RecordName
    let created: Timestamp
    let modified: Timestamp

    func value(of subject: QueryExpression.Subject) -> FieldValue? {
        switch subject {
        case .field(let name): document[name]
        case .name: .string(Text(utf8: name.bytes))
        case .created: Self.date(created)
        case .modified: Self.date(modified)
        }
    }

    /// Dates are compared in milliseconds, as they are written.
    private static func date(_ time: Timestamp) -> FieldValue {
        .timestamp(milliseconds: time.milliseconds)
    }

    func satisfies(_ condition: QueryExpression.Condition) -> Bool {
        switch condition {
        case .exists(let subject): return value(of: subject) != nil
        case .missing(let subject): return value(of: subject) == nil
        case .compare(let subject, .notEqual, let operand):
            guard let value = value(of: subject) else { return true }
            return !holds(value, .equal, operand)
        case .compare(let subject, let symbol, let operand):
            guard let value = value(of: subject) else { return false }
            return holds(value, symbol, operand)
        }
    }

    private func holds(
        _ value: FieldValue, _ symbol: QueryExpression.Operator, _ operand: QueryOperand
    ) -> Bool {
        if case .list(let elements) = value {
            return elements.contains { holds($0, symbol, operand) }
        }
        switch symbol {
        case .contains:
            return value.queryTexts.contains { Self.contains($0, operand.text) }
        case .beginsWith:
            return value.queryTexts.contains { $0.starts(with: operand.text) }
        case .notEqual: return !holds(value, .equal, operand)
        case .equal: return value.compared(to: operand.value) == 0
        case .less: return (value.compared(to: operand.value) ?? 0) < 0
        case .greater: return (value.compared(to: operand.value) ?? 0) > 0
        case .lessOrEqual:
            return value.compared(to: operand.value).map { $0 <= 0 } ?? false
        case .greaterOrEqual:
            return value.compared(to: operand.value).map { $0 >= 0 } ?? false
        }
    }

    /// Whether `text` contains `part`, upper and lower case of ASCII letters being the same.
    static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard !part.isEmpty else { return true }
        guard text.count >= part.count else { return false }
        let folded = part.map(lowercased)
        for start in 0...(text.count - part.count) {
            var length = 0
            while length < folded.count, lowercased(text[start + length]) == folded[length] {
                length += 1
            }
            if length == folded.count { return true }
        }
        return false
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension FieldValue {
    /// What `~` and `^=` look at.
    fileprivate var queryTexts: [[UInt8]] {
        switch self {
        case .string(let text): [text.utf8]
        case .int64(let value): [Array(String(value).utf8)]
        case .double(let value): [Array(value.description.utf8)]
        case .timestamp(let milliseconds):
            [Array(ISO8601.print(milliseconds: milliseconds).utf8)]
        case .reference(let reference): [reference.name.bytes]
        case .asset(let asset): [asset.fileName.utf8]
        case .json(let value): [value.string?.utf8 ?? value.serialized()]
        case .bytes, .location, .list: []
        }
    }

    /// Negative, zero or positive; nil for values that have no order between them.
    func compared(to other: FieldValue) -> Int? {
        switch (self, other) {
        case (.int64(let left), .int64(let right)): Self.order(left, right)
        case (.timestamp(let left), .timestamp(let right)): Self.order(left, right)
        case (.double(let left), .double(let right)): Self.order(left, right)
        case (.int64(let left), .double(let right)): Self.order(Double(left), right)
        case (.double(let left), .int64(let right)): Self.order(left, Double(right))
        case (.bytes(let left), .bytes(let right)): Self.order(left, right)
        default:
            if let left = comparableText, let right = other.comparableText {
                Self.order(left, right)
            } else {
                nil
            }
        }
    }

    private var comparableText: [UInt8]? {
        switch self {
        case .string(let text): text.utf8
        case .reference(let reference): reference.name.bytes
        case .asset(let asset): asset.fileName.utf8
        case .json(let value): value.string?.utf8 ?? value.serialized()
        case .int64, .double, .timestamp, .bytes, .location, .list: nil
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
        left < right ? -1 : left == right ? 0 : 1
    }

    private static func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
        if left == right { return 0 }
        return left.lexicographicallyPrecedes(right) ? -1 : 1
    }
}
