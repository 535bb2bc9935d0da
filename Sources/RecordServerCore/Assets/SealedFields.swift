import RecordModel

/// The parts of a sealed token, one after the other, each with its length before it.
struct SealedFields {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ part: [UInt8]) {
        append(Int64(part.count))
        bytes += part
    }

    mutating func append(_ number: Int64) {
        var rest = UInt64(bitPattern: number)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

/// Reads the parts that `SealedFields` wrote. Every read returns nil after the end of the bytes.
struct SealedFieldReader {
    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { at == bytes.count }

    mutating func number() -> Int64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while at < bytes.count, shift < 64 {
            let byte = bytes[at]
            at += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return Int64(bitPattern: value) }
            shift += 7
        }
        return nil
    }

    mutating func part() -> [UInt8]? {
        guard let count = number(), count >= 0, count <= bytes.count - at else { return nil }
        defer { at += Int(count) }
        return Array(bytes[at..<(at + Int(count))])
    }
}
