import RecordModel
import Testing

@Suite("Schemas")
struct RecordSchemaTests {
    @Test("new fields are adopted in the order in which they come, with their types")
    func adoption() throws {
        let record = try document(Samples.rich)
        let adopted = try #require(RecordSchema.empty.adopting(record))
        #expect(
            adopted.fields.map { "\($0.name) \($0.type.name)" } == [
                "title STRING", "servings INT64", "price DOUBLE", "vegan INT64",
                "tags LIST<STRING>", "ratings LIST<DOUBLE>", "made TIMESTAMP", "thumb BYTES",
                "place LOCATION", "author REFERENCE", "photo ASSET", "steps JSON", "mixed JSON",
            ])
        #expect(adopted.adopting(record) == nil)
    }

    @Test("the type of a known field never changes")
    func knownFields() throws {
        let old = schema(("servings", .double))
        let record = try document(#"{"servings": 1, "new": 2}"#)
        let adopted = try #require(old.adopting(record))
        #expect(adopted.type(of: "servings") == .double)
        #expect(adopted.type(of: "new") == .int64)
        #expect(adopted.type(of: "other") == nil)
    }

    @Test("an empty list introduces no field until it has an element")
    func emptyList() throws {
        let empty = try document(#"{"tags": [], "steps": [[], {}]}"#)
        let adopted = RecordSchema.empty.adopting(empty)
        #expect(adopted?.fields.map(\.name) == ["steps"])
        let filled = try document(#"{"tags": ["a"]}"#)
        #expect(adopted?.adopting(filled)?.type(of: "tags") == .list(.string))
    }

    @Test("a document that was read under the old schema is refused under the new one")
    func evolution() throws {
        let first = try #require(RecordSchema.empty.adopting(document(#"{"price": 5}"#)))
        let error = refusal { try document(#"{"price": 5.5}"#, first) }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("\"price\" is INT64 in the schema") == true)
        #expect(error?.message.contains("change the type in .recordfs/schema") == true)
        #expect(try document(#"{"price": null}"#, first).fields.isEmpty)
    }

    @Test("type names are those of the schema language", arguments: FieldType.scalars)
    func typeNames(_ type: FieldType) {
        #expect(FieldType(name: type.name) == type)
        let list = FieldType(name: "LIST<\(type.name)>")
        #expect(list == (type == .json ? nil : .list(type)))
    }

    @Test("other type names are refused", arguments: ["", "string", "LIST<>", "LIST<LIST<INT64>>"])
    func badTypeNames(_ name: String) {
        #expect(FieldType(name: name) == nil)
    }

    @Test("of two fields with one name the first counts")
    func duplicates() {
        let twice = schema(("a", .string), ("a", .int64))
        #expect(twice.fields.count == 1)
        #expect(twice.type(of: "a") == .string)
    }
}
