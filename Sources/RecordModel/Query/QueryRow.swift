/// One record as queries see it.
struct QueryRow {
    let document: RecordDocument
    let name: RecordName
    let created: Timestamp
    let modified: Timestamp

    func value(of subject: QueryExpression.Subject) -> FieldValue? {
        switch subject {
        case .field(let name): document[name]
        case .member(let name, let path): document[name]?.member(at: path[...])
        case .name: .string(Text(utf8: name.bytes))
        case .created: Self.date(created)
        case .modified: Self.date(modified)
        }
    }

    /// Returns a date in milliseconds. Dates are compared in milliseconds, the precision in which
    /// they are written.
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
        case .equal: return Self.compare(value, operand) == 0
        case .less: return (Self.compare(value, operand) ?? 0) < 0
        case .greater: return (Self.compare(value, operand) ?? 0) > 0
        case .lessOrEqual:
            return Self.compare(value, operand).map { $0 <= 0 } ?? false
        case .greaterOrEqual:
            return Self.compare(value, operand).map { $0 >= 0 } ?? false
        }
    }

    private static func compare(_ value: FieldValue, _ operand: QueryOperand) -> Int? {
        switch value {
        case .int64, .double: value.compared(to: operand.number ?? operand.value)
        default: value.compared(to: operand.value)
        }
    }

    /// Returns whether `text` contains `part`. Upper and lower case of ASCII letters are equal.
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
    /// Returns the value of nested JSON at a path. When there are lists on the way, returns the
    /// values of all elements that have it.
    fileprivate func member(at path: ArraySlice<Text>) -> FieldValue? {
        let found: [FieldValue]
        switch self {
        case .json(let value): found = Self.members(of: value, at: path)
        case .location: found = Self.members(of: json(plain: true), at: path)
        case .list(let elements):
            found = elements.compactMap { $0.member(at: path) }
        default: return nil
        }
        return found.count > 1 ? .list(found) : found.first
    }

    private static func members(of value: JSONValue, at path: ArraySlice<Text>) -> [FieldValue] {
        if case .array(let elements) = value {
            return elements.flatMap { members(of: $0, at: path) }
        }
        guard let key = path.first else { return plain(value).map { [$0] } ?? [] }
        guard let member = value.object?.first(where: { $0.key == key }) else { return [] }
        return members(of: member.value, at: path.dropFirst())
    }

    private static func plain(_ value: JSONValue) -> FieldValue? {
        switch value {
        case .null: nil
        case .bool(let bool): .int64(bool ? 1 : 0)
        case .number(let number): number.int64.map { .int64($0) } ?? .double(number.double)
        case .string(let text): .string(text)
        case .array, .object: .json(value)
        }
    }

    /// The texts that `~` and `^=` search.
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

    /// Compares two values: the result is negative, zero or positive. Returns nil for values that
    /// have no order between them.
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

    /// The hashes of the value, or of the elements of a list. Values that compare as equal have
    /// equal hashes. A value that no index can find has none.
    package var queryHashes: [Int64] {
        switch self {
        case .int64(let value): [TextChecksum.of(Array("number \(Double(value))".utf8))]
        case .double(let value): [TextChecksum.of(Array("number \(value + 0)".utf8))]
        case .timestamp(let value): [TextChecksum.of(Array("time \(value)".utf8))]
        case .list(let elements): elements.flatMap(\.queryHashes)
        case .bytes, .location: []
        case .string, .reference, .asset, .json: comparableText.map { [TextChecksum.of($0)] } ?? []
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
