import HTTPTypes
import RecordServerCore

/// The origin of a request and the name that clients have for this server, through trusted proxies.
///
/// URLs from the server never begin with a name that only the request contains, because somebody
/// else may have written it. Names of this machine are accepted, because they lead nobody away from
/// it.
package struct ClientIdentity {
    let address: String
    /// The scheme, host and port. There is no slash at the end.
    let baseURL: String

    /// Reads the identity. `peer` is the address of the other end of the connection.
    init(_ head: HTTPRequest, peer: String, isTLS: Bool, configuration: ServerConfiguration) {
        let proxies = configuration.trustedProxies
        let isProxied = proxies.contains { $0.contains(peer) }
        address =
            isProxied ? Self.client(of: head.headerFields, peer: peer, proxies: proxies) : peer
        if let publicURL = configuration.publicURL {
            baseURL = publicURL
            return
        }
        var scheme = isTLS ? "https" : "http"
        var host = head.authority.flatMap { Self.isLoopback(authority: $0) ? $0 : nil }
        if isProxied {
            if let proto = head.headerFields[.forwardedProto]?.lowercased(),
                proto == "http" || proto == "https"
            {
                scheme = proto
            }
            host = head.headerFields[.forwardedHost] ?? host
        }
        baseURL = scheme + "://" + (host.flatMap(Self.cleanHost) ?? configuration.authority)
    }

    /// Returns the last address that is not a trusted proxy's. The client sent the addresses before
    /// it, which prove nothing.
    private static func client(
        of headers: HTTPFields, peer: String, proxies: [AddressRange]
    ) -> String {
        let named = headers[values: .forwardedFor].joined(separator: ",").split(separator: ",")
        for name in named.reversed() {
            var address = String(name.drop { $0 == " " })
            while address.last == " " { address.removeLast() }
            guard IPAddress.bytes(of: address) != nil else { return peer }
            if !proxies.contains(where: { $0.contains(address) }) { return address }
        }
        return peer
    }

    /// Returns whether the text is a host of this machine, perhaps with a port.
    private static func isLoopback(authority: String) -> Bool {
        var host = Substring(authority)
        if let colon = host.lastIndex(of: ":"),
            host[host.index(after: colon)...].allSatisfy(\.isNumber)
        {
            host = host[..<colon]
        }
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        return IPAddress.isLoopbackName(String(host))
    }

    /// Returns a host with or without port in the form that a URL may contain. Returns nil for
    /// anything else.
    package static func cleanHost(_ host: String) -> String? {
        let isClean = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
                true
            default: false
            }
        }
        return isClean && !host.isEmpty && host.utf8.count <= 255 ? host : nil
    }
}

extension ServerConfiguration {
    /// The host and port at which the server listens, as in a URL.
    package var authority: String {
        (host.contains(":") ? "[\(host)]" : host) + ":\(port)"
    }
}
