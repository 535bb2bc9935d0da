import RecordModel
package import RecordWire

/// The bytes under which an index finds a value.
package enum IndexKey {
    /// Longer texts and bytes are cut: values that differ can have one key.
    package static let maximumBytes = 256

    /// Compares byte by byte as values of one field type do, numbers of both types among each
    /// other; at most `maximumBytes`. Nil for what has no order: assets and lists.
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

    /// Eight bytes that compare as the numbers do; both zeros are one.
    package static func double(_ number: Double) -> [UInt8] {
        let bits = (number == 0 ? 0 : number).bitPattern
        return bigEndian(bits & signBit == 0 ? bits ^ signBit : ~bits)
    }

    /// The nearest double, and how far the number is from it: below 2^53 nothing, and never more
    /// than 512. So whole numbers and fractions are in one order, and no two numbers in one place.
    private static func integer(_ number: Int64) -> [UInt8] {
        let nearest = Double(number)
        // 2^63, which no Int64 is, is the nearest of the greatest ones.
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

    /// The first key after this one.
    package static func next(after key: [UInt8]) -> [UInt8] { key + [0] }

    /// The first key that does not begin with `prefix`; nil when there is none.
    package static func end(ofPrefix prefix: [UInt8]) -> [UInt8]? {
        var end = prefix
        while let last = end.popLast() {
            if last < 0xFF { return end + [last + 1] }
        }
        return nil
    }

    /// The key under which the index of elements or words has the records with more of them than
    /// it keeps. No text begins with this byte.
    package static let overflow: [UInt8] = [0xFF]
    /// How many different elements or words of one field an index keeps of a record.
    package static let maximumEntries = 256
}
