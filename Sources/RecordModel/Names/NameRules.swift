extension ByteName {
    /// The longest name of any kind, in bytes: the longest that a directory entry can hold.
    package static var maximumBytes: Int { ServerLimits.nameBytes }
}

extension FieldName {
    /// `$parent`, as the list of changed fields names it. It is not a valid field name.
    package static let parent = FieldName("$parent")

    /// Indicates whether the name is valid: `[A-Za-z][A-Za-z0-9_]*`, at most 255 bytes.
    package var isValid: Bool {
        guard let first = bytes.first, bytes.count <= Self.maximumBytes else { return false }
        return IdentifierRule.isLetter(first) && IdentifierRule.isTail(bytes.dropFirst())
    }
}

extension RecordTypeName {
    /// Indicates whether the name is valid: `[A-Za-z_][A-Za-z0-9_]*`, at most 255 bytes.
    package var isValid: Bool {
        guard let first = bytes.first, bytes.count <= Self.maximumBytes else { return false }
        return (IdentifierRule.isLetter(first) || first == UInt8(ascii: "_"))
            && IdentifierRule.isTail(bytes.dropFirst())
    }
}

extension RecordName {
    /// Indicates whether a recordfs-server can have a record with this name.
    package var isOfWire: Bool {
        (1...ServerLimits.nameBytes).contains(bytes.count) && UTF8Sequence.isValid(bytes)
            && !NameCodec.holdsControls(bytes)
    }

    /// Indicates whether a client may give the name to a new record. Names that begin with `_`
    /// belong to the server.
    package var isFreeForClients: Bool { bytes.first != UInt8(ascii: "_") }
}

extension ZoneName {
    /// Indicates whether the name is valid: 1 to 255 bytes of UTF-8 without control characters,
    /// that still fit a directory entry after percent-encoding.
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
    /// Indicates whether the name is valid by the rule of `ZoneName`. `me` is no name.
    package var isValid: Bool { ZoneName(bytes: bytes).isValid }

    /// The name of the directory under `shared/`: the encoding of the name, except that `@` stays
    /// as it is.
    package var fileName: [UInt8] {
        var name = NameCodec.encode(bytes)[...]
        var spelled: [UInt8] = []
        while let next = name.popFirst() {
            if next == UInt8(ascii: "%"), name.starts(with: Self.sign) {
                name.removeFirst(Self.sign.count)
                spelled.append(UInt8(ascii: "@"))
            } else {
                spelled.append(next)
            }
        }
        return spelled
    }

    /// Reads the name of a directory under `shared/`. Returns nil when no owner has such a
    /// directory.
    package init?(fileName: [UInt8]) {
        let encoded = fileName.flatMap {
            $0 == UInt8(ascii: "@") ? [UInt8(ascii: "%")] + Self.sign : [$0]
        }
        guard let name = NameCodec.decode(encoded) else { return nil }
        self.init(bytes: name)
        if self.fileName != fileName { return nil }
    }

    /// The digits that follow `%` in the encoding of `@`.
    private static let sign = Array("40".utf8)
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
