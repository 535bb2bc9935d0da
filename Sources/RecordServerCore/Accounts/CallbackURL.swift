package import RecordModel
import RecordWire

/// A URL that sign-in may return to, as registered with an API token.
///
/// Sign-in goes to registered URLs only, byte by byte. Nothing is normalised, because this server
/// and a browser could then read it differently. The one exception is `http://127.0.0.1`, which
/// stands for every port and path there, because a program on the person's machine takes the port
/// it gets.
package struct CallbackURL: Hashable, Sendable {
    package static let loopback: Text = "http://127.0.0.1"

    private static let dangerousSchemes = [
        "about", "blob", "data", "file", "filesystem", "ftp", "javascript", "vbscript",
        "view-source",
    ]

    package let text: Text
    /// The scheme in lower case.
    let scheme: String
    /// The host and port. It is empty for the scheme of an app.
    let authority: String

    /// Reads a URL. Returns nil for one that nobody may be sent to.
    package init?(_ text: Text) {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy(Self.isURLByte) else { return nil }
        let string = text.string
        guard let colon = string.firstIndex(of: ":") else { return nil }
        let scheme = string[..<colon].lowercased()
        guard let first = scheme.utf8.first,
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first),
            scheme.utf8.allSatisfy(Self.isSchemeByte), !Self.dangerousSchemes.contains(scheme)
        else { return nil }
        self.text = text
        self.scheme = scheme
        let rest = string[colon...].dropFirst()
        guard scheme == "http" || scheme == "https" else {
            authority = ""
            return
        }
        guard rest.hasPrefix("//") else { return nil }
        let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
        guard Self.isAuthority(authority) else { return nil }
        self.authority = String(authority)
        if scheme == "http" {
            let host = authority.hasPrefix("[") ? "[::1]" : authority.prefix { $0 != ":" }
            guard ["127.0.0.1", "localhost", "[::1]"].contains(host) else { return nil }
        }
    }

    /// Returns the URL that sign-in goes to: the registered one, or with a registered
    /// `http://127.0.0.1` the URL that was asked for, if it is there. Returns nil for any other URL
    /// that was asked for.
    package static func target(registered: Text, asked: Text?) -> CallbackURL? {
        guard let asked, asked != registered else {
            return registered == loopback ? nil : CallbackURL(registered)
        }
        guard registered == loopback, let url = CallbackURL(asked), url.scheme == "http",
            url.authority.hasPrefix("127.0.0.1:")
        else { return nil }
        return url
    }

    /// Indicates whether a program on the machine of the browser waits there.
    package var isOfOwnMachine: Bool { scheme == "http" }

    /// The name of the URL in a content security policy.
    package var source: String { authority.isEmpty ? "\(scheme):" : "\(scheme)://\(authority)" }

    /// Returns the URL with one more item in its query.
    package func adding(_ name: String, _ value: Text) -> String {
        let separator = text.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return "\(text)\(separator)\(name)=\(QueryEncoding.encode(value.utf8))"
    }

    /// Returns whether the text is an origin as browsers write it.
    package static func isOrigin(_ text: Text) -> Bool {
        guard text.utf8.allSatisfy(isURLByte) else { return false }
        let string = text.string
        for scheme in ["https://", "http://"] where string.hasPrefix(scheme) {
            let authority = string.dropFirst(scheme.count)
            return isAuthority(authority) && authority == authority.lowercased()
        }
        return false
    }

    /// Returns whether the text is a host of letters, digits, dots and hyphens or an IPv6 address,
    /// perhaps with a port. A user name, a percent sign or anything that could be read in two ways
    /// is not allowed.
    private static func isAuthority(_ text: Substring) -> Bool {
        var host = text
        if let end = text.lastIndex(of: "]"), text.first == "[" {
            let inside = text[text.index(after: text.startIndex)..<end]
            guard !inside.isEmpty, inside.allSatisfy({ $0.isHexDigit || $0 == ":" }) else {
                return false
            }
            host = text[text.index(after: end)...]
            return host.isEmpty || isPort(host)
        }
        if let colon = text.firstIndex(of: ":") {
            guard isPort(text[colon...]) else { return false }
            host = text[..<colon]
        }
        return !host.isEmpty && host.utf8.allSatisfy(isHostByte)
    }

    /// Returns whether the text is a port with its colon.
    private static func isPort(_ text: Substring) -> Bool {
        guard text.first == ":", let port = UInt16(text.dropFirst()) else { return false }
        return port > 0 && text.dropFirst().utf8.allSatisfy { (48...57).contains($0) }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || isDigitOrMark(byte)
    }

    private static func isDigitOrMark(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || isDigitOrMark(byte)
            || byte == UInt8(ascii: "+")
    }

    /// Returns whether the byte is printable ASCII that needs no escape in HTML, a header or a
    /// policy, and does not begin a fragment.
    private static func isURLByte(_ byte: UInt8) -> Bool {
        guard (0x21...0x7E).contains(byte) else { return false }
        return !"\"#<>\\^`{|};',".utf8.contains(byte)
    }
}
