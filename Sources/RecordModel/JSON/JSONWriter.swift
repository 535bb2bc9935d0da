/// Prints JSON values as bytes: UTF-8 unescaped, only the characters that RFC 8259 requires are
/// escaped.
package struct JSONWriter {
    /// The layout of values over lines.
    package enum Layout: Sendable, Hashable {
        /// No spaces at all.
        case compact
        /// On one line, a space after `:` and `,`.
        case spaced
        /// One member or element a line; `newline` includes the indentation of the value's line.
        case lines(newline: [UInt8], unit: [UInt8])

        package static let pretty = Layout.lines(newline: [0x0A], unit: [0x20, 0x20])
    }

    package private(set) var bytes: [UInt8] = []
    private let layout: Layout

    package init(layout: Layout) { self.layout = layout }

    package mutating func write(_ value: JSONValue) {
        write(value, depth: 0)
    }

    package mutating func reserveCapacity(_ bytes: Int) { self.bytes.reserveCapacity(bytes) }

    /// Returns the bytes printed so far, and continues with none.
    package mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    /// Removes the bytes after the first `count`.
    package mutating func cut(to count: Int) {
        bytes.removeLast(max(0, bytes.count - count))
    }

    // Not generic: other modules would call an unspecialised function for each comma.

    /// Appends a byte as it is: punctuation.
    package mutating func splice(_ byte: UInt8) { bytes.append(byte) }

    /// Appends bytes as they are: JSON that is already printed.
    package mutating func splice(_ bytes: [UInt8]) { self.bytes += bytes }

    /// Appends text as it is: numbers, names that need no escapes.
    package mutating func splice(_ text: String) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    private mutating func write(_ value: JSONValue, depth: Int) {
        switch value {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let number): bytes += number.spelling
        case .string(let text): string(text.utf8)
        case .array(let elements):
            list(elements, open: "[", close: "]", depth: depth) { writer, element in
                writer.write(element, depth: depth + 1)
            }
        case .object(let members):
            list(members, open: "{", close: "}", depth: depth) { writer, member in
                writer.string(member.key.utf8)
                writer.bytes.append(UInt8(ascii: ":"))
                if writer.layout != .compact { writer.bytes.append(0x20) }
                writer.write(member.value, depth: depth + 1)
            }
        }
    }

    private mutating func list<Item>(
        _ items: [Item], open: Unicode.Scalar, close: Unicode.Scalar, depth: Int,
        _ item: (inout JSONWriter, Item) -> Void
    ) {
        bytes.append(UInt8(ascii: open))
        for (index, element) in items.enumerated() {
            if index > 0 {
                bytes.append(UInt8(ascii: ","))
                if layout == .spaced { bytes.append(0x20) }
            }
            lineBreak(depth + 1)
            item(&self, element)
        }
        if !items.isEmpty { lineBreak(depth) }
        bytes.append(UInt8(ascii: close))
    }

    private mutating func lineBreak(_ depth: Int) {
        guard case .lines(let newline, let unit) = layout else { return }
        bytes += newline
        for _ in 0..<depth { bytes += unit }
    }

    /// Prints a string in quotes. Bytes that are not UTF-8, and NUL (which the parser refuses),
    /// become U+FFFD, so that the result is always valid JSON.
    package mutating func string(_ text: [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var at = 0
        var runStart = 0
        while at < text.count {
            let byte = text[at]
            if byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                at += 1
                continue
            }
            if byte >= 0x80, let length = UTF8Sequence.length(in: text, at: at) {
                at += length
                continue
            }
            bytes += text[runStart..<at]
            escape(byte)
            at += 1
            runStart = at
        }
        bytes += text[runStart...]
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): bytes += #"\""#.utf8
        case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
        case 0x08: bytes += #"\b"#.utf8
        case 0x09: bytes += #"\t"#.utf8
        case 0x0A: bytes += #"\n"#.utf8
        case 0x0C: bytes += #"\f"#.utf8
        case 0x0D: bytes += #"\r"#.utf8
        case 0x01..<0x20:
            bytes += #"\u00"#.utf8
            bytes.append(HexadecimalDigit.lowercase[Int(byte >> 4)])
            bytes.append(HexadecimalDigit.lowercase[Int(byte & 15)])
        default: bytes += [0xEF, 0xBF, 0xBD]
        }
    }
}

extension JSONValue {
    /// Returns the value as JSON: compact, or with one member or element a line and 2 spaces.
    package func serialized(pretty: Bool = false) -> [UInt8] {
        var writer = JSONWriter(layout: pretty ? .pretty : .compact)
        writer.write(self)
        return writer.bytes
    }
}
