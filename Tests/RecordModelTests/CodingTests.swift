import RecordModel
import TestSupport
import Testing

@Suite("Base 64 and dates")
struct CodingTests {
    @Test(
        "the vectors of RFC 4648",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ])
    func base64(_ plain: String, _ encoded: String) {
        #expect(text(Base64.encode(bytes(plain))) == encoded)
        #expect(Base64.decode(bytes(encoded)) == bytes(plain))
    }

    @Test("all bytes come back from base 64")
    func base64AllBytes() {
        for count in 0..<300 {
            let original = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            #expect(Base64.decode(Base64.encode(original)) == original)
        }
    }

    @Test(
        "base 64 without padding, with line breaks, stray bits or other letters is refused",
        arguments: [
            "Zg", "Zg=", "Zh==", "Zo==", "Zm+=", "Zm9=", "Zm 9v", "Zm9v\n", "====", "=", "Z===",
            "Zg==Zg==", "Zm-_",
        ])
    func base64Refused(_ encoded: String) {
        #expect(Base64.decode(bytes(encoded)) == nil)
    }

    @Test(
        "dates are read",
        arguments: [
            ("1970-01-01T00:00:00.000Z", 0), ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00Z", 0), ("1969-12-31T23:59:59.999Z", -1),
            ("2026-11-20T10:00:00.000Z", 1_795_168_800_000),
            ("2026-11-20T11:00:00+01:00", 1_795_168_800_000),
            ("2026-11-20T04:30:00-05:30", 1_795_168_800_000),
            ("2000-02-29T12:00:00Z", 951_825_600_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000),
            ("0000-12-30T00:00:00Z", -62_135_769_600_000), ("1970-01-01T00:00:00.5Z", 500),
            ("1970-01-01T00:00:00.123456789Z", 123),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
            ("+010000-01-01T00:00:00Z", 253_402_300_800_000),
            ("-000001-12-31T00:00:00Z", -62_167_305_600_000),
        ] as [(String, Int64)])
    func dates(_ date: String, _ milliseconds: Int64) {
        #expect(ISO8601.parse(bytes(date)) == milliseconds)
    }

    @Test(
        "what is no point in time is refused",
        arguments: [
            "", "2026-11-20", "2026-11-20T10:00:00", "2026-11-20 10:00:00Z", "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "1800-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-11-20T24:00:00Z", "2026-11-20T10:60:00Z", "2026-11-20T10:00:60Z",
            "2026-11-20T10:00:00.Z", "2026-11-20T10:00:00z", "26-11-20T10:00:00Z",
            "2026-11-20T10:00:00+0100", "2026-11-20T10:00:00ZZ", "2026-1-2T10:00:00Z",
            "+999999999-01-01T00:00:00Z", "2026-11-20T10:00:00.1234567890Z",
            "12026-11-20T10:00:00Z",
        ])
    func badDates(_ date: String) {
        #expect(ISO8601.parse(bytes(date)) == nil)
    }

    @Test("every millisecond of 64 bits comes back from its text")
    func dateRoundTrip() {
        var generator = SeededRandom(seed: 3)
        var samples: [Int64] = [
            .min, .max, 0, -1, 1, -62_135_596_800_000, -62_135_769_600_000, -62_167_219_200_001,
        ]
        for shift in 0..<40 {
            for _ in 0..<100 {
                samples.append(Int64(bitPattern: generator.next()) >> Int64(shift))
            }
        }
        for milliseconds in samples {
            let printed = ISO8601.print(milliseconds: milliseconds)
            #expect(ISO8601.parse(bytes(printed)) == milliseconds, "\(printed)")
        }
    }

    @Test("each day of eight centuries follows the one before it")
    func calendar() {
        var previous = ""
        for day in Int64(-300_000)..<0 {
            let printed = String(ISO8601.print(milliseconds: day * 86_400_000).prefix(10))
            #expect(printed > previous)
            previous = printed
        }
        #expect(previous == "1969-12-31")
        #expect(ISO8601.print(milliseconds: -300_000 * 86_400_000) == "1148-08-18T00:00:00.000Z")
    }

    @Test("dates are printed in UTC with milliseconds")
    func printing() {
        #expect(ISO8601.print(milliseconds: 1_795_168_800_007) == "2026-11-20T10:00:00.007Z")
        #expect(ISO8601.print(milliseconds: 253_402_300_800_000) == "+010000-01-01T00:00:00.000Z")
    }
}
