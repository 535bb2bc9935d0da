import RecordModel
package import RecordWire

/// The bytes under which an index finds a value.
package enum IndexKey {
    /// The most bytes of a key. Longer texts and bytes are cut, so that different values can have
    /// one key.
    package static let maximumBytes = 256

    /// Returns the key of a value, at most `maximumBytes`. Keys compare byte by byte as values of
    /// one field type do, and numbers of both types compare with each other. Returns nil for values
    /// without an order: assets and lists.
    package static func encode(_ value: WireValue) -> [UInt8]? {
        switch value {
        case .string(let text): Array(text.utf8.prefix(maximumBytes))
        case .bytes(let bytes): Array(bytes.prefix(maximumBytes))
        case .int64(let number): integer(number)
        case .double(let number): double(number) + [0x80, 0]
        case .timestamp(let milliseconds): bigEndian(UInt64(bitPattern: milliseconds) ^ signBit)
        case .location(let location): double(location.latitude) + double(location.longitude)
        case .reference(let reference): Array(reference.name.bytes.prefix(maximumBytes))
        case .asset, .list: nil
        }
    }

    /// Returns eight bytes that compare as the numbers do. Both zeros have the same bytes.
    package static func double(_ number: Double) -> [UInt8] {
        let bits = (number == 0 ? 0 : number).bitPattern
        return bigEndian(bits & signBit == 0 ? bits ^ signBit : ~bits)
    }

    /// Returns the nearest double, and the distance of the number from it: nothing below 2^53, and
    /// never more than 512. Whole numbers and fractions are therefore in one order, and no two
    /// numbers are in one place.
    private static func integer(_ number: Int64) -> [UInt8] {
        let nearest = Double(number)
        // The nearest double of the greatest numbers is 2^63, which is no Int64.
        let distance =
            nearest >= 0x1p63
            ? Int(number - Int64.max) - 1 : Int(number - Int64(nearest))
        let residue = UInt16(distance + 0x8000)
        return double(nearest) + [UInt8(residue >> 8), UInt8(residue & 0xFF)]
    }

    private static let signBit: UInt64 = 1 << 63

    private static func bigEndian(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
    }

    /// Returns the first key after this one.
    package static func next(after key: [UInt8]) -> [UInt8] { key + [0] }

    /// Returns the first key that does not begin with `prefix`. Returns nil when there is none.
    package static func end(ofPrefix prefix: [UInt8]) -> [UInt8]? {
        var end = prefix
        while let last = end.popLast() {
            if last < 0xFF { return end + [last + 1] }
        }
        return nil
    }

    /// The key under which the index of elements or words has the records with more of them than it
    /// keeps. No text begins with this byte.
    package static let overflow: [UInt8] = [0xFF]
    /// The most different elements or words of one field that an index keeps of a record.
    package static let maximumEntries = 256
}
