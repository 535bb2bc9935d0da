/// The way in which the author of a record's text sets members: the text before a key, around the
/// colon, and before the closing brace.
struct DocumentLayout {
    /// The text from the comma (or the brace) to the key: usually a line break with indentation.
    private let beforeKey: [UInt8]
    /// The text from the key to its value, with the colon.
    private let colon: [UInt8]
    /// The text from the last value to the closing brace.
    private let beforeClose: [UInt8]
    private let nested: JSONWriter.Layout
    private let mapping: MemberMapping?

    init(_ document: RecordDocument) {
        let text = document.text
        mapping = document.mapping
        guard let last = document.members.last else {
            // An object without members shows only how its lines end.
            let newline: [UInt8] = text.contains(0x0D) ? [0x0D, 0x0A] : [0x0A]
            beforeKey = newline + [0x20, 0x20]
            colon = [UInt8(ascii: ":"), 0x20]
            beforeClose = newline
            nested = .lines(newline: beforeKey, unit: [0x20, 0x20])
            return
        }
        colon = Array(text[last.key.upperBound..<last.value.lowerBound])
        var start = last.key.lowerBound
        while start > 0, Self.isWhitespace(text[start - 1]) { start -= 1 }
        var before = Array(text[start..<last.key.lowerBound])
        if before.isEmpty, document.members.count == 1, colon.last == 0x20 { before = [0x20] }
        beforeKey = before
        beforeClose = Array(text[last.value.upperBound..<(document.root.upperBound - 1)])
        nested = Self.nested(beforeKey: before, isSpaced: colon.last == 0x20)
    }

    private static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    private static func nested(beforeKey: [UInt8], isSpaced: Bool) -> JSONWriter.Layout {
        guard let lineFeed = beforeKey.lastIndex(of: 0x0A) else {
            return isSpaced ? .spaced : .compact
        }
        let indentation = Array(beforeKey[(lineFeed + 1)...])
        let hasReturn = lineFeed > 0 && beforeKey[lineFeed - 1] == 0x0D
        let newline: [UInt8] = (hasReturn ? [0x0D, 0x0A] : [0x0A]) + indentation
        return .lines(newline: newline, unit: indentation.isEmpty ? [0x20, 0x20] : indentation)
    }

    /// Returns a member that follows the last one, with its comma.
    ///
    /// - Parameter form: the form of the value that somebody has written.
    func inserted(_ name: FieldName, _ value: FieldValue, _ form: JSONValue?) -> [UInt8] {
        [UInt8(ascii: ",")] + beforeKey + member(name, value, form)
    }

    /// Returns a root object that holds only these fields.
    func body(
        _ fields: [(FieldName, FieldValue)], _ forms: [FieldName: JSONValue]
    ) -> [UInt8] {
        guard let first = fields.first else { return Array("{}".utf8) }
        var body = [UInt8(ascii: "{")] + beforeKey + member(first.0, first.1, forms[first.0])
        for (name, value) in fields.dropFirst() { body += inserted(name, value, forms[name]) }
        return body + beforeClose + [UInt8(ascii: "}")]
    }

    private func member(
        _ name: FieldName, _ value: FieldValue, _ form: JSONValue?
    ) -> [UInt8] {
        var writer = JSONWriter(layout: .compact)
        let mapped = mapping?.member(of: name)
        writer.string((mapped?.name ?? name).bytes)
        let json = form ?? mapped?.json(value) ?? value.json()
        return writer.bytes + colon + Self.print(json, nested)
    }

    /// Returns a new value in the place of `old`. When `old` is an array or object on one line, the
    /// new value is on one line too.
    func replacement(_ value: JSONValue, for old: [UInt8]) -> [UInt8] {
        let isList = old.first == UInt8(ascii: "[") || old.first == UInt8(ascii: "{")
        guard isList, !old.contains(0x0A), old.count > 2 else { return Self.print(value, nested) }
        return Self.print(value, old.contains(0x20) ? .spaced : .compact)
    }

    private static func print(_ value: JSONValue, _ layout: JSONWriter.Layout) -> [UInt8] {
        var writer = JSONWriter(layout: layout)
        writer.write(value)
        return writer.bytes
    }
}
