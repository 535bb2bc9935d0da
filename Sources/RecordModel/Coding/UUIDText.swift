/// UUIDs as text, in the form of RFC 9562.
package enum UUIDText {
    /// The places of the digits before which a dash stands, in bytes.
    private static let groups: Set = [4, 6, 8, 10]

    /// Returns a random UUID (version 4) in upper case, as Core Data names records.
    package static func random() -> [UInt8] {
        version4(of: (0..<16).map { _ in UInt8.random(in: 0...255) }, uppercase: true)
    }

    /// Returns the UUID of version 4 that has these random bytes, but for version and variant.
    ///
    /// - Parameter bytes: 16 bytes.
    package static func version4(of bytes: [UInt8], uppercase: Bool) -> [UInt8] {
        var bytes = bytes
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = uppercase ? HexadecimalDigit.uppercase : HexadecimalDigit.lowercase
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if groups.contains(index) { text.append(UInt8(ascii: "-")) }
            text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return text
    }

    /// Returns the UUID in upper case. Returns nil for another text.
    static func uppercased(_ text: Text) -> Text? {
        let bytes = text.utf8
        guard bytes.count == 36 else { return nil }
        var upper: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [8, 13, 18, 23].contains(index) {
                guard byte == UInt8(ascii: "-") else { return nil }
                upper.append(byte)
            } else {
                guard let digit = HexadecimalDigit.value(byte) else { return nil }
                upper.append(HexadecimalDigit.uppercase[Int(digit)])
            }
        }
        return Text(utf8: upper)
    }
}
