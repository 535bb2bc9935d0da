import RecordModel

/// Finds where the elements of a JSON array, or the members of an object, begin and end in a text.
///
/// It reads only brackets, strings and commas. The parser checks everything between them.
struct JSONBoundaries {
    struct Element {
        /// The decoded key of a member. It is nil in an array.
        let key: [UInt8]?
        let range: Range<Int>
    }

    let isObject: Bool
    let range: Range<Int>
    private(set) var elements: [Element] = []

    /// Finds the array or object. Returns nil when the text, or the part of it, is not one array or
    /// object that is closed.
    init?(_ text: [UInt8], in part: Range<Int>? = nil) {
        var start = part?.lowerBound ?? 0
        let end = part?.upperBound ?? text.count
        if part == nil, text.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
        var cutter = Cutter(text: text, at: start, end: end)
        cutter.skipSpace()
        guard let open = cutter.current, open == UInt8(ascii: "[") || open == UInt8(ascii: "{")
        else { return nil }
        isObject = open == UInt8(ascii: "{")
        let first = cutter.at
        let close = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        cutter.at += 1
        cutter.skipSpace()
        while cutter.current != close || !elements.isEmpty {
            guard let element = cutter.element(hasKey: isObject) else { return nil }
            elements.append(element)
            if cutter.current == close { break }
            guard cutter.current == UInt8(ascii: ",") else { return nil }
            cutter.at += 1
        }
        cutter.at += 1
        range = first..<cutter.at
        cutter.skipSpace()
        guard cutter.at == end else { return nil }
    }
}

private struct Cutter {
    let text: [UInt8]
    var at: Int
    let end: Int

    var current: UInt8? { at < end ? text[at] : nil }

    mutating func skipSpace() {
        while let byte = current, byte == 0x20 || (0x09...0x0D).contains(byte) { at += 1 }
    }

    /// Returns one element up to the following comma or bracket. The parser refuses an empty one.
    mutating func element(hasKey: Bool) -> JSONBoundaries.Element? {
        skipSpace()
        var key: [UInt8]?
        if hasKey {
            guard current == UInt8(ascii: "\"") else { return nil }
            let start = at
            guard skipString(), let decoded = decode(start..<at) else { return nil }
            key = decoded
            skipSpace()
            guard current == UInt8(ascii: ":") else { return nil }
            at += 1
            skipSpace()
        }
        let start = at
        guard skipValue() else { return nil }
        var last = at
        while last > start, text[last - 1] == 0x20 || (0x09...0x0D).contains(text[last - 1]) {
            last -= 1
        }
        return JSONBoundaries.Element(key: key, range: start..<last)
    }

    private func decode(_ range: Range<Int>) -> [UInt8]? {
        do {
            return try JSONParser.parse(Array(text[range])).string?.utf8
        } catch {
            return nil
        }
    }

    private mutating func skipValue() -> Bool {
        var depth = 0
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                guard skipString() else { return false }
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if depth == 0 { return true }
                depth -= 1
            case UInt8(ascii: ","):
                if depth == 0 { return true }
            default: break
            }
            at += 1
        }
        return false
    }

    private mutating func skipString() -> Bool {
        at += 1
        while let byte = current {
            at += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte == UInt8(ascii: "\\") { at += 1 }
        }
        return false
    }
}
