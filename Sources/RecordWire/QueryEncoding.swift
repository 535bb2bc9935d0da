/// Bytes in the query of a URL.
package enum QueryEncoding {
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                text.append(byte)
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += Array((digits.utf8.count < 2 ? "%0" : "%").utf8) + digits.utf8
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes bytes in which `+` is a space, as forms write it. Returns nil for a broken escape.
    package static func decodeForm(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard rest.count >= 2,
                    let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                    rest.first != UInt8(ascii: "+"), rest.first != UInt8(ascii: "-")
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
