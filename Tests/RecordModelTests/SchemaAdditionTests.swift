import RecordModel
import Testing

/// Schemas that are added to others.
@Suite struct SchemaAdditionTests {
    private func document(_ types: String) throws -> SchemaDocument {
        try SchemaDocument(parsing: Array("DEFINE SCHEMA \(types)".utf8))
    }

    /// The items as `TYPE.FIELD state`.
    private func states(_ addition: SchemaAddition) -> [String] {
        addition.items.map { item in
            "\(item.type)" + (item.field.map { ".\($0.name)" } ?? "") + " \(item.state)"
        }
    }

    @Test("new types and fields are added, and others stay")
    func new() throws {
        let there = try document(
            "RECORD TYPE A (x INT64, GRANT READ TO \"_icloud\"); RECORD TYPE Z (z ASSET);")
        let added = try document(
            "RECORD TYPE A (w STRING, x INT64); RECORD TYPE B (\"___etag\" STRING, b BYTES);")
        let addition = SchemaAddition(of: added, to: there)
        #expect(states(addition) == ["A there", "A.w new", "A.x there", "B new", "B.b new"])
        #expect(!addition.isEmpty && addition.refused.isEmpty)
        #expect(
            addition.merged
                == (try document(
                    """
                    RECORD TYPE A (w STRING, x INT64, GRANT READ TO "_icloud"); RECORD TYPE Z (z ASSET);
                    RECORD TYPE B ("___etag" STRING, b BYTES);
                    """)))
        #expect(SchemaAddition(of: added, to: addition.merged).isEmpty)
        #expect(SchemaAddition(of: added, to: addition.merged).merged == addition.merged)
    }

    @Test("a field of another type, or encrypted on one side, is a conflict and stays")
    func conflicts() throws {
        let there = try document(
            "RECORD TYPE A (x INT64, y STRING, n NUMBER, p NUMBER PREFERRED AS INT64);")
        let addition = SchemaAddition(
            of: try document("RECORD TYPE A (x DOUBLE, y ENCRYPTED STRING, n INT64, p INT64);"),
            to: there)
        #expect(
            states(addition) == [
                "A there", "A.x conflict(\"INT64\")", "A.y conflict(\"STRING\")", "A.n there",
                "A.p there",
            ])
        #expect(addition.refused.count == 2)
        #expect(addition.merged == there)
    }

    @Test("indexes are added, and none is taken away")
    func indexes() throws {
        let there = try document("RECORD TYPE A (x STRING SEARCHABLE, y INT64 SORTABLE);")
        let addition = SchemaAddition(
            of: try document("RECORD TYPE A (x STRING QUERYABLE, y INT64 SORTABLE);"), to: there)
        #expect(states(addition) == ["A there", "A.x indexed([\"QUERYABLE\"])", "A.y there"])
        #expect(
            addition.merged
                == (try document("RECORD TYPE A (x STRING QUERYABLE SEARCHABLE, y INT64 SORTABLE);"))
        )
    }

    @Test("257 fields with those that are there are too many, system fields not counted")
    func fields() throws {
        func type(_ prefix: String, _ count: Int) throws -> SchemaDocument {
            let fields = (0..<count).map { "\(prefix)\($0) INT64" }.joined(separator: ", ")
            return try document("RECORD TYPE A (\(fields), \"___recordID\" REFERENCE);")
        }
        let there = try type("a", 200)
        #expect(SchemaAddition(of: try type("b", 56), to: there).refused.isEmpty)
        let addition = SchemaAddition(of: try type("b", 57), to: there)
        #expect(addition.refused.map(\.state) == [.tooManyFields(257)])
        #expect(
            SchemaAddition(of: try type("b", 257), to: SchemaDocument()).refused.map(\.state)
                == [.tooManyFields(257)])
    }
}
