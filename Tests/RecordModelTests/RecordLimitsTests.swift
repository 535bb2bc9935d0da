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
        _ = try document("{\"story\": {\"a\": \"\(long)\"}}")
    }

    private func texts(_ sizes: [(String, Int)]) throws -> RecordDocument {
        try document(
            "{"
                + sizes.map { "\"\($0)\": \"\(String(repeating: "x", count: $1))\"" }
                .joined(separator: ",") + "}")
    }

    @Test("of many texts as many become assets as are over the limit, the largest first")
    func longFields() throws {
        let part = 65_536
        let many = (0..<15).map { ("f\($0)", part) }
        #expect(try texts(many).longFields() == [])
        #expect(try texts(many + [("g", part)]).longFields() == ["f0"])
        #expect(try texts(many + [("g", 3 * part)]).longFields() == ["g"])
        #expect(try texts([("a", 600_000), ("b", 300_000), ("c", 300_000)]).longFields() == ["a"])
    }

    @Test("which texts become assets stays while they grow and shrink a little")
    func stable() throws {
        let sizes = [("a", 400_000), ("b", 390_000), ("c", 300_000), ("d", 20_000)]
        let before = try texts(sizes).longFields()
        #expect(before == ["a"])
        for change in [-20_000, -1, 1, 20_000] {
            for place in sizes.indices where place != 3 {
                var edited = sizes
                edited[place].1 += change
                #expect(try texts(edited).longFields() == before)
            }
        }
    }

    @Test("a text that is long by its escapes becomes an asset")
    func escapes() throws {
        let controls = String(repeating: #"\u0001"#, count: 800_000)
        #expect(try document("{\"a\": \"\(controls)\"}").longFields() == ["a"])
        #expect(refusal { try document("{\"a\": [\"\(controls)\"]}") }?.code == .tooLarge)
    }

    @Test("a field whose asset would have the name of another one, or none, is not moved")
    func twins() throws {
        let name = String(repeating: "n", count: 250)
        #expect(
            try texts([("a", 450_000), ("a_ckAsset", 10), (name, 450_000), ("b", 200_000)])
                .longFields() == ["b"])
    }

    @Test(
        "references and assets are counted",
        arguments: [
            (#"{"$ref": "a"}"#, ServerLimits.references),
            (#"{"$asset":"a@b"}"#, ServerLimits.assets),
            (#""""#, ServerLimits.listElements),
        ])
    func counts(element: String, most: Int) throws {
        let list = { (count: Int) in
            "{\"a\":[" + [String](repeating: element, count: count).joined(separator: ",") + "]}"
        }
        _ = try document(list(most))
        #expect(refusal { try document(list(most + 1)) }?.code == .tooLarge)
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
