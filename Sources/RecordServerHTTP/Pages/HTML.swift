import RecordModel

/// HTML text. A value that is interpolated into a literal is escaped, unless it is HTML itself.
/// There is no other way to put a value into a page.
struct HTML: Hashable, Sendable, ExpressibleByStringInterpolation {
    private(set) var text: String

    init(stringLiteral value: String) { text = value }
    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity)
        }

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ html: HTML) { text += html.text }
        mutating func appendInterpolation(_ parts: [HTML]) {
            for part in parts { text += part.text }
        }
        mutating func appendInterpolation(_ value: String) { text += HTML.escaped(value) }
        mutating func appendInterpolation(_ value: Text) { text += HTML.escaped(value.string) }
        mutating func appendInterpolation(_ value: Int64) { text += String(value) }
    }

    /// Returns the value escaped for element content and quoted attributes. Controls and marks that
    /// change the direction of writing become replacement characters, so that a title cannot
    /// pretend to be another one.
    private static func escaped(_ value: String) -> String {
        var escaped = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\u{200E}", "\u{200F}", "\u{061C}", "\u{202A}"..."\u{202E}",
                "\u{2066}"..."\u{2069}":
                escaped += "\u{FFFD}"
            case "\t", "\n": escaped.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
                escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

/// Times for people.
enum PageTime {
    /// Returns a time such as `2026-11-20 10:00 UTC`.
    static func text(milliseconds: Int64) -> String {
        let text = ISO8601.print(milliseconds: milliseconds)
        return text.prefix(16).replacing("T", with: " ") + " UTC"
    }
}
