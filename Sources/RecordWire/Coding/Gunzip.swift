import RecordModel

/// Reads gzip files (RFC 1952) with one member.
package enum Gunzip {
    /// Returns the bytes of a file.
    ///
    /// Errors: badRequest when it is no such file, limitExceeded for more than `maximumBytes`.
    package static func decompress(
        _ file: [UInt8], maximumBytes: Int
    ) throws(ServerError) -> [UInt8] {
        guard file.count >= 18, file.starts(with: [0x1F, 0x8B, 8]), file[3] & 0xE0 == 0 else {
            throw broken
        }
        let start = try contentStart(file)
        var inflater = Inflater(file[start..<(file.count - 8)], maximumBytes: maximumBytes)
        let bytes = try inflater.inflate()
        guard number(file, at: file.count - 8) == CRC32.of(bytes),
            number(file, at: file.count - 4) == UInt32(truncatingIfNeeded: bytes.count)
        else { throw broken }
        return bytes
    }

    static let broken = ServerError(
        .badRequest, "The body is no gzip file, although it is said to be.")

    /// Returns the place after the header, whose optional parts are skipped.
    private static func contentStart(_ file: [UInt8]) throws(ServerError) -> Int {
        let flags = file[3]
        var at = 10
        if flags & 4 != 0 {
            guard at + 2 <= file.count else { throw broken }
            at += 2 + Int(file[at]) + Int(file[at + 1]) << 8
        }
        for flag in [UInt8(8), 16] where flags & flag != 0 {
            guard at < file.count, let end = file[at...].firstIndex(of: 0) else { throw broken }
            at = end + 1
        }
        if flags & 2 != 0 { at += 2 }
        guard at + 8 <= file.count else { throw broken }
        return at
    }

    private static func number(_ file: [UInt8], at place: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(file[place + $1]) << UInt32(8 * $1) }
    }
}

/// Reads deflate (RFC 1951).
private struct Inflater {
    private let input: ArraySlice<UInt8>
    private var at: Int
    private var bits: UInt32 = 0
    private var bitCount: UInt32 = 0
    private var output: [UInt8] = []
    private let maximumBytes: Int

    init(_ input: ArraySlice<UInt8>, maximumBytes: Int) {
        self.input = input
        self.maximumBytes = maximumBytes
        at = input.startIndex
    }

    mutating func inflate() throws(ServerError) -> [UInt8] {
        var isLast = false
        while !isLast {
            isLast = try take(1) == 1
            switch try take(2) {
            case 0: try copyStored()
            case 1: try read(HuffmanCode.fixedLiterals, HuffmanCode.fixedDistances)
            case 2:
                let (literals, distances) = try readCodes()
                try read(literals, distances)
            default: throw Gunzip.broken
            }
        }
        return output
    }

    private mutating func take(_ count: UInt32) throws(ServerError) -> Int {
        while bitCount < count {
            guard at < input.endIndex else { throw Gunzip.broken }
            bits |= UInt32(input[at]) << bitCount
            at += 1
            bitCount += 8
        }
        let value = bits & (1 << count - 1)
        bits >>= count
        bitCount -= count
        return Int(value)
    }

    private mutating func symbol(_ code: HuffmanCode) throws(ServerError) -> Int {
        var (value, first, index) = (0, 0, 0)
        for length in 1...HuffmanCode.longest {
            value |= try take(1)
            let count = code.counts[length]
            if value - count < first { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw Gunzip.broken
    }

    private func checkRoom(_ count: Int) throws(ServerError) {
        guard output.count + count <= maximumBytes else {
            throw ServerError(
                .limitExceeded, "The body is larger than \(maximumBytes) bytes when it is unpacked."
            )
        }
    }

    private mutating func copyStored() throws(ServerError) {
        (bits, bitCount) = (0, 0)
        guard at + 4 <= input.endIndex else { throw Gunzip.broken }
        let count = Int(input[at]) | Int(input[at + 1]) << 8
        let check = Int(input[at + 2]) | Int(input[at + 3]) << 8
        at += 4
        guard count == ~check & 0xFFFF, at + count <= input.endIndex else { throw Gunzip.broken }
        try checkRoom(count)
        output += input[at..<(at + count)]
        at += count
    }

    private mutating func read(
        _ literals: HuffmanCode, _ distances: HuffmanCode
    ) throws(ServerError) {
        while true {
            let symbol = try symbol(literals)
            if symbol < 256 {
                try checkRoom(1)
                output.append(UInt8(symbol))
                continue
            }
            if symbol == 256 { return }
            guard symbol - 257 < Self.lengths.count else { throw Gunzip.broken }
            let length = Self.lengths[symbol - 257]
            let count = length.base + (try take(length.extra))
            let place = try self.symbol(distances)
            guard place < Self.distances.count else { throw Gunzip.broken }
            let distance = Self.distances[place].base + (try take(Self.distances[place].extra))
            guard distance <= output.count else { throw Gunzip.broken }
            try checkRoom(count)
            for _ in 0..<count { output.append(output[output.count - distance]) }
        }
    }

    private static let order = [
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
    ]

    private mutating func readCodes() throws(ServerError) -> (HuffmanCode, HuffmanCode) {
        let literalCount = try take(5) + 257
        let distanceCount = try take(5) + 1
        let lengthCount = try take(4) + 4
        guard literalCount <= 286, distanceCount <= 30 else { throw Gunzip.broken }
        var lengths = [Int](repeating: 0, count: 19)
        for place in Self.order.prefix(lengthCount) { lengths[place] = try take(3) }
        let code = try HuffmanCode(lengths)
        var all: [Int] = []
        while all.count < literalCount + distanceCount {
            let symbol = try symbol(code)
            switch symbol {
            case ..<16: all.append(symbol)
            case 16:
                guard let last = all.last else { throw Gunzip.broken }
                all += [Int](repeating: last, count: try take(2) + 3)
            case 17: all += [Int](repeating: 0, count: try take(3) + 3)
            default: all += [Int](repeating: 0, count: try take(7) + 11)
            }
        }
        guard all.count == literalCount + distanceCount, all[256] > 0 else {
            throw Gunzip.broken
        }
        return (
            try HuffmanCode(Array(all[..<literalCount])),
            try HuffmanCode(Array(all[literalCount...]))
        )
    }

    /// The lengths of RFC 1951, section 3.2.5.
    private static let lengths: [(base: Int, extra: UInt32)] = zip(
        [
            3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99,
            115,
            131, 163, 195, 227, 258,
        ],
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0]
    ).map { ($0, UInt32($1)) }

    private static let distances: [(base: Int, extra: UInt32)] = zip(
        [
            1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025,
            1537,
            2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
        ],
        [
            0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12,
            12,
            13, 13,
        ]
    ).map { ($0, UInt32($1)) }
}

/// A canonical code: the number of symbols of each length, and the symbols in their order.
private struct HuffmanCode {
    static let longest = 15

    let counts: [Int]
    let symbols: [Int]

    /// Creates the code.
    ///
    /// Errors: badRequest for lengths that no code has.
    init(_ lengths: [Int]) throws(ServerError) {
        self.init(unchecked: lengths)
        var left = 1
        for length in 1...Self.longest {
            left = left << 1 - counts[length]
            guard left >= 0 else { throw Gunzip.broken }
        }
    }

    private init(unchecked lengths: [Int]) {
        var counts = [Int](repeating: 0, count: Self.longest + 1)
        for length in lengths where length > 0 { counts[length] += 1 }
        self.counts = counts
        symbols = lengths.indices.filter { lengths[$0] > 0 }
            .sorted { (lengths[$0], $0) < (lengths[$1], $1) }
    }

    static let fixedLiterals = HuffmanCode(
        unchecked: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    static let fixedDistances = HuffmanCode(unchecked: [Int](repeating: 5, count: 30))
}
