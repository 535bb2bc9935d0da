package import RecordModel

/// Appends integers, most significant byte first, and byte strings with their length.
package struct ByteWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    /// Appends bytes without their length: for values with a fixed one.
    mutating func append(_ more: [UInt8]) { bytes += more }

    package mutating func append(_ value: Int64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> Int64(shift)))
        }
    }

    package mutating func appendCounted(_ more: [UInt8]) {
        append(Int64(more.count))
        bytes += more
    }
}

/// Reads the bytes that a `ByteWriter` wrote. Returns nil at the end.
package struct ByteReader {
    private var rest: ArraySlice<UInt8>

    package init(_ bytes: [UInt8]) { rest = bytes[...] }

    package var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    package mutating func int64() -> Int64? {
        bytes(8).map { $0.reduce(0) { $0 << 8 | Int64($1) } }
    }

    package mutating func counted() -> [UInt8]? {
        guard let count = int64(), let size = Int(exactly: count) else { return nil }
        return bytes(size)
    }
}

/// Bytes as lower-case hexadecimal digits.
package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes the text. Returns nil for anything except pairs of lower-case digits.
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = digits.firstIndex(of: text[index]),
                let low = digits.firstIndex(of: text[index + 1])
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }

    package static func isHexadecimal(_ text: Text, digits count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy(digits.contains)
    }
}
