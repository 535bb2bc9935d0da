extension Stem {
    /// The longest stem: with `.json` it fills a directory entry.
    package static let maximumBytes = 255 - ".json".utf8.count

    /// Creates the encoding of a name. When that is too long, it is shortened to its beginning,
    /// `%-` and 32 hexadecimal digits of the name's SHA-256, which no encoding can be.
    package init(encoding name: RecordName) {
        let encoded = NameCodec.encode(name.bytes)
        guard encoded.count > Self.maximumBytes else {
            self.init(bytes: encoded)
            return
        }
        let digest = Array(SHA256.hash(name.bytes).hex.utf8.prefix(32))
        var kept = Self.maximumBytes - 2 - digest.count
        while kept > 0, !Self.isBoundary(encoded, kept) { kept -= 1 }
        self.init(bytes: Array(encoded[..<kept]) + Array("%-".utf8) + digest)
    }

    /// The name whose encoding this is. It is nil when this is no encoding, also when it is
    /// shortened.
    package var decoded: RecordName? {
        guard !bytes.isEmpty, bytes.count <= Self.maximumBytes else { return nil }
        return NameCodec.decode(bytes).map { RecordName(bytes: $0) }
    }

    /// Indicates whether the stem is shortened, so that only a lookup can find the name.
    package var isShortened: Bool {
        guard bytes.count >= 34 else { return false }
        return bytes.suffix(34).starts(with: "%-".utf8)
            && bytes.suffix(32).allSatisfy { HexadecimalDigit.value($0) != nil }
    }

    /// `STEM.json`.
    package var fileName: [UInt8] { bytes + Array(".json".utf8) }

    /// Returns whether a cut before `index` leaves characters and escapes whole.
    private static func isBoundary(_ encoded: [UInt8], _ index: Int) -> Bool {
        encoded[index] & 0xC0 != 0x80 && encoded[index - 1] != UInt8(ascii: "%")
            && encoded[index - 2] != UInt8(ascii: "%")
    }
}
