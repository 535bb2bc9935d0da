extension ByteName {
    /// The longest name of anything, in bytes: what a directory entry can hold.
    package static var maximumBytes: Int { 255 }
}

extension FieldName {
    /// `$parent`, as the list of changed fields names it. Not a valid field name.
    package static let parent = FieldName("$parent")

    /// `[A-Za-z][A-Za-z0-9_]*`, at most 255 bytes.
    package var isValid: Bool {
        guard let first = bytes.first, bytes.count <= Self.maximumBytes else { return false }
        return IdentifierRule.isLetter(first) && IdentifierRule.isTail(bytes.dropFirst())
    }
}

extension RecordTypeName {
    /// `[A-Za-z_][A-Za-z0-9_]*`, at most 255 bytes.
    package var isValid: Bool {
        guard let first = bytes.first, bytes.count <= Self.maximumBytes else { return false }
        return (IdentifierRule.isLetter(first) || first == UInt8(ascii: "_"))
            && IdentifierRule.isTail(bytes.dropFirst())
    }
}

extension ZoneName {
    /// 1 to 255 bytes of UTF-8 without control characters, that still fit a directory entry once
    /// percent-encoded.
    package var isValid: Bool {
        guard !bytes.isEmpty, UTF8Sequence.isValid(bytes), !NameCodec.holdsControls(bytes) else {
            return false
        }
        return NameCodec.encode(bytes).count <= Self.maximumBytes
    }
}

extension ZoneName {
    /// The one zone of the public database.
    package static let publicZone = ZoneName("_defaultZone")
}

extension OwnerName {
    /// The rule of `ZoneName`; `me` is no name.
    package var isValid: Bool { ZoneName(bytes: bytes).isValid }
}

enum IdentifierRule {
    static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: false
        }
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    static func isTail(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    }
}
