/// Writes integers into the payload of a sealed token: fixed ones big-endian, counts with 7 bits a
/// byte.
struct TokenWriter {
    private(set) var bytes: [UInt8] = []

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    mutating func fixed64(_ value: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }

    mutating func fixed32(_ value: UInt32) {
        for shift in stride(from: 24, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(shift)))
        }
    }

    mutating func count(_ value: Int64) {
        var rest = UInt64(bitPattern: value)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}

/// Reads the bytes that `TokenWriter` wrote. Every read returns nil after the payload has ended.
struct TokenReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func fixed64() -> UInt64? {
        guard rest.count >= 8 else { return nil }
        var value: UInt64 = 0
        for _ in 0..<8 { value = value << 8 | UInt64(rest.removeFirst()) }
        return value
    }

    mutating func fixed32() -> UInt32? {
        guard rest.count >= 4 else { return nil }
        var value: UInt32 = 0
        for _ in 0..<4 { value = value << 8 | UInt32(rest.removeFirst()) }
        return value
    }

    mutating func count() -> Int64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = rest.popFirst() {
            guard shift < 64 else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int64(bitPattern: value) }
            shift += 7
        }
        return nil
    }
}
