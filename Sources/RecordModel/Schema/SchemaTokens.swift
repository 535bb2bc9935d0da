/// The words and signs of a schema text.
struct SchemaTokens {
    enum Kind: Hashable {
        case word(String)
        /// A name in quotes, never a keyword.
        case quoted(String)
        case sign(UInt8)
        case end
    }

    struct Token {
        let kind: Kind
        let offset: Int
    }

    let text: [UInt8]
    private(set) var tokens: [Token] = []

    init(_ text: [UInt8]) throws(RecordError) {
        self.text = text
        var at = text.starts(with: ByteOrderMark.utf8) ? 3 : 0
        while let start = try Self.skipBlanks(text, from: at) {
            at = start
            let byte = text[at]
            if Self.isWord(byte) {
                while at < text.count, Self.isWord(text[at]) { at += 1 }
                append(.word(String(decoding: text[start..<at], as: UTF8.self)), start)
            } else if byte == UInt8(ascii: "\"") {
                guard let close = text[(at + 1)...].firstIndex(of: byte) else {
                    throw Self.error("the quote is never closed", at, text)
                }
                let name = String(decoding: text[(at + 1)..<close], as: UTF8.self)
                append(.quoted(name), start)
                at = close + 1
            } else if "(),;<>".utf8.contains(byte) {
                append(.sign(byte), start)
                at += 1
            } else {
                throw Self.error("unexpected character", at, text)
            }
        }
        append(.end, text.count)
    }

    private mutating func append(_ kind: Kind, _ offset: Int) {
        tokens.append(Token(kind: kind, offset: offset))
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        IdentifierRule.isTail(CollectionOfOne(byte))
    }

    /// Skips white space and comments. Returns nil at the end.
    private static func skipBlanks(_ text: [UInt8], from start: Int) throws(RecordError) -> Int? {
        var at = start
        while at < text.count {
            let rest = text[at...]
            if text[at] == 0x20 || text[at] == 0x09 || text[at] == 0x0A || text[at] == 0x0D {
                at += 1
            } else if rest.starts(with: "//".utf8) || rest.starts(with: "--".utf8) {
                at = rest.firstIndex(of: 0x0A) ?? text.count
            } else if rest.starts(with: "/*".utf8) {
                guard let end = commentEnd(text, at + 2) else {
                    throw error("the comment is never closed", at, text)
                }
                at = end
            } else {
                return at
            }
        }
        return nil
    }

    private static func commentEnd(_ text: [UInt8], _ start: Int) -> Int? {
        var at = start
        while at + 1 < text.count {
            if text[at] == UInt8(ascii: "*"), text[at + 1] == UInt8(ascii: "/") { return at + 2 }
            at += 1
        }
        return nil
    }

    static func error(_ message: String, _ offset: Int, _ text: [UInt8]) -> RecordError {
        RecordError(.invalidArgument, message, at: TextPosition(offset: offset, in: text))
    }
}
