/// The size of a picture in pixels, as its own header states it: a few bytes may ask for gigabytes
/// of memory.
package struct ImageSize: Hashable, Sendable {
    package let width: Int
    package let height: Int

    /// Reads the size. Returns nil when the header of a PNG, JPEG, WebP or GIF picture does not
    /// state it.
    package init?(of bytes: [UInt8]) {
        let size: (Int, Int)?
        switch ImageFormat(of: bytes) {
        case .png?: size = Self.png(bytes)
        case .jpeg?: size = Self.jpeg(bytes)
        case .webp?: size = Self.webp(bytes)
        case .gif?: size = Self.gif(bytes)
        case nil: size = nil
        }
        guard let size, size.0 > 0, size.1 > 0 else { return nil }
        (width, height) = size
    }

    /// Returns whether neither side is longer than `side`.
    package func fits(_ side: Int) -> Bool { width <= side && height <= side }

    /// Reads an unsigned number in network byte order. Returns nil after the end.
    private static func big(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int? {
        guard start >= 0, start + count <= bytes.count else { return nil }
        return bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func little(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int? {
        guard start >= 0, start + count <= bytes.count else { return nil }
        return bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private static func pair(_ width: Int?, _ height: Int?) -> (Int, Int)? {
        guard let width, let height else { return nil }
        return (width, height)
    }

    private static func png(_ bytes: [UInt8]) -> (Int, Int)? {
        guard bytes.dropFirst(12).starts(with: "IHDR".utf8) else { return nil }
        return pair(big(bytes, 16, 4), big(bytes, 20, 4))
    }

    /// Reads the size of a JPEG. The frame header follows segments that state their length.
    private static func jpeg(_ bytes: [UInt8]) -> (Int, Int)? {
        var at = 2
        while let mark = big(bytes, at, 2), mark >> 8 == 0xFF {
            let kind = mark & 0xFF
            guard kind != 0xFF else {
                at += 1
                continue
            }
            guard let length = big(bytes, at + 2, 2), length >= 2 else { return nil }
            if (0xC0...0xCF).contains(kind), ![0xC4, 0xC8, 0xCC].contains(kind) {
                return pair(big(bytes, at + 7, 2), big(bytes, at + 5, 2))
            }
            at += 2 + length
        }
        return nil
    }

    private static func webp(_ bytes: [UInt8]) -> (Int, Int)? {
        let kind = bytes.dropFirst(12).prefix(4)
        if kind.elementsEqual("VP8 ".utf8) {
            return pair(
                little(bytes, 26, 2).map { $0 & 0x3FFF }, little(bytes, 28, 2).map { $0 & 0x3FFF })
        }
        if kind.elementsEqual("VP8L".utf8) {
            guard let bits = little(bytes, 21, 4) else { return nil }
            return ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        }
        guard kind.elementsEqual("VP8X".utf8) else { return nil }
        return pair(little(bytes, 24, 3).map { $0 + 1 }, little(bytes, 27, 3).map { $0 + 1 })
    }

    /// Reads the size of the canvas, or of a frame that is larger.
    private static func gif(_ bytes: [UInt8]) -> (Int, Int)? {
        guard var width = little(bytes, 6, 2), var height = little(bytes, 8, 2),
            let flags = little(bytes, 10, 1)
        else { return nil }
        var at = 13 + colors(flags)
        while let block = little(bytes, at, 1), block != 0x3B {
            if block == 0x21 {
                at += 2
            } else {
                guard block == 0x2C, let right = little(bytes, at + 5, 2),
                    let bottom = little(bytes, at + 7, 2), let flags = little(bytes, at + 9, 1)
                else { return nil }
                (width, height) = (max(width, right), max(height, bottom))
                at += 11 + colors(flags)
            }
            while let count = little(bytes, at, 1), count > 0 { at += 1 + count }
            at += 1
        }
        return (width, height)
    }

    private static func colors(_ flags: Int) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << ((flags & 7) + 1)
    }
}
