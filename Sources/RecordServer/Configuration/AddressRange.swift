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

#if canImport(Glibc)
import Glibc
#endif

/// IP addresses in text.
package enum IPAddress {
    /// Returns 4 or 16 bytes in network order. An IPv4 address inside IPv6 becomes an IPv4 address.
    package static func bytes(of text: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            return withUnsafeBytes(of: &four) { Array($0) }
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &six) { Array($0) }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return bytes.starts(with: mapped) ? Array(bytes.suffix(4)) : bytes
    }

    /// Returns the key under which a client is counted: an IPv4 address, or the network of 64 bits
    /// of an IPv6 address, which belongs to one client. Other text is its own key.
    package static func client(of address: String) -> String {
        guard let bytes = bytes(of: address) else { return address }
        guard bytes.count == 16 else { return bytes.map { String($0) }.joined(separator: ".") }
        return bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
    }

    /// Returns whether this is a name or an address that only this machine can reach.
    package static func isLoopbackName(_ host: String) -> Bool {
        host.lowercased() == "localhost" || isLoopback(host)
    }

    package static func isLoopback(_ text: String) -> Bool {
        guard let bytes = bytes(of: text) else { return false }
        return bytes.count == 4
            ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }
}
