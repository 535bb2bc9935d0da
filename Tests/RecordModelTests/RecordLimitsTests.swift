import RecordModel
import Testing

@Suite("The size of a record")
struct RecordLimitsTests {
    private func text(valueBytes: Int) -> String {
        let full = valueBytes / 50_000
        let parts = (0..<full).map { _ in "\"\(String(repeating: "x", count: 50_000))\"" }
        let rest = "\"\(String(repeating: "y", count: valueBytes - full * 50_000))\""
        return "{\"a\": [\((parts + [rest]).joined(separator: ","))]}"
    }

    @Test("values of 1 MB fit, and one byte more does not", arguments: [-1, 0, 1])
    func limit(_ difference: Int) throws {
        let input = text(valueBytes: 1_000_000 + difference)
        guard difference > 0 else {
            _ = try document(input)
            return
        }
        let error = refusal { try document(input) }
        #expect(error?.code == .tooLarge)
        #expect(error?.message.contains("1000001 bytes") == true)
        #expect(error?.message.contains("field \"a\"") == true)
    }

    @Test("a text that can become an asset does not count")
    func longText() throws {
        let long = String(repeating: "x", count: 2_000_000)
        _ = try document("{\"story\": \"\(long)\", \"b\": 1}")
        _ = try document("{\"story\": {\"$bytes\": \"\(long)\"}}")
        let inList = refusal { try document("{\"story\": [\"\(long)\"]}") }
        #expect(inList?.code == .tooLarge)
        let nested = refusal { try document("{\"story\": {\"a\": \"\(long)\"}}") }
        #expect(nested?.code == .tooLarge)
    }

    @Test("many texts below the shown size add up")
    func manyTexts() throws {
        let part = String(repeating: "x", count: 65_536)
        let record = { (count: Int) in
            "{" + (0..<count).map { "\"f\($0)\": \"\(part)\"" }.joined(separator: ",") + "}"
        }
        _ = try document(record(15))
        #expect(refusal { try document(record(16)) }?.code == .tooLarge)
    }

    @Test("short integers count 8 bytes each")
    func integers() throws {
        let list = { (count: Int) in
            "{\"a\":[" + [String](repeating: "1", count: count).joined(separator: ",") + "]}"
        }
        _ = try document(list(125_000))
        #expect(refusal { try document(list(125_001)) }?.code == .tooLarge)
    }

    @Test(
        "nested values beyond what a record can hold are checked and not kept",
        arguments: ["1234567", "1", "true", "[]", "\"\"", "{\"a\": 1}", "{\"$asset\": \"a@b.c\"}"])
    func nested(element: String) {
        var limits = RecordLimits()
        limits.nestedValues = 1000
        let read = { (end: String) in
            let list = String(repeating: element + ",", count: 1000) + element
            return try RecordDocument(
                parsing: bytes("{\"n\": 1, \"a\": [\(list)\(end)"), schema: .empty, limits: limits)
        }
        let error = refusal { try read("]}") }
        #expect(error?.code == .tooLarge)
        #expect(error?.message.contains("field \"a\"") == true)
        let broken = refusal { try read("]") }
        #expect(broken?.code == .invalidJSON, "an error behind it is told")
    }

    @Test("what a list of assets says of them counts nothing")
    func assets() throws {
        var limits = RecordLimits()
        limits.recordBytes = 1000
        let asset = "{\"$asset\": \"a@b.c\", \"size\": 123456789}"
        let list = [String](repeating: asset, count: 1000).joined(separator: ",")
        let record = try RecordDocument(
            parsing: bytes("{\"a\": [\(list)]}"), schema: .empty, limits: limits)
        #expect(record.fields.count == 1)
    }

    @Test("a text over its own limit is refused before it is parsed")
    func textLimit() {
        var limits = RecordLimits()
        limits.textBytes = 10
        let error = refusal {
            try RecordDocument(parsing: bytes("{ not json "), schema: .empty, limits: limits)
        }
        #expect(error?.code == .tooLarge)
    }
}
