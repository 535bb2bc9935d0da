extension JSONScanner {
    /// Reads a string. The cursor is on its opening quote.
    mutating func string() throws(RecordError) -> Text {
        let quote = at
        at += 1
        let start = at
        try plainRun(quote)
        if bytes[at] == UInt8(ascii: "\"") {
            at += 1
            return Text(utf8: Array(bytes[start..<(at - 1)]))
        }
        var decoded = Array(bytes[start..<at])
        while bytes[at] != UInt8(ascii: "\"") {
            try escape(into: &decoded)
            let runStart = at
            try plainRun(quote)
            decoded += bytes[runStart..<at]
        }
        at += 1
        return Text(utf8: decoded)
    }

    /// Moves over plain characters, to a quote or backslash.
    private mutating func plainRun(_ quote: Int) throws(RecordError) {
        while at < bytes.count {
            let byte = bytes[at]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            if byte < 0x20 { throw controlError(byte) }
            if byte < 0x80 {
                at += 1
            } else if let length = UTF8Sequence.length(in: bytes, at: at) {
                at += length
            } else {
                throw error("the string is not valid UTF-8; save the text as UTF-8")
            }
        }
        throw error(
            "expected \" at the end of the string that begins at "
                + "\(TextPosition(offset: quote, in: bytes).words), found the end of the text")
    }

    private func controlError(_ byte: UInt8) -> RecordError {
        switch byte {
        case 0: error("a string cannot hold a NUL byte; remove it")
        case 0x0A, 0x0D: error("expected \" before the end of the line; write a line break as \\n")
        case 0x09: error("a tab inside a string must be written as \\t")
        default:
            error(
                "a control character inside a string must be written as \\u00"
                    + (byte < 16 ? "0" : "") + String(byte, radix: 16))
        }
    }

    /// Reads one escape. The cursor is on its backslash.
    private mutating func escape(into decoded: inout [UInt8]) throws(RecordError) {
        let start = at
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): decoded.append(byte)
        case UInt8(ascii: "b"): decoded.append(0x08)
        case UInt8(ascii: "f"): decoded.append(0x0C)
        case UInt8(ascii: "n"): decoded.append(0x0A)
        case UInt8(ascii: "r"): decoded.append(0x0D)
        case UInt8(ascii: "t"): decoded.append(0x09)
        case UInt8(ascii: "u"): return try unicodeEscape(from: start, into: &decoded)
        default:
            if isAtEnd { throw expected("the rest of an escape") }
            throw error(
                "a backslash in a string begins one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX; "
                    + "write \\\\ for a backslash", at: start)
        }
        at += 1
    }

    private mutating func unicodeEscape(
        from start: Int, into decoded: inout [UInt8]
    ) throws(RecordError) {
        at += 1
        let unit = try fourDigits()
        var code = UInt32(unit)
        switch unit {
        case 0:
            throw error("a string cannot hold \\u0000; remove it", at: start)
        case 0xD800...0xDBFF:
            guard byte == UInt8(ascii: "\\"), at + 1 < bytes.count,
                bytes[at + 1] == UInt8(ascii: "u")
            else { throw loneSurrogate(start) }
            at += 2
            let low = try fourDigits()
            guard (0xDC00...0xDFFF).contains(low) else { throw loneSurrogate(start) }
            code = 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
        case 0xDC00...0xDFFF:
            throw loneSurrogate(start)
        default: break
        }
        guard let scalar = Unicode.Scalar(code) else { throw loneSurrogate(start) }
        decoded += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
    }

    private func loneSurrogate(_ start: Int) -> RecordError {
        error("half of a surrogate pair; write \\uD83D\\uDE00 in full or the character", at: start)
    }

    private mutating func fourDigits() throws(RecordError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = HexadecimalDigit.value(byte) else {
                throw expected("4 hexadecimal digits after \\u")
            }
            value = value << 4 | UInt16(digit)
            at += 1
        }
        return value
    }
}

extension TextPosition {
    var words: String { "line \(line), column \(column)" }
}
