/// Makes gzip files (RFC 1952) quickly: one pass over the bytes, fixed codes (RFC 1951, section
/// 3.2.6).
///
/// Answers are JSON in which the same keys occur again and again, so that most of the gain is in
/// repetitions. The code is part of this package because zlib is not.
package enum Gzip {
    /// The smallest size that is compressed. A smaller answer fits into one packet anyway.
    package static let minimumBytes = 1_400

    package static func compress(_ bytes: [UInt8]) -> [UInt8] {
        // The file has no name and no time, and was made on Unix.
        var output = BitWriter(header: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3], capacity: bytes.count)
        bytes.withUnsafeBufferPointer { deflate($0, to: &output) }
        var file = output.finish()
        append(CRC32.of(bytes), to: &file)
        append(UInt32(truncatingIfNeeded: bytes.count), to: &file)
        return file
    }

    private static func append(_ number: UInt32, to file: inout [UInt8]) {
        for shift in stride(from: 0, to: 32, by: 8) {
            file.append(UInt8(truncatingIfNeeded: number >> UInt32(shift)))
        }
    }

    private static let hashBits: UInt32 = 15
    private static let window = 32_768
    private static let shortestMatch = 4
    private static let longestMatch = 258

    /// Writes one block. The last place of each four bytes is remembered, and the first match is
    /// used.
    private static func deflate(
        _ bytes: UnsafeBufferPointer<UInt8>, to output: inout BitWriter
    ) {
        output.append(0b011, count: 3)
        var places = [Int32](repeating: -1, count: 1 << Int(hashBits))
        var at = 0
        while at + shortestMatch <= bytes.count {
            let hash = hash(bytes, at)
            let before = Int(places[hash])
            places[hash] = Int32(truncatingIfNeeded: at)
            let length =
                before >= 0 && at - before <= window ? match(bytes, before, at) : 0
            if length >= shortestMatch {
                output.append(length: length, distance: at - before)
                at += length
            } else {
                output.append(literal: bytes[at])
                at += 1
            }
        }
        while at < bytes.count {
            output.append(literal: bytes[at])
            at += 1
        }
        output.appendEnd()
    }

    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>, _ at: Int) -> Int {
        let word =
            UInt32(bytes[at]) | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at + 2]) << 16
            | UInt32(bytes[at + 3]) << 24
        return Int((word &* 2_654_435_761) >> (32 - hashBits))
    }

    private static func match(
        _ bytes: UnsafeBufferPointer<UInt8>, _ before: Int, _ at: Int
    ) -> Int {
        let most = min(longestMatch, bytes.count - at)
        var length = 0
        while length < most, bytes[before + length] == bytes[at + length] { length += 1 }
        return length
    }
}

/// Writes the fixed codes of deflate, the lowest bit of a byte first.
private struct BitWriter {
    private var bytes: [UInt8]
    private var bits: UInt64 = 0
    private var count: UInt64 = 0

    init(header: [UInt8], capacity: Int) {
        bytes = header
        bytes.reserveCapacity(header.count + capacity / 3)
    }

    mutating func append(_ value: UInt32, count more: Int) {
        bits |= UInt64(value) << count
        count += UInt64(more)
        while count >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: bits))
            bits >>= 8
            count -= 8
        }
    }

    mutating func append(literal: UInt8) {
        let code = Codes.literals[Int(literal)]
        append(code.bits, count: code.count)
    }

    mutating func append(length: Int, distance: Int) {
        let index = Codes.lengthIndex[length - 3]
        let code = Codes.literals[257 + index]
        append(code.bits, count: code.count)
        append(UInt32(length - Codes.lengths[index].base), count: Codes.lengths[index].extra)
        var place = Codes.distances.count - 1
        while Codes.distances[place].base > distance { place -= 1 }
        append(Codes.reversed(UInt32(place), 5), count: 5)
        append(
            UInt32(distance - Codes.distances[place].base), count: Codes.distances[place].extra)
    }

    mutating func appendEnd() { append(0, count: 7) }

    mutating func finish() -> [UInt8] {
        if count > 0 { append(0, count: Int(8 - count)) }
        return bytes
    }
}

/// The tables of RFC 1951, sections 3.2.5 and 3.2.6.
private enum Codes {
    /// The codes of literals, the end and lengths.
    static let literals: [(bits: UInt32, count: Int)] = (0..<288).map { symbol in
        let (code, count) =
            switch symbol {
            case ..<144: (0x30 + symbol, 8)
            case ..<256: (0x190 + symbol - 144, 9)
            case ..<280: (symbol - 256, 7)
            default: (0xC0 + symbol - 280, 8)
            }
        return (reversed(UInt32(code), count), count)
    }

    static let lengths =
        ranges(
            from: 3, extras: [0, 0, 0, 0, 0, 0, 0, 0] + (4..<24).map { $0 / 4 })
        + [(base: 258, extra: 0)]
    static let distances = ranges(from: 1, extras: [0, 0] + (2..<30).map { $0 / 2 - 1 })

    /// The place in `lengths` for each length from 3.
    static let lengthIndex: [Int] = (3...258).map { length in
        lengths.lastIndex { $0.base <= length } ?? 0
    }

    private static func ranges(from first: Int, extras: [Int]) -> [(base: Int, extra: Int)] {
        var base = first
        return extras.map { extra in
            defer { base += 1 << extra }
            return (base, extra)
        }
    }

    static func reversed(_ code: UInt32, _ count: Int) -> UInt32 {
        (0..<count).reduce(0) { $0 | (code >> UInt32($1) & 1) << UInt32(count - 1 - $1) }
    }
}

/// The checksum of gzip files (RFC 1952, section 8).
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in
            value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1
        }
    }

    static func of(_ bytes: [UInt8]) -> UInt32 {
        let table = table
        return ~bytes.reduce(~UInt32(0)) { value, byte in
            table[Int((value ^ UInt32(byte)) & 0xFF)] ^ value >> 8
        }
    }
}
