extension ByteName {
    /// The longest name of anything, in bytes: what a directory entry can hold.
    package static var maximumBytes: Int { ServerLimits.nameBytes }
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

extension RecordName {
    /// Whether a recordfs-server can have a record of this name.
    package var isOfWire: Bool {
        (1...ServerLimits.nameBytes).contains(bytes.count) && UTF8Sequence.isValid(bytes)
            && !NameCodec.holdsControls(bytes)
    }

    /// Whether a client may give it to a new record: names that begin with `_` are the server's.
    package var isFreeForClients: Bool { bytes.first != UInt8(ascii: "_") }
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

    /// The directory under `shared/`: the encoding of the name, but for `@`, which stands for itself.
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

    /// Nil for what is the directory of nobody.
    package init?(fileName: [UInt8]) {
        let encoded = fileName.flatMap {
            $0 == UInt8(ascii: "@") ? [UInt8(ascii: "%")] + Self.sign : [$0]
        }
        guard let name = NameCodec.decode(encoded) else { return nil }
        self.init(bytes: name)
        if self.fileName != fileName { return nil }
    }

    /// What follows `%` in the encoding of `@`.
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
