import RecordModel
import RecordWire
import Testing

@testable import RecordServerCore

@Suite("Index keys")
struct IndexKeyTests {
    private func isOrdered(_ values: [WireValue]) -> Bool {
        let keys = values.compactMap(IndexKey.encode)
        return zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }
    }

    @Test("numbers of both types are in one order, with nothing equal that differs")
    func numbers() {
        let low: [WireValue] = [
            .double(-1.7e308), .double(-1.5e19), .int64(.min), .int64(.min + 1),
            .int64(-9_007_199_254_740_993), .int64(-9_007_199_254_740_992), .double(-1.5),
            .int64(-1), .double(-0.5), .int64(0),
        ]
        let high: [WireValue] = [
            .double(.leastNonzeroMagnitude), .int64(1), .double(1.5), .int64(9_007_199_254_740_992),
            .int64(9_007_199_254_740_993), .int64(9_007_199_254_740_995),
            .int64(.max - 512), .int64(.max - 1), .int64(.max), .double(0x1p63),
            .double(1.7e308),
        ]
        #expect(isOrdered(low + high))
        #expect(IndexKey.encode(.int64(5)) == IndexKey.encode(.double(5)))
        #expect(IndexKey.encode(.double(-0.0)) == IndexKey.encode(.double(0)))
        #expect(IndexKey.encode(.int64(.min)) == IndexKey.encode(.double(-0x1p63)))
    }

    @Test("times, texts and bytes compare as they do")
    func others() {
        let times: [Int64] = [-5, -1, 0, 1, .max]
        #expect(isOrdered(times.map { WireValue.timestamp(milliseconds: $0) }))
        let texts = ["", "A", "a", "a%", "ab", "b", "é"]
        #expect(isOrdered(texts.map { WireValue.string(Text($0)) }))
        let bytes: [[UInt8]] = [[], [0], [0, 0], [1], [255], [255, 255]]
        #expect(isOrdered(bytes.map { WireValue.bytes($0) }))
    }

    @Test("long texts are cut, assets and lists have no key")
    func limits() {
        let text = String(repeating: "x", count: 300)
        #expect(IndexKey.encode(.string(Text(text)))?.count == IndexKey.maximumBytes)
        #expect(IndexKey.encode(.asset(WireAsset(fileChecksum: "", size: 1))) == nil)
        #expect(IndexKey.encode(.list([])) == nil)
    }

    @Test("the end of a prefix is the first key without it")
    func prefixes() {
        #expect(IndexKey.end(ofPrefix: [1, 2]) == [1, 3])
        #expect(IndexKey.end(ofPrefix: [1, 255, 255]) == [2])
        #expect(IndexKey.end(ofPrefix: [255]) == nil)
        #expect(IndexKey.end(ofPrefix: []) == nil)
    }

    @Test("words are letters and digits in lower case, ideographs one by one")
    func words() {
        let words = Words.of("Hello, WORLD-2! Straße 東京タワー don't a_b")
        let expected = ["hello", "world", "2", "straße", "東", "京", "タワー", "don", "t", "a", "b"]
        #expect(Set(words.map { String(decoding: $0, as: UTF8.self) }) == Set(expected))
        #expect(Words.of(" .%_ ").isEmpty)
        let many = (0..<5_000).map { "w\($0)" }.joined(separator: " ")
        #expect(Words.of(Text(many), upTo: 256).count == 257)
        #expect(Words.of(Text("ß " + many), upTo: 256).count == 257)
    }

    @Test("distances are those of the globe")
    func distances() throws {
        let berlin = try #require(Location(latitude: 52.52, longitude: 13.405))
        let munich = try #require(Location(latitude: 48.137, longitude: 11.575))
        #expect(abs(berlin.metres(to: munich) - 504_200) < 1_000)
        let east = try #require(Location(latitude: 0, longitude: 179.9))
        let west = try #require(Location(latitude: 0, longitude: -179.9))
        #expect(abs(east.metres(to: west) - 22_239) < 10)
        #expect(berlin.metres(to: berlin) == 0)
    }
}
