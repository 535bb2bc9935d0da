extension JSONScanner {
    func error(_ message: String, at offset: Int? = nil) -> RecordError {
        RecordError(
            .invalidJSON, message, at: TextPosition(offset: offset ?? at, in: bytes))
    }

    func expected(_ what: String) -> RecordError {
        if let hint = hint { return error(hint) }
        return error("expected \(what), found \(found)")
    }

    /// The token at the cursor, in words.
    private var found: String {
        guard !isAtEnd else { return "the end of the text" }
        switch byte {
        case 0: return "a NUL byte"
        case 0x0A, 0x0D: return "the end of the line"
        case 0x21..<0x7F: return "\(Character(Unicode.Scalar(byte)))"
        default:
            if let length = UTF8Sequence.length(in: bytes, at: at), length > 1 {
                return "\(String(decoding: bytes[at..<(at + length)], as: UTF8.self))"
            }
            return "byte 0x" + String(byte, radix: 16, uppercase: true)
        }
    }

    /// Advice for forms that people write when they think of JavaScript, Python or JSON5.
    private var hint: String? {
        switch byte {
        case 0 where !isAtEnd:
            "found a NUL byte; JSON cannot hold it (a text in UTF-16 has them: save it as UTF-8)"
        case UInt8(ascii: "/"), UInt8(ascii: "#"): "JSON has no comments; remove it"
        case UInt8(ascii: "'"): "JSON has only double quotes; write \" instead of '"
        case UInt8(ascii: "+"): "a number cannot begin with +; remove it"
        case 0xE2 where isAtCurlyQuote:
            "JSON has only straight quotes; write \" instead of \(found)"
        default: nil
        }
    }

    /// Indicates whether the cursor is at a quote of word processors, U+2018 to U+201F.
    private var isAtCurlyQuote: Bool {
        bytes.count - at >= 3 && bytes[at + 1] == 0x80 && (0x98...0x9F).contains(bytes[at + 2])
    }

    func wordError(from start: Int) -> RecordError {
        var end = start
        while end < bytes.count, Self.isWordByte(bytes[end]), end - start < 32 { end += 1 }
        guard end > start else { return expected("a value") }
        let word = String(decoding: bytes[start..<end], as: UTF8.self)
        let advice =
            switch word {
            case "NaN", "nan", "Infinity", "inf", "undefined": "JSON does not have it; write null"
            case "None", "nil", "NULL", "Null": "write null"
            case "True", "TRUE", "yes": "write true"
            case "False", "FALSE", "no": "write false"
            default: "expected a value; text must be in double quotes"
            }
        return error("found \(word): \(advice)", at: start)
    }
}

extension TextPosition {
    /// Creates the place of an offset. Lines end with LF. The column counts bytes, without a byte
    /// order mark, which editors do not show.
    package init(offset: Int, in text: [UInt8]) {
        let offset = min(offset, text.count)
        var line = 1
        var lineStart = text.starts(with: ByteOrderMark.utf8) ? min(3, offset) : 0
        for index in 0..<offset where text[index] == 0x0A {
            line += 1
            lineStart = index + 1
        }
        self.init(line: line, column: offset - lineStart + 1, offset: offset)
    }
}
