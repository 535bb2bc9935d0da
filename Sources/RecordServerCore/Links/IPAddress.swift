import Glibc

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
