/// A JSON value; the members of an object keep their order.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(Text)
    case array([JSONValue])
    case object([JSONMember])
}

/// One member of an object. The parser never produces two with the same key.
package struct JSONMember: Hashable, Sendable {
    package let key: Text
    package let value: JSONValue

    package init(key: Text, value: JSONValue) {
        self.key = key
        self.value = value
    }
}

extension JSONValue {
    /// The value of a member. Returns nil for other keys, and when this is no object.
    package subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        let key = key.utf8
        let count = key.count
        // Most keys differ in length already.
        return members.first { $0.key.utf8.count == count && $0.key.utf8.elementsEqual(key) }?.value
    }

    /// The value with the members of all objects in the order of their keys. Values with the same
    /// meaning are then equal, whatever program wrote them.
    package var withSortedMembers: JSONValue {
        switch self {
        case .null, .bool, .number, .string: self
        case .array(let elements): .array(elements.map(\.withSortedMembers))
        case .object(let members):
            .object(
                members.map { JSONMember(key: $0.key, value: $0.value.withSortedMembers) }
                    .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
        }
    }

    package var isNull: Bool { self == .null }

    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    package var int64: Int64? {
        if case .number(let number) = self { number.int64 } else { nil }
    }

    package var double: Double? {
        if case .number(let number) = self { number.double } else { nil }
    }

    package var string: Text? {
        if case .string(let text) = self { text } else { nil }
    }

    package var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var object: [JSONMember]? {
        if case .object(let members) = self { members } else { nil }
    }

    package init(_ value: Int64) { self = .number(JSONNumber(value)) }
    package init(_ value: some StringProtocol) { self = .string(Text(value)) }

    /// The kind of the value, as messages name it.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let number): number.int64 == nil ? "a fraction" : "an integer"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    package init(stringLiteral value: String) { self = .string(Text(value)) }
    package init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(nilLiteral: ()) { self = .null }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { JSONMember(key: Text($0.0), value: $0.1) })
    }
}
