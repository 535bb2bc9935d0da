import Testing

@testable import RecordModel

@Suite("What JSON takes in memory") struct JSONSizeTests {
    @Test("a value takes 16 bytes, and usual numbers take nothing besides")
    func small() {
        #expect(MemoryLayout<JSONValue>.stride == 16)
    }

    @Test(
        "the estimate is above what arrays, members and texts take",
        arguments: [
            "[0,0,0,0]", "[[0],[0]]", "[\"a\",\"\"]", "{\"a\":0,\"b\":{\"c\":[]}}", "[[],[],[{}]]",
            "[1.5,-0,1e300]", "\"[0,0,0,0\\\",0,0]\"",
        ])
    func estimate(_ text: String) throws {
        let bytes = Array(text.utf8)
        let value = try JSONParser.parse(bytes)
        #expect(JSONSize.estimate(bytes) >= size(value))
    }

    /// Values and the storage of arrays and texts, each with a header of 32 bytes.
    private func size(_ value: JSONValue) -> Int {
        let own = MemoryLayout<JSONValue>.stride
        switch value {
        case .null, .bool, .number: return own
        case .string(let text): return own + (text.isEmpty ? 0 : 32 + text.utf8.count)
        case .array(let elements):
            return own + (elements.isEmpty ? 0 : 32) + elements.reduce(0) { $0 + size($1) }
        case .object(let members):
            return own + (members.isEmpty ? 0 : 32)
                + members.reduce(0) { $0 + 8 + 32 + $1.key.utf8.count + size($1.value) }
        }
    }

    @Test("long lists and objects have no more room than they need")
    func room() throws {
        let count = 70_000
        let list = "[" + String(repeating: "[0],", count: count - 1) + "\"],\"]"
        guard case .array(let elements) = try JSONParser.parse(Array(list.utf8)) else { return }
        #expect(elements.count == count)
        #expect(elements.capacity < count * 9 / 8)
        let named = (0..<count).map { "\"\($0)\":{\"a\":[1,2]}" }
        let object = "{" + named.joined(separator: ",") + "}"
        guard case .object(let members) = try JSONParser.parse(Array(object.utf8)) else { return }
        #expect(members.count == count)
        #expect(members.capacity < count * 9 / 8)
    }

    @Test("what is inside of a text is text")
    func texts() {
        let commas = "\"" + String(repeating: ",[{:\\\"", count: 1_000) + "\""
        #expect(JSONSize.estimate(Array(commas.utf8)) < commas.utf8.count + 200)
        for broken in ["\"", "\"\\", "\"a\\\"", "[\"", ""] {
            #expect(JSONSize.estimate(Array(broken.utf8)) >= broken.utf8.count)
        }
    }

    @Test("every spelling of a number is kept, and is another number than other spellings")
    func spellings() throws {
        let spellings = [
            "0", "-0", "0.0", "-0.0", "1", "-1", "10", "1e1", "1E1", "1.0", "1.00", "1e+1",
            "123456.7", "1234567.8", "12345678", "-1234567", "9223372036854775807",
            "-9223372036854775808", "1.7976931348623157e308", "0.12345678901234567890",
        ]
        var numbers: Set<JSONNumber> = []
        for spelling in spellings {
            let value = try JSONParser.parse(Array(spelling.utf8))
            guard case .number(let number) = value else {
                Issue.record("\(spelling) is \(value.kind)")
                continue
            }
            #expect(number.spelling == Array(spelling.utf8))
            #expect(number.spellingCount == spelling.utf8.count)
            #expect(number.int64 == Int64(spelling))
            #expect(number.double == Double(spelling))
            #expect(numbers.insert(number).inserted, "\(spelling)")
            #expect(value.serialized() == Array(spelling.utf8))
        }
        #expect(JSONNumber(Int64(12)) == (try number("12")))
        #expect(JSONNumber(1.5) == (try number("1.5")))
    }

    private func number(_ spelling: String) throws -> JSONNumber? {
        guard case .number(let number) = try JSONParser.parse(Array(spelling.utf8)) else {
            return nil
        }
        return number
    }
}
