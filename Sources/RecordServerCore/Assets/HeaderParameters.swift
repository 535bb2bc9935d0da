import RecordModel

/// A header's value with parameters, as in `form-data; name="file"; filename="a.png"`
/// (RFC 9110, section 5.6.6).
package struct HeaderParameters {
    /// The text before the first semicolon, in lower case.
    package let value: String
    /// The parameters, with names in lower case. The first value of a repeated name counts.
    private let parameters: [String: String]

    package init(_ text: String) {
        var rest = text.utf8[...]
        value = Self.trimmed(rest.prefix { $0 != Self.semicolon }).lowercased()
        rest = rest.drop { $0 != Self.semicolon }
        var found: [String: String] = [:]
        while rest.popFirst() != nil {
            let name = Self.trimmed(rest.prefix { $0 != Self.equals && $0 != Self.semicolon })
            rest = rest.drop { $0 != Self.equals && $0 != Self.semicolon }
            var text = ""
            if rest.first == Self.equals { text = Self.takeValue(&rest) }
            if !name.isEmpty, found[name.lowercased()] == nil { found[name.lowercased()] = text }
        }
        parameters = found
    }

    package subscript(name: String) -> String? { parameters[name] }

    /// Returns the text after `=`, up to the next semicolon outside of quotes.
    private static func takeValue(_ rest: inout Substring.UTF8View) -> String {
        rest = rest.dropFirst().drop { $0 == 0x20 || $0 == 0x09 }
        guard rest.first == quote else {
            let text = trimmed(rest.prefix { $0 != semicolon })
            rest = rest.drop { $0 != semicolon }
            return text
        }
        rest.removeFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst(), byte != quote {
            if byte == backslash, let escaped = rest.popFirst() {
                bytes.append(escaped)
            } else {
                bytes.append(byte)
            }
        }
        rest = rest.drop { $0 != semicolon }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        var text = text.drop { $0 == 0x20 || $0 == 0x09 }
        while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return String(Substring(text))
    }

    private static let semicolon = UInt8(ascii: ";")
    private static let equals = UInt8(ascii: "=")
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
}
