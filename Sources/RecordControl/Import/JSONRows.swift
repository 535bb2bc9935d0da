package import RecordModel

/// The rows of a JSON file: an array of objects, an object of objects (its keys are the names), or
/// an object that holds one array of objects beside other values.
///
/// The file is first divided into its elements, so that a bad one has a line and the others are
/// imported. The strict parser then reads each element.
package struct JSONRows: ImportRows {
    private let text: [UInt8]
    private let elements: [JSONBoundaries.Element]
    private let sharesLines: Bool
    private var index = 0
    private var place: LineCounter

    package var byteCount: Int? { text.count }

    /// Takes the rows from the member `key` of the root object. Without a key, it takes them from
    /// the only possible place.
    ///
    /// Errors: `invalidJSON` when the file as a whole is not JSON, `invalidArgument` when it holds
    /// no rows there.
    package init(text: [UInt8], at key: String? = nil) throws(RecordError) {
        self.text = text
        place = LineCounter()
        guard let root = JSONBoundaries(text) else { throw Self.malformed(text) }
        if let key {
            let bytes = Array(key.utf8)
            guard let member = root.elements.first(where: { $0.key == bytes }),
                let inner = JSONBoundaries(text, in: member.range)
            else {
                throw RecordError(
                    .invalidArgument, "\"\(key)\" is not an array or object of the file's root.")
            }
            elements = inner.elements
        } else {
            elements = Self.rows(of: root, text)
        }
        sharesLines = elements.count > text.count(where: { $0 == 0x0A }) + 1
    }

    package mutating func next() throws(RecordError) -> ImportRow? {
        guard index < elements.count else { return nil }
        let element = elements[index]
        index += 1
        place.advance(to: element.range.lowerBound, in: text)
        var row = ImportRow(
            line: place.line, key: element.key.map(RecordName.init(bytes:)),
            content: content(of: element), end: element.range.upperBound)
        row.sharesLine = sharesLines
        return row
    }

    private func content(of element: JSONBoundaries.Element) -> ImportRow.Content {
        do {
            let value = try JSONParser.parse(Array(text[element.range]))
            if let members = value.object { return .fields(members) }
            return .bad(
                RecordError(.invalidRecord, "expected an object of fields, found \(value.kind)."))
        } catch {
            return .bad(
                error.rebased(
                    line: place.line, column: place.column, offset: element.range.lowerBound))
        }
    }

    private static func rows(of root: JSONBoundaries, _ text: [UInt8]) -> [JSONBoundaries.Element] {
        guard root.isObject else { return root.elements }
        let arrays = root.elements.filter { text[$0.range.lowerBound] == UInt8(ascii: "[") }
        if arrays.count == 1, let inner = JSONBoundaries(text, in: arrays[0].range),
            inner.elements.contains(where: { text[$0.range.lowerBound] == UInt8(ascii: "{") })
        {
            return inner.elements
        }
        let objects = root.elements.filter { text[$0.range.lowerBound] == UInt8(ascii: "{") }
        if objects.count == root.elements.count { return root.elements }
        return [JSONBoundaries.Element(key: nil, range: root.range)]
    }

    /// Returns the error of a file that cannot be divided. The strict parser gives the best
    /// description.
    private static func malformed(_ text: [UInt8]) -> RecordError {
        do {
            let value = try JSONParser.parse(text)
            return RecordError(
                .invalidArgument, "the file holds \(value.kind), not an array or object of rows.")
        } catch {
            return error
        }
    }
}

/// Computes the line and column of an offset that only increases.
struct LineCounter: Sendable {
    private(set) var line = 1
    private var lineStart = 0
    private var offset = 0

    var column: Int { offset - lineStart + 1 }

    mutating func advance(to target: Int, in text: [UInt8]) {
        while offset < target {
            if text[offset] == UInt8(ascii: "\n") {
                line += 1
                lineStart = offset + 1
            }
            offset += 1
        }
    }
}
