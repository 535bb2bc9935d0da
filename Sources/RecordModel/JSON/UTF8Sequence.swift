/// Well-formed UTF-8 by table 3-7 of the Unicode standard: no overlong forms, no surrogates,
/// nothing above U+10FFFF.
package enum UTF8Sequence {
    /// Returns the length of the well-formed sequence at `start`, 1 to 4. Returns nil when there is
    /// none.
    @inline(__always)
    package static func length(in bytes: [UInt8], at start: Int) -> Int? {
        guard start < bytes.count else { return nil }
        let first = bytes[start]
        if first < 0x80 { return 1 }
        return multiByteLength(in: bytes, at: start, first: first)
    }

    private static func multiByteLength(in bytes: [UInt8], at start: Int, first: UInt8) -> Int? {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        case 0xF1...0xF3: length = 4
        default: return nil
        }
        guard start + length <= bytes.count, second.contains(bytes[start + 1]) else { return nil }
        for index in (start + 2)..<max(start + 2, start + length)
        where bytes[index] & 0xC0 != 0x80 {
            return nil
        }
        return length
    }

    /// Returns whether all of `bytes` is well-formed.
    package static func isValid(_ bytes: [UInt8]) -> Bool {
        var at = 0
        while at < bytes.count {
            guard let length = length(in: bytes, at: at) else { return false }
            at += length
        }
        return true
    }
}
