/// Base 64 of RFC 4648 section 4, strict: padded, no line breaks, no stray bits.
package enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
        return values
    }()

    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var encoded: [UInt8] = []
        encoded.reserveCapacity((bytes.count + 2) / 3 * 4)
        var at = 0
        while at < bytes.count {
            let count = min(3, bytes.count - at)
            var group = UInt32(bytes[at]) << 16
            if count > 1 { group |= UInt32(bytes[at + 1]) << 8 }
            if count > 2 { group |= UInt32(bytes[at + 2]) }
            for index in 0..<4 {
                let digit = Int(group >> UInt32(18 - 6 * index) & 63)
                encoded.append(index <= count ? alphabet[digit] : padding)
            }
            at += 3
        }
        return encoded
    }

    /// Returns the decoded bytes. Returns nil when the input is not a valid encoding.
    package static func decode(_ encoded: [UInt8]) -> [UInt8]? {
        guard encoded.count % 4 == 0 else { return nil }
        let digits = encoded.count - encoded.suffix(2).count(where: { $0 == padding })
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoded.count / 4 * 3)
        var group: UInt32 = 0
        for (index, byte) in encoded[..<digits].enumerated() {
            let value = values[Int(byte)]
            guard value != 0xFF else { return nil }
            group = group << 6 | UInt32(value)
            if index % 4 == 3 {
                bytes.append(UInt8(truncatingIfNeeded: group >> 16))
                bytes.append(UInt8(truncatingIfNeeded: group >> 8))
                bytes.append(UInt8(truncatingIfNeeded: group))
                group = 0
            }
        }
        switch digits % 4 {
        case 0: return digits == encoded.count ? bytes : nil
        case 2:
            guard group & 0xF == 0 else { return nil }
            bytes.append(UInt8(truncatingIfNeeded: group >> 4))
        case 3:
            guard group & 0x3 == 0 else { return nil }
            bytes.append(UInt8(truncatingIfNeeded: group >> 10))
            bytes.append(UInt8(truncatingIfNeeded: group >> 2))
        default: return nil
        }
        return bytes
    }
}
