/// The allowed forms of a request's path, before any route is looked for.
enum RequestPath {
    /// Returns the components of a clean path. Returns nil for a path that some software on the way
    /// could read differently: with empty, `.` or `..` components, encoded slashes, NUL and
    /// controls, or broken escapes.
    static func components(of path: String) -> [Substring]? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        if path.utf8.count == 1 { return [] }
        let components = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for component in components {
            guard let decoded = PercentEncoding.decode(component.utf8), !decoded.isEmpty,
                !decoded.elementsEqual(".".utf8), !decoded.elementsEqual("..".utf8),
                decoded.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != 0x2F && $0 != 0x5C })
            else { return nil }
        }
        return components
    }
}

/// Percent-encoding (RFC 3986, section 2.1).
enum PercentEncoding {
    /// Decodes the text. Returns nil for a broken escape and for bytes that do not belong in a URL.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var at = text.startIndex
        while at != text.endIndex {
            let byte = text[at]
            at = text.index(after: at)
            guard byte == UInt8(ascii: "%") else {
                guard byte > 0x20, byte < 0x7F else { return nil }
                bytes.append(byte)
                continue
            }
            var value: UInt8 = 0
            for _ in 0..<2 {
                guard at != text.endIndex, let digit = Self.digit(text[at]) else { return nil }
                value = value << 4 | digit
                at = text.index(after: at)
            }
            bytes.append(value)
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
