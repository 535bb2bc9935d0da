package import RecordModel

extension Text {
    /// For a query, or a form.
    var percentEncoded: String {
        var result = ""
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += (digits.utf8.count < 2 ? "%0" : "%") + digits
            }
        }
        return result
    }

    /// The other way; nil for what is no such text.
    package init?(percentEncoded text: some StringProtocol) {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        self.init(utf8: bytes)
    }

    /// The value of a name in the query of an address.
    package init?(_ name: String, inQueryOf address: String) {
        guard let start = address.firstIndex(of: "?") else { return nil }
        for item in address[start...].dropFirst().prefix(while: { $0 != "#" }).split(separator: "&")
        {
            let parts = item.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == name else { continue }
            self.init(percentEncoded: parts[1])
            return
        }
        return nil
    }
}
