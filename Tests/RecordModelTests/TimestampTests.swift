import RecordModel
import Testing

@Suite("Times")
struct TimestampTests {
    private static let edges: [Int64] = [
        .min, .min + 1, -9_223_372_038, -9_223_372_037, -9_223_372_036, -1, 0, 1, 9_223_372_036,
        9_223_372_037, 1 << 33, .max - 1, .max,
    ]

    @Test("every time that a call can carry keeps its seconds and nanoseconds", arguments: edges)
    func kept(seconds: Int64) {
        for nanoseconds: Int64 in [0, 1, 145_224_192, 854_775_807, 999_999_999] {
            let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
            #expect(time.seconds == seconds)
            #expect(time.subsecond == nanoseconds)
        }
    }

    @Test("a stored time comes back, one beyond 1677 to 2262 as the end of that range")
    func stored() {
        for nanoseconds: Int64 in [.min, .min + 1, -1_000_000_001, -1, 0, 1, .max - 1, .max] {
            let time = Timestamp(nanoseconds: nanoseconds)
            #expect(time.nanoseconds == nanoseconds)
            #expect((0..<1_000_000_000).contains(time.subsecond))
            #expect(time.asStored == time)
        }
        #expect(Timestamp(seconds: -9_223_372_038).nanoseconds == .min)
        #expect(Timestamp(seconds: .min).asStored == Timestamp(nanoseconds: .min))
        #expect(Timestamp(seconds: 9_223_372_037).nanoseconds == .max)
        #expect(Timestamp(seconds: .max, nanoseconds: .max).asStored.nanoseconds == .max)
    }

    @Test("adding and subtracting stays at the end of the range instead of wrapping")
    func arithmetic() {
        for seconds in Self.edges {
            for other in Self.edges {
                let (time, age) = (Timestamp(seconds: seconds), Duration.seconds(other))
                #expect(((time + age) < time) == (other < 0 && time != Timestamp(seconds: .min)))
                #expect(((time - age) > time) == (other < 0 && time != Timestamp(seconds: .max)))
                _ = Timestamp(seconds: other) - time
            }
        }
        #expect(
            Timestamp(seconds: 5) + .milliseconds(-1)
                == Timestamp(seconds: 4, nanoseconds: 999_000_000))
        #expect(
            Timestamp(seconds: -1) - .nanoseconds(1)
                == Timestamp(seconds: -2, nanoseconds: 999_999_999))
        #expect(Timestamp(seconds: 7) - Timestamp(seconds: 9) == .seconds(-2))
    }

    @Test("every time has a text", arguments: edges)
    func text(seconds: Int64) {
        let time = Timestamp(seconds: seconds, nanoseconds: 999_999_999)
        let text = ISO8601.print(milliseconds: time.milliseconds)
        #expect(ISO8601.parse(Array(text.utf8)) == time.milliseconds || seconds.magnitude > 1 << 44)
    }
}

@Suite("Numbers of any size")
struct ExtremeNumberTests {
    @Test(
        "a number with an exponent of any length is read, or refused with its place",
        arguments: [
            "1e-9223372036854775808", "1e-9223372036854775809", "1e9223372036854775807", "0e-400",
            "0e9223372036854775807", "1.5e-2147483649", "-1e-9223372036854775808", "1e22", "1e23",
        ])
    func exponents(spelling: String) {
        do throws(RecordError) {
            let value = try JSONParser.parse(Array("{\"n\": \(spelling)}".utf8))
            #expect(value["n"]?.double == Double(spelling))
        } catch {
            #expect(error.code == .invalidJSON)
            #expect(error.position?.column == 7)
            #expect(Double(spelling)?.isFinite != true)
        }
    }

    @Test("random texts of digits, signs and points never trap and agree with strtod")
    func randomNumbers() {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("0123456789019283746500000999998888.eE+--".utf8)
        for _ in 0..<20_000 {
            let spelling = (0..<Int.random(in: 1...24, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0x30
            }
            guard let value = try? JSONParser.parse(spelling) else { continue }
            let expected = Double(String(decoding: spelling, as: UTF8.self))
            #expect(value.double == expected, "\(String(decoding: spelling, as: UTF8.self))")
        }
    }
}
