import RecordModel
import TestSupport
import Testing

/// Random JSON values.
struct JSONGenerator {
    var random: SeededRandom
    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func string() -> Text {
        let alphabet: [String] = [
            "a", "Z", "\"", "\\", "/", "\n", "\t", "\u{1}", "\u{7F}", "é", "e\u{301}", "😀",
            "\u{2028}", "\u{FFFD}", "$", " ", "\r",
        ]
        return Text((0..<int(0...8)).map { _ in alphabet[int(0...(alphabet.count - 1))] }.joined())
    }

    mutating func number() -> JSONNumber {
        if int(0...1) == 0 { return JSONNumber(Int64.random(in: .min ... .max, using: &random)) }
        let double = Double(bitPattern: random.next())
        return JSONNumber(double) ?? JSONNumber(Int64(0))
    }

    mutating func value(depth: Int = 0) -> JSONValue {
        switch int(0...(depth < 5 ? 7 : 4)) {
        case 0: return .null
        case 1: return .bool(int(0...1) == 1)
        case 2, 3: return .number(number())
        case 4: return .string(string())
        case 5: return .array((0..<int(0...4)).map { _ in value(depth: depth + 1) })
        default:
            return .object(
                (0..<int(0...4)).map {
                    JSONMember(
                        key: Text(utf8: string().utf8 + bytes("\($0)")),
                        value: value(depth: depth + 1))
                })
        }
    }
}

@Suite("Printing JSON")
struct JSONRoundTripTests {
    @Test("every value comes back from its text, in each layout", arguments: 0..<8)
    func roundTrip(seed: UInt64) throws {
        var generator = JSONGenerator(seed: seed)
        let layouts: [JSONWriter.Layout] = [
            .compact, .spaced, .pretty, .lines(newline: bytes("\r\n\t"), unit: bytes("\t")),
        ]
        for _ in 0..<300 {
            let value = generator.value()
            for layout in layouts {
                var writer = JSONWriter(layout: layout)
                writer.write(value)
                #expect(try JSONParser.parse(writer.bytes) == value)
            }
        }
    }

    @Test("the layouts are those of jq")
    func layouts() throws {
        let value: JSONValue = ["a": [1, ["b": nil]], "c": [], "d": true]
        #expect(text(value.serialized()) == #"{"a":[1,{"b":null}],"c":[],"d":true}"#)
        #expect(
            text(value.serialized(pretty: true)) == """
                {
                  "a": [
                    1,
                    {
                      "b": null
                    }
                  ],
                  "c": [],
                  "d": true
                }
                """)
    }

    @Test("only what must be escaped is")
    func escapes() {
        let value = JSONValue("é😀/\u{7F}\u{1}\u{8}\u{C}\n\r\t\"\\")
        #expect(
            text(value.serialized())
                == "\"é😀/\u{7F}\\u0001\\b\\f\\n\\r\\t\\\"\\\\\"")
    }

    @Test("bytes that JSON cannot hold are printed as U+FFFD, so that the text can be read")
    func unprintable() throws {
        let value = JSONValue.string(Text(utf8: [0x61, 0xFF, 0x00, 0xC3]))
        #expect(try JSONParser.parse(value.serialized()) == "a\u{FFFD}\u{FFFD}\u{FFFD}")
    }

    @Test("keys that Unicode calls equal are different keys")
    func normalisation() throws {
        let value = try JSONParser.parse(bytes("{\"\u{E9}\":1,\"e\u{301}\":2}"))
        #expect(value["\u{E9}"]?.int64 == 1)
        #expect(value["e\u{301}"]?.int64 == 2)
    }
}
