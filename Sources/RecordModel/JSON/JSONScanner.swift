/// The tokens of RFC 8259 over bytes, with positions.
///
/// It is a struct over the array itself. Every access is bounds-checked, because the text may be
/// hostile.
struct JSONScanner {
    let bytes: [UInt8]
    var at = 0
    var allowance: JSONAllowance

    init(_ bytes: [UInt8], allowance: JSONAllowance = .unlimited) {
        self.bytes = bytes
        self.allowance = allowance
    }

    /// The byte at the cursor. It is 0 at the end; a 0 in a JSON text is an error.
    @inline(__always)
    var byte: UInt8 { at < bytes.count ? bytes[at] : 0 }
    var isAtEnd: Bool { at >= bytes.count }

    @inline(__always)
    mutating func skipWhitespace() {
        while at < bytes.count {
            let byte = bytes[at]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            at += 1
        }
    }

    /// Accepts a byte order mark of UTF-8 and refuses those of UTF-16.
    mutating func skipByteOrderMark() throws(RecordError) {
        if bytes.starts(with: ByteOrderMark.utf8) {
            at = ByteOrderMark.utf8.count
        } else if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
            throw error("the text is UTF-16; save it as UTF-8")
        }
    }

    mutating func literal(_ word: String, _ value: JSONValue) throws(RecordError)
        -> JSONValue
    {
        let start = at
        for expected in word.utf8 {
            guard byte == expected else { throw wordError(from: start) }
            at += 1
        }
        if Self.isWordByte(byte) { throw wordError(from: start) }
        return value
    }

    static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// Marks that some editors put before a text.
enum ByteOrderMark {
    static let utf8: [UInt8] = [0xEF, 0xBB, 0xBF]
}

/// Digits of hexadecimal numbers.
enum HexadecimalDigit {
    static let lowercase = Array("0123456789abcdef".utf8)
    static let uppercase = Array("0123456789ABCDEF".utf8)

    @inline(__always)
    static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
