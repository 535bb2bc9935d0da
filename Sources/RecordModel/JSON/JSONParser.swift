/// A strict parser of RFC 8259 over bytes (RecordText, "The parser").
///
/// It is stricter than the RFC where the RFC leaves a choice: no duplicate keys, no NUL (nor
/// `\u0000`), no lone surrogates, no integers outside 64 bits, no doubles beyond their range, no
/// nesting deeper than `maximumDepth`. A byte order mark of UTF-8 is accepted.
package enum JSONParser {
    /// The largest depth to which arrays and objects may nest. The root counts as 1.
    package static let maximumDepth = 64

    /// Parses a text.
    ///
    /// Errors: `invalidJSON` with the expected token and the place.
    package static func parse(_ bytes: [UInt8]) throws(RecordError) -> JSONValue {
        try parse(bytes, keeping: .unlimited)
    }

    /// Parses a text.
    ///
    /// - Parameter allowance: values beyond it are checked, and left out of the result.
    static func parse(
        _ bytes: [UInt8], keeping allowance: JSONAllowance
    ) throws(RecordError) -> JSONValue {
        var scanner = JSONScanner(bytes, allowance: allowance)
        try scanner.skipByteOrderMark()
        scanner.skipWhitespace()
        let value = try scanner.value(depth: 1)
        try scanner.end()
        return value
    }
}

extension JSONScanner {
    /// Reads any value. The cursor is on its first byte and ends after its last.
    mutating func value(depth: Int) throws(RecordError) -> JSONValue {
        switch byte {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return .number(try number())
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: throw isAtEnd ? expected("a value") : wordError(from: at)
        }
    }

    mutating func end() throws(RecordError) {
        skipWhitespace()
        if !isAtEnd { throw expected("the end of the text") }
    }

    func checkDepth(_ depth: Int) throws(RecordError) {
        if depth > JSONParser.maximumDepth {
            throw error("nested deeper than \(JSONParser.maximumDepth) levels")
        }
    }

    private mutating func array(depth: Int) throws(RecordError) -> [JSONValue] {
        try checkDepth(depth)
        at += 1
        skipWhitespace()
        var elements: [JSONValue] = []
        if byte == UInt8(ascii: "]") {
            at += 1
            return elements
        }
        while true {
            let element = try value(depth: depth + 1)
            if allowance.keeps(element) { elements.append(element) }
            if elements.count == Self.longCount {
                elements.reserveCapacity(elements.count + rest(depth: depth))
            }
            skipWhitespace()
            if byte == UInt8(ascii: "]") { break }
            try comma("\",\" or \"]\" after the element", before: UInt8(ascii: "]"))
        }
        at += 1
        return elements
    }

    private mutating func object(depth: Int) throws(RecordError) -> [JSONMember] {
        try checkDepth(depth)
        at += 1
        skipWhitespace()
        var members: [JSONMember] = []
        if byte == UInt8(ascii: "}") {
            at += 1
            return members
        }
        var keys = KeySet()
        var isTagged = false
        while true {
            let key = try key(&keys)
            if key.utf8.first == UInt8(ascii: "$") { isTagged = true }
            try colon()
            let value = try value(depth: depth + 1)
            if allowance.keeps(value, isTagged: isTagged) {
                members.append(JSONMember(key: key, value: value))
            }
            if members.count == Self.longCount {
                members.reserveCapacity(members.count + rest(depth: depth))
            }
            skipWhitespace()
            if byte == UInt8(ascii: "}") { break }
            try comma("\",\" or \"}\" after the value", before: UInt8(ascii: "}"))
        }
        at += 1
        return members
    }

    /// The number of values from which on a list reserves room for all others at once. A list that
    /// grows step by step is in memory twice for a time, and half of its room stays empty.
    private static let longCount = 1_024

    /// Returns the number of further values in the list at the cursor, at most as many as the
    /// allowance has room for. Returns 0 at a depth of more than 8, because each surrounding list
    /// would scan the inner ones again.
    private func rest(depth: Int) -> Int {
        depth > 8 ? 0 : min(allowance.room, JSONSize.countValues(bytes, from: at))
    }

    mutating func key(_ keys: inout KeySet) throws(RecordError) -> Text {
        guard byte == UInt8(ascii: "\"") else { throw expected("a key in double quotes") }
        let start = at
        let key = try string()
        guard keys.insert(key) else {
            throw error("the key \"\(key)\" is here twice; remove one", at: start)
        }
        return key
    }

    /// Moves over a colon to the value.
    mutating func colon() throws(RecordError) {
        skipWhitespace()
        guard byte == UInt8(ascii: ":") else { throw expected("\":\" after the key") }
        at += 1
        skipWhitespace()
    }

    /// Moves over a comma to the next token, which cannot be the end of the list.
    mutating func comma(_ what: String, before close: UInt8) throws(RecordError) {
        guard byte == UInt8(ascii: ",") else { throw expected(what) }
        let comma = at
        at += 1
        skipWhitespace()
        if byte == close {
            throw error(
                "a comma cannot stand before \"\(Character(Unicode.Scalar(close)))\"; remove it",
                at: comma)
        }
    }
}

/// The keys of one object. Few keys are compared one by one, which is faster than hashing them.
struct KeySet {
    private var few: [Text] = []
    private var many: Set<Text> = []

    /// Adds a key. Returns false when it is there already.
    mutating func insert(_ key: Text) -> Bool {
        if !many.isEmpty { return many.insert(key).inserted }
        if few.contains(key) { return false }
        few.append(key)
        if few.count > 24 { many = Set(few) }
        return true
    }
}
