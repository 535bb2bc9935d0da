import RecordModel
import Testing

@Suite("Sizes of pictures") struct ImageSizeTests {
    private static func number(_ value: Int, _ count: Int, isLittle: Bool = false) -> [UInt8] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isLittle ? bytes : bytes.reversed()
    }

    private static func png(_ width: Int, _ height: Int) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
            + number(width, 4) + number(height, 4) + [8, 6, 0, 0, 0]
    }

    private static func jpeg(_ width: Int, _ height: Int) -> [UInt8] {
        [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xFF, 0xC4, 0, 3, 9, 0xFF, 0xC2, 0, 17, 8]
            + number(height, 2) + number(width, 2) + [3]
    }

    private static func gif(_ width: Int, _ height: Int, frame: (Int, Int)? = nil) -> [UInt8] {
        var bytes =
            Array("GIF89a".utf8) + number(width, 2, isLittle: true)
            + number(height, 2, isLittle: true) + [0x80, 0, 0, 1, 2, 3, 4, 5, 6]
        bytes += [0x21, 0xF9, 4, 0, 0, 0, 0, 0]
        let (right, bottom) = frame ?? (width, height)
        bytes += [0x2C, 0, 0, 0, 0] + number(right, 2, isLittle: true)
        bytes += number(bottom, 2, isLittle: true) + [0, 2, 1, 7, 0, 0x3B]
        return bytes
    }

    private static func webp(_ kind: String, _ rest: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + [9, 0, 0, 0] + Array("WEBP\(kind)".utf8) + [9, 0, 0, 0] + rest
    }

    static let samples: [([UInt8], Int, Int)] = [
        (png(640, 480), 640, 480), (png(50_000, 50_000), 50_000, 50_000),
        (jpeg(640, 480), 640, 480), (jpeg(50_000, 50_000), 50_000, 50_000),
        (gif(64, 48), 64, 48), (gif(1, 1, frame: (50_000, 60_000)), 50_000, 60_000),
        (
            webp("VP8 ", [0, 0, 0, 0x9D, 1, 0x2A] + number(640, 2, isLittle: true) + [0xE0, 1]),
            640, 480
        ),
        (webp("VP8L", [0x2F] + number(639 | 479 << 14, 4, isLittle: true)), 640, 480),
        (
            webp(
                "VP8X",
                [0, 0, 0, 0] + number(49_999, 3, isLittle: true) + number(7, 3, isLittle: true)),
            50_000, 8
        ),
    ]

    @Test("the size is what the head says", arguments: samples)
    func sizes(_ bytes: [UInt8], _ width: Int, _ height: Int) throws {
        let size = try #require(ImageSize(of: bytes))
        #expect(size.width == width && size.height == height)
        #expect(size.fits(4_096) == (max(width, height) <= 4_096))
        // A picture that is cut is no larger than a whole one, and nothing traps.
        for count in bytes.indices {
            if let cut = ImageSize(of: Array(bytes.prefix(count))) {
                #expect(cut.width <= width && cut.height <= height)
            }
        }
    }

    @Test("what is no picture has no size")
    func none() {
        for bytes in [[], Array("<svg width='1'/>".utf8), [0xFF, 0xD8, 0xFF], Self.png(0, 5)] {
            #expect(ImageSize(of: bytes) == nil)
        }
    }
}
