package import RecordModel

extension JSONValue {
    /// Returns an object of these members in this order. A nil value leaves its member out.
    package static func members(_ pairs: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(
            pairs.compactMap { key, value in
                value.map { JSONMember(key: Text(key), value: $0) }
            })
    }

    package static func text(_ string: some StringProtocol) -> JSONValue {
        .string(Text(utf8: Array(string.utf8)))
    }

    package static func text(_ bytes: [UInt8]) -> JSONValue { .string(Text(utf8: bytes)) }

    package static func integer(_ value: some BinaryInteger) -> JSONValue {
        .number(JSONNumber(Int64(clamping: value)))
    }

    /// Returns a name, which may hold any byte, as text. Bytes that are not UTF-8 are lost.
    package static func name(_ name: some ByteName) -> JSONValue { .text(name.bytes) }

    /// Returns a string member as a `String`. Returns nil when it is missing or no string.
    package func stringMember(_ key: String) -> String? {
        self[key]?.string.map { String(decoding: $0.utf8, as: UTF8.self) }
    }

    /// Returns the object with one more member.
    package func adding(_ key: Text, _ value: JSONValue) -> JSONValue {
        .object((object ?? []) + [JSONMember(key: key, value: value)])
    }

    package func integerMember(_ key: String) -> Int64? { self[key]?.int64 }
}
