/// The ending of a large field's file on the wire: 1 to 64 bytes of UTF-8 without control
/// characters, `/` and marks that change the direction of a text.
package enum FileExtension {
    package static let maximumBytes = 64

    package static func isValid(_ bytes: [UInt8]) -> Bool {
        !bytes.isEmpty && bytes.count <= maximumBytes && isPlain(bytes)
    }

    /// Returns the ending as a file name shows it. A valid ending is shown unchanged. In any other
    /// ending `%XX` replaces the characters that are not allowed, and it is cut to the allowed
    /// length.
    package static func shown(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.isEmpty || isValid(bytes) { return bytes }
        var shown: [UInt8] = []
        var at = 0
        while at < bytes.count {
            let length = UTF8Sequence.length(in: bytes, at: at) ?? 1
            let part = Array(bytes[at..<(at + length)])
            let spelled = isPlain(part) ? part : part.flatMap(escaped)
            guard shown.count + spelled.count <= maximumBytes else { break }
            shown += spelled
            at += length
        }
        return shown
    }

    private static func isPlain(_ bytes: [UInt8]) -> Bool {
        UTF8Sequence.isValid(bytes) && !bytes.contains(UInt8(ascii: "/"))
            && !NameCodec.holdsControls(bytes)
            && !String(decoding: bytes, as: UTF8.self).unicodeScalars.contains(where: turnsText)
    }

    /// Returns whether the scalar is one of the marks, embeddings, overrides and isolates of the
    /// bidirectional algorithm.
    private static func turnsText(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\u{061C}", "\u{200E}", "\u{200F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
            true
        default: false
        }
    }

    private static func escaped(_ byte: UInt8) -> [UInt8] {
        [
            UInt8(ascii: "%"), HexadecimalDigit.uppercase[Int(byte >> 4)],
            HexadecimalDigit.uppercase[Int(byte & 15)],
        ]
    }
}
