/// The reversible percent-encoding of names (MountContract, "Names").
///
/// `/`, `%`, `@`, control characters (C0, DEL, C1), a leading `.` or `#`, a trailing `~` and every
/// byte that is not part of well-formed UTF-8 become `%XX` with upper-case digits.
package enum NameCodec {
    package static func encode(_ name: [UInt8]) -> [UInt8] {
        if isPlain(name) { return name }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(name.count + 16)
        var at = 0
        while at < name.count {
            let length = UTF8Sequence.length(in: name, at: at)
            let escapes = length == nil || mustEscape(name, at)
            for byte in name[at..<(at + (length ?? 1))] {
                if escapes {
                    encoded.append(UInt8(ascii: "%"))
                    encoded.append(HexadecimalDigit.uppercase[Int(byte >> 4)])
                    encoded.append(HexadecimalDigit.uppercase[Int(byte & 15)])
                } else {
                    encoded.append(byte)
                }
            }
            at += length ?? 1
        }
        return encoded
    }

    /// Returns the name whose encoding is exactly these bytes. Returns nil when there is none, so
    /// that two file names never stand for one name.
    package static func decode(_ encoded: [UInt8]) -> [UInt8]? {
        if isPlain(encoded) { return encoded }
        var name: [UInt8] = []
        name.reserveCapacity(encoded.count)
        var at = 0
        while at < encoded.count {
            guard encoded[at] == UInt8(ascii: "%") else {
                name.append(encoded[at])
                at += 1
                continue
            }
            guard at + 2 < encoded.count, let high = HexadecimalDigit.value(encoded[at + 1]),
                let low = HexadecimalDigit.value(encoded[at + 2])
            else { return nil }
            name.append(high << 4 | low)
            at += 3
        }
        return encode(name) == encoded ? name : nil
    }

    /// Returns whether a name holds control characters of ASCII or of C1 (U+0080 to U+009F).
    package static func holdsControls(_ name: [UInt8]) -> Bool {
        name.indices.contains { isControl(name, $0) }
    }

    /// Returns whether the name is ASCII that needs no encoding. This is the usual case and needs
    /// no allocation.
    private static func isPlain(_ name: [UInt8]) -> Bool {
        name.indices.allSatisfy { name[$0] < 0x80 && !mustEscape(name, $0) }
    }

    private static func mustEscape(_ name: [UInt8], _ index: Int) -> Bool {
        switch name[index] {
        case UInt8(ascii: "/"), UInt8(ascii: "%"), UInt8(ascii: "@"): true
        case UInt8(ascii: "."), UInt8(ascii: "#"): index == 0
        case UInt8(ascii: "~"): index == name.count - 1
        default: isControl(name, index)
        }
    }

    private static func isControl(_ name: [UInt8], _ index: Int) -> Bool {
        switch name[index] {
        case 0..<0x20, 0x7F: true
        case 0xC2:
            index + 1 < name.count && (0x80..<0xA0).contains(name[index + 1])
        default: false
        }
    }
}
