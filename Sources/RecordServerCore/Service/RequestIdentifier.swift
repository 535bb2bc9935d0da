package import RecordModel

/// Identifiers of requests: random UUIDs.
package enum RequestIdentifier {
    package static func make() -> Text {
        var generator = SystemRandomNumberGenerator()
        let words = [generator.next(), generator.next()]
        var bytes = words.flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
        }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text: [UInt8] = []
        let digits = Array("0123456789abcdef".utf8)
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return Text(utf8: text)
    }
}
