package import RecordModel

/// Writes an XML text as Xcode writes models: four spaces a level, one element a line.
package struct XMLWriter {
    private var text = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"# + "\n"

    /// Returns the text of an element. It has no line break at its end, as Xcode's files.
    ///
    /// Errors: `invalidArgument` for a name or a character that no XML text can have.
    package static func print(_ root: XMLElement) throws(RecordError) -> [UInt8] {
        try check(root)
        var writer = XMLWriter()
        writer.write(root, depth: 0)
        return Array(writer.text.utf8.dropLast())
    }

    private static func check(_ element: XMLElement) throws(RecordError) {
        for name in [element.name] + element.attributes.map(\.name) where !isName(name) {
            throw RecordError(.invalidArgument, "\"\(name)\" is no name of XML.")
        }
        for text in [element.text] + element.attributes.map(\.value)
        where text.unicodeScalars.contains(where: isForbidden) {
            throw RecordError(
                .invalidArgument,
                "the element \(element.name) has a control character, which no "
                    + "XML text can have.")
        }
        for child in element.children { try check(child) }
    }

    private static func isName(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard let first = bytes.first, isLetter(first) else { return false }
        return bytes.allSatisfy { byte in
            isLetter(byte) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
            || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 9, 10, 13: false
        case 0..<32, 0xFFFE, 0xFFFF: true
        default: false
        }
    }

    private mutating func write(_ element: XMLElement, depth: Int) {
        let indent = String(repeating: "    ", count: depth)
        text += "\(indent)<\(element.name)"
        for attribute in element.attributes {
            text += " \(attribute.name)=\"\(Self.escaped(attribute.value))\""
        }
        if element.children.isEmpty, element.text.isEmpty {
            text += "/>\n"
        } else if element.children.isEmpty {
            text += ">\(Self.escaped(element.text))</\(element.name)>\n"
        } else {
            text += ">\n"
            for child in element.children { write(child, depth: depth + 1) }
            text += "\(indent)</\(element.name)>\n"
        }
    }

    /// Returns a value as it is written between quotes. Line breaks and tabs become references,
    /// because a reader takes them for spaces otherwise.
    static func escaped(_ value: String) -> String {
        var escaped = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n", "\r", "\t": escaped += "&#\(scalar.value);"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
