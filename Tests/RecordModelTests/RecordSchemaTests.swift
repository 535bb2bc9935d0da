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

    @Test("a known field keeps its type")
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

    @Test("a fraction makes a field of whole numbers DOUBLE, and the indexes stay")
    func widening() throws {
        let old = RecordSchema(fields: [
            .init(
                name: "n", type: .int64, isQueryable: false, isSortable: true, isSearchable: false),
            .init(name: "list", type: .list(.int64)),
        ])
        let record = try document(#"{"n": 2.5, "list": [1, 0.5], "k": 1}"#, old)
        #expect(record["n"] == .double(2.5))
        #expect(record["list"] == .list([.double(1), .double(0.5)]))
        let new = try #require(old.adopting(record))
        #expect(new.fields.map(\.type) == [.double, .list(.double), .int64])
        #expect(new["n"]?.isQueryable == false && new["n"]?.isSortable == true)
        #expect(old.widened(in: new) == ["n", "list"])
        #expect(old.adopting(try document(#"{"n": 3, "list": [1]}"#, old)) == nil)
        #expect(new.adopting(try document(#"{"n": 3}"#, new)) == nil)
    }

    @Test("only whole numbers widen, and only where nobody has declared their type")
    func noWidening() throws {
        let first = try #require(RecordSchema.empty.adopting(document(#"{"price": 5}"#)))
        for (schema, text) in [
            (first, #"{"price": "5.5"}"#), (first, #"{"price": [5.5]}"#),
            (first.declared, #"{"price": 5.5}"#),
        ] {
            let error = refusal { try document(text, schema) }
            #expect(error?.code == .schemaMismatch)
            #expect(error?.message.contains("\"price\" is INT64 in the schema") == true)
            #expect(error?.message.contains("change the type in .recordfs/schema") == true)
        }
        #expect(try document(#"{"price": null}"#, first).fields.isEmpty)
    }

    @Test("a list is not widened beside a whole number that would be rounded")
    func inexactList() throws {
        let old = schema(("list", .list(.int64)))
        let error = refusal { try document(#"{"list": [9007199254740993, 0.5]}"#, old) }
        #expect(error?.message.contains("9007199254740993 would not be exact") == true)
        #expect(try document(#"{"list": [9007199254740992, 0.5]}"#, old).fields.count == 1)
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
