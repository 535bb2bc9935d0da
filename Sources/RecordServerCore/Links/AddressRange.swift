/// An IP address, or a network as an address and the number of its leading bits.
package struct AddressRange: Sendable, Hashable {
    private let bytes: [UInt8]
    private let bits: Int
    /// The text as it was given.
    package let text: String

    /// Reads `127.0.0.1`, `10.0.0.0/8`, `::1` or `fd00::/8`. Returns nil for anything else.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2,
            let bytes = IPAddress.bytes(of: String(first))
        else { return nil }
        var bits = bytes.count * 8
        if parts.count == 2 {
            guard let given = Int(parts[1]), (0...bits).contains(given) else { return nil }
            bits = given
        }
        self.bytes = bytes
        self.bits = bits
        self.text = String(text)
    }

    /// Indicates whether the range has every address of its kind.
    package var isEverything: Bool { bits == 0 }

    package func contains(_ address: String) -> Bool {
        guard let other = IPAddress.bytes(of: address), other.count == bytes.count else {
            return false
        }
        let whole = bits / 8
        guard other.prefix(whole).elementsEqual(bytes.prefix(whole)) else { return false }
        guard bits % 8 > 0 else { return true }
        let mask = ~UInt8(0) << UInt8(8 - bits % 8)
        return other[whole] & mask == bytes[whole] & mask
    }
}
