import RecordModel
import TestSupport
import Testing

@Suite("The strict JSON parser")
struct JSONParserTests {
    @Test(
        "what RFC 8259 allows is accepted",
        arguments: [
            "null", "true", "false", "0", "-0", "1.0", "-1.5e+10", "1E5", "1e-400", "\"\"", "[]",
            "{}", " [ 1 , 2 ] ", "\t{\r\n\"a\"\r:\n1}\n", "[[],[[]]]", "\"\\u00e9\\uD83D\\uDE00\"",
            "\"\u{7F}\u{80}\u{FFFF}\u{10FFFF}\"", "{\"\":1}", "{\"a\":{\"a\":1}}",
            "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "9223372036854775807", "-9223372036854775808",
            "100000000000000000000.5", "1.7976931348623157e308", "{\"__proto__\":1}",
            "\u{FEFF}{\"a\":1}", "[1]\r", "{\"é\":1,\"e\u{301}\":2}",
        ])
    func accepts(_ input: String) throws {
        _ = try JSONParser.parse(bytes(input))
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let input: [UInt8]
        let line: Int
        let column: Int
        let message: String
        var testDescription: String { "\(text(input)) \(message)" }

        init(_ input: String, _ line: Int, _ column: Int, _ message: String) {
            self.init(bytes(input), line, column, message)
        }
        init(_ input: [UInt8], _ line: Int, _ column: Int, _ message: String) {
            (self.input, self.line, self.column, self.message) = (input, line, column, message)
        }
    }

    static let structure = [
        Refused("", 1, 1, "found the end of the text"),
        Refused(" \n ", 2, 2, "found the end of the text"),
        Refused("{\"a\":1,}", 1, 7, "a comma cannot stand before \"}\""),
        Refused("[1,]", 1, 3, "a comma cannot stand before \"]\""),
        Refused("[1,,2]", 1, 4, "expected a value, found ,"),
        Refused("[,1]", 1, 2, "expected a value"),
        Refused("[1 2]", 1, 4, "expected \",\" or \"]\""),
        Refused("{\"a\" 1}", 1, 6, "expected \":\" after the key, found 1"),
        Refused("{\"a\"}", 1, 5, "expected \":\""),
        Refused("{a:1}", 1, 2, "expected a key in double quotes, found a"),
        Refused("{1:1}", 1, 2, "expected a key"),
        Refused("{'a':1}", 1, 2, "JSON has only double quotes"),
        Refused("{“a”:1}", 1, 2, "JSON has only straight quotes; write \" instead of “"),
        Refused("[‘a’]", 1, 2, "write \" instead of ‘"),
        Refused("{\"a\":1 \"b\":2}", 1, 8, "expected \",\" or \"}\""),
        Refused("{\n  \"a\": 1,\n  \"a\": 2\n}", 3, 3, "the key \"a\" is here twice"),
        Refused("{\"a\":1,\"\\u0061\":2}", 1, 8, "the key \"a\" is here twice"),
        Refused("{}{}", 1, 3, "expected the end of the text"),
        Refused("{} x", 1, 4, "expected the end of the text, found x"),
        Refused("// hi\n{}", 1, 1, "JSON has no comments"),
        Refused("{\"a\":1} # hi", 1, 9, "JSON has no comments"),
        Refused("]", 1, 1, "expected a value"),
        Refused("[1}", 1, 3, "expected \",\" or \"]\" after the element, found }"),
        Refused("{\"a\":1\r\n,\r\n\"b\":x}", 3, 5, "found x"),
        Refused(bytes("{\"a\":1}") + [0], 1, 8, "NUL byte"),
        Refused([0x7B, 0, 0x22], 1, 2, "NUL byte"),
        Refused([0xFF, 0xFE, 0x7B, 0], 1, 1, "UTF-16"),
        Refused([0xFE, 0xFF, 0, 0x7B], 1, 1, "UTF-16"),
        Refused([0, 0x7B, 0, 0x7D], 1, 1, "UTF-16"),
        Refused("\u{FEFF}\u{FEFF}{}", 1, 1, "expected a value"),
        Refused("\u{FEFF}[x]", 1, 2, "found x"),
        Refused("\u{A0}[]", 1, 1, "expected a value, found \u{A0}"),
        Refused("\u{0C}[]", 1, 1, "found byte 0xC"),
    ]

    static let scalars = [
        Refused("NaN", 1, 1, "found NaN: JSON does not have it; write null"),
        Refused("-Infinity", 1, 2, "found Infinity"),
        Refused("True", 1, 1, "write true"),
        Refused("None", 1, 1, "write null"),
        Refused("nul", 1, 1, "found nul: expected a value"),
        Refused("nulll", 1, 1, "found nulll"),
        Refused("tru", 1, 1, "found tru"),
        Refused("+1", 1, 1, "a number cannot begin with +"),
        Refused("01", 1, 1, "cannot begin with 0"),
        Refused("-01", 1, 2, "cannot begin with 0"),
        Refused("-", 1, 2, "expected a digit"),
        Refused("1.", 1, 3, "expected a digit after the decimal point"),
        Refused(".5", 1, 1, "expected a value"),
        Refused("1e", 1, 3, "expected a digit in the exponent"),
        Refused("1e+", 1, 4, "expected a digit in the exponent"),
        Refused("0x1F", 1, 1, "hexadecimal"),
        Refused("1a", 1, 2, "expected the end of the text, found a"),
        Refused("1e400", 1, 1, "range of a double"),
        Refused("-1e400", 1, 1, "range of a double"),
        Refused("[9223372036854775808]", 1, 2, "outside the 64-bit range"),
        Refused("-9223372036854775809", 1, 1, "outside the 64-bit range"),
        Refused("18446744073709551616", 1, 1, "outside the 64-bit range"),
        Refused("40000000000000000000", 1, 1, "outside the 64-bit range"),
        Refused("99999999999999999999999999999999", 1, 1, "outside the 64-bit range"),
        Refused("\"abc", 1, 5, "expected \" at the end of the string that begins at line 1"),
        Refused("[\"a\nb\"]", 1, 4, "write a line break as \\n"),
        Refused("\"a\tb\"", 1, 3, "must be written as \\t"),
        Refused("\"\u{1B}\"", 1, 2, "\\u001b"),
        Refused("\"\\x41\"", 1, 2, "begins one of"),
        Refused("\"\\u12G4\"", 1, 6, "4 hexadecimal digits"),
        Refused("\"\\u12", 1, 6, "found the end of the text"),
        Refused("\"\\u0000\"", 1, 2, "cannot hold \\u0000"),
        Refused([0x22, 0, 0x22], 1, 2, "cannot hold a NUL byte"),
        Refused("\"\\uD800\"", 1, 2, "surrogate"),
        Refused("\"\\uD800\\u0041\"", 1, 2, "surrogate"),
        Refused("\"\\uDC00\"", 1, 2, "surrogate"),
        Refused("\"\\uD800\\", 1, 2, "surrogate"),
        Refused([0x22, 0xFF, 0x22], 1, 2, "not valid UTF-8"),
        Refused([0x22, 0xE9, 0x22], 1, 2, "not valid UTF-8"),
        Refused([0x22, 0xC0, 0xAF, 0x22], 1, 2, "not valid UTF-8"),
        Refused([0x22, 0xE0, 0x80, 0xAF, 0x22], 1, 2, "not valid UTF-8"),
        Refused([0x22, 0xED, 0xA0, 0x80, 0x22], 1, 2, "not valid UTF-8"),
        Refused([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1, 2, "not valid UTF-8"),
        Refused([0x22, 0xF0, 0x9F, 0x98], 1, 2, "not valid UTF-8"),
    ]

    @Test("what is not JSON is refused with its place and words", arguments: structure + scalars)
    func refuses(_ refused: Refused) {
        let error = refusal { try JSONParser.parse(refused.input) }
        #expect(error?.code == .invalidJSON)
        #expect(error?.position?.line == refused.line)
        #expect(error?.position?.column == refused.column)
        let message = error?.message ?? ""
        #expect(message.contains(refused.message), "\(message)")
    }

    @Test("64 levels are accepted, 65 and 100 000 refused")
    func depth() throws {
        let deep = { (count: Int) in
            bytes(String(repeating: "[", count: count) + String(repeating: "]", count: count))
        }
        _ = try JSONParser.parse(deep(64))
        for count in [65, 100_000] {
            let error = refusal { try JSONParser.parse(deep(count)) }
            #expect(error?.message == "nested deeper than 64 levels")
            #expect(error?.position?.column == 65)
        }
        let objects = bytes(String(repeating: "{\"a\":", count: 100_000))
        #expect(refusal { try JSONParser.parse(objects) }?.code == .invalidJSON)
        let record = refusal { try RecordDocument(parsing: objects, schema: .empty) }
        #expect(record?.position?.offset == 64 * 5)
    }

    @Test("a text cut at any byte is refused as JSON, and nothing crashes")
    func truncation() throws {
        let whole = bytes(Samples.rich)
        _ = try RecordDocument(parsing: whole, schema: .empty)
        let end = try #require(whole.lastIndex(of: UInt8(ascii: "}")))
        for length in 0...end {
            let error = refusal {
                try RecordDocument(parsing: Array(whole[..<length]), schema: .empty)
            }
            #expect(error?.code == .invalidJSON, "\(length) bytes")
            #expect((error?.position?.offset ?? .max) <= length)
        }
    }

    @Test("any one byte changed gives an error or a document, never a crash")
    func mutation() {
        let whole = bytes(Samples.rich)
        var generator = SeededRandom(seed: 11)
        var refused = 0
        for _ in 0..<4000 {
            var mutated = whole
            mutated[Int.random(in: 0..<whole.count, using: &generator)] =
                UInt8.random(in: 0...255, using: &generator)
            do throws(RecordError) {
                _ = try RecordDocument(parsing: mutated, schema: .empty)
            } catch {
                refused += 1
                #expect(error.isAboutContent)
                #expect(error.position != nil)
            }
        }
        #expect(refused > 1000)
    }

    @Test("100 000 keys, a key and a string of 1 MB are read")
    func largeTexts() throws {
        let many = (0..<100_000).map { "\"k\($0)\":1" }.joined(separator: ",")
        #expect(try JSONParser.parse(bytes("{\(many)}")).object?.count == 100_000)
        let twice = "{\(many),\"k77\":1}"
        #expect(refusal { try JSONParser.parse(bytes(twice)) }?.message.contains("k77") == true)
        let long = String(repeating: "x", count: 1 << 20)
        let value = try JSONParser.parse(bytes("{\"\(long)\":\"\(long)\"}"))
        #expect(value[long]?.string?.utf8.count == 1 << 20)
    }

    @Test("integers are exact, and numbers keep their spelling")
    func numbers() throws {
        let value = try JSONParser.parse(
            bytes("[9007199254740993,-9223372036854775808,1.0,1.00,-0,0.1e1,1e22,5e-324]"))
        let numbers = try #require(value.array)
        #expect(numbers[0].int64 == 9_007_199_254_740_993)
        #expect(numbers[1].int64 == .min)
        #expect(numbers[2].int64 == nil)
        #expect(numbers[2] != numbers[3])
        #expect(numbers[2].double == numbers[3].double)
        #expect(numbers[4].int64 == 0)
        #expect(numbers[5].double == 1)
        #expect(numbers[6].double == 1e22)
        #expect(numbers[7].double == .leastNonzeroMagnitude)
        #expect(
            text(value.serialized())
                == "[9007199254740993,-9223372036854775808,1.0,1.00,-0,0.1e1,1e22,5e-324]")
    }

    @Test("doubles are read as the nearest one, as strtod reads them")
    func doubles() throws {
        var generator = SeededRandom(seed: 5)
        for _ in 0..<20_000 {
            let mantissa = Int64.random(
                in: -99_999_999_999_999_999...99_999_999_999_999_999, using: &generator)
            let shift = Int.random(in: 0...17, using: &generator)
            let small = mantissa / [1, 10, 1000, 1_000_000_000, 1_000_000_000_000][shift % 5]
            let spelling = "\(small).\(shift)e\(Int.random(in: -40...40, using: &generator))"
            let read = try JSONParser.parse(bytes(spelling)).double
            #expect(read == Double(spelling), "\(spelling)")
        }
    }

    @Test("the position of an error counts lines by LF and columns in bytes")
    func positions() {
        let text = bytes("{\r\n\"é\": 1,\n\n  \"b\": x}")
        let error = refusal { try JSONParser.parse(text) }
        #expect(error?.position == TextPosition(line: 4, column: 8, offset: text.count - 2))
        #expect(error?.description.hasPrefix("line 4, column 8: found x") == true)
    }
}
