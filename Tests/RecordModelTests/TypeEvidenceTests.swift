import RecordModel
import Testing

@Suite("What all values of a field say")
struct TypeEvidenceTests {
    private func evidence(_ values: String) throws -> TypeEvidence {
        var evidence = TypeEvidence()
        for value in try JSONParser.parse(bytes("[\(values)]")).array ?? [] { evidence.add(value) }
        return evidence
    }

    @Test(
        "the type is what all values have in common, in any order",
        arguments: [
            ("", nil), ("null, null", nil), ("[], []", nil), ("18, null, 3", "INT64"),
            ("18, 18.5", "DOUBLE"), ("1e3, 2", "DOUBLE"), ("true, 2", "INT64"),
            ("true, 2.5", "JSON"), ("\"a\", null", "STRING"), ("\"a\", 5", "JSON"),
            ("[], [1], [2.5]", "LIST<DOUBLE>"), ("[], [\"a\"]", "LIST<STRING>"),
            ("[\"a\"], \"a\"", "JSON"), ("[], \"a\"", "JSON"), ("[1], [\"a\"]", "JSON"),
            ("{\"k\": 1}, null", "JSON"), ("9007199254740993, 1", "INT64"),
            ("9007199254740992, 1.5", "DOUBLE"), ("9007199254740993, 1.5", "JSON"),
            ("{\"$timestamp\": \"2026-11-20T10:00:00Z\"}, \"2026-11-20T10:00:00Z\"", "TIMESTAMP"),
            ("[{\"$ref\": \"a\"}], []", "LIST<REFERENCE>"),
        ] as [(String, String?)])
    func common(values: String, type: String?) throws {
        #expect(try evidence(values).type?.name == type)
        let all = try JSONParser.parse(bytes("[\(values)]")).array ?? []
        var backwards = TypeEvidence()
        for value in all.reversed() { backwards.add(value) }
        #expect(backwards.type?.name == type)
    }

    @Test("a field is mixed when its plain values have nothing but JSON in common")
    func mixed() throws {
        #expect(try evidence("1, \"a\"").isMixed)
        #expect(try !evidence("{\"k\": 1}, 5").isMixed)
        #expect(try !evidence("1, 2.5").isMixed)
    }

    @Test("columns are numbers when all cells are, and one type holds them")
    func numeric() throws {
        #expect(try evidence("1, 2.5").isNumeric)
        #expect(try !evidence("1, \"n/a\"").isNumeric)
        #expect(try !evidence("9007199254740993, 0.5").isNumeric)
        #expect(try !evidence("").isNumeric)
        #expect(try evidence("{\"$ref\": \"a\"}").isTagged)
        #expect(try !evidence("{\"$ref\": \"a\"}, \"b\"").isTagged)
    }
}
