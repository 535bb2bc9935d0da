import RecordModel
import Testing

@Suite("Schema texts")
struct SchemaTextTests {
    private let exported = """
        // exported
        DEFINE SCHEMA
            CREATE ROLE editor;

            RECORD TYPE Recipe (
                "___createTime" TIMESTAMP SORTABLE,
                "___recordID"   REFERENCE QUERYABLE, -- system
                title           STRING QUERYABLE SORTABLE SEARCHABLE,
                tags            LIST<STRING> QUERYABLE,
                amount          NUMBER PREFERRED AS INT64,
                weight          NUMBER,
                secret          ENCRYPTED STRING,
                "grant"         DOUBLE, /* a
                reserved word */
                steps           JSON,
                GRANT WRITE TO "_creator",
                GRANT READ, CREATE TO "_world"
            );
            record type Empty ();
        """

    @Test("what CloudKit's tools export is read")
    func reading() throws {
        let types = try SchemaText.parse(bytes(exported))
        #expect(types.map(\.0.description) == ["Recipe", "Empty"])
        #expect(
            types[0].1.fields.map { "\($0.name) \($0.type.name)" } == [
                "title STRING", "tags LIST<STRING>", "amount INT64", "weight DOUBLE",
                "secret STRING", "grant DOUBLE", "steps JSON",
            ])
        let title = types[0].1.fields[0]
        #expect(title.isQueryable && title.isSortable && title.isSearchable)
        #expect(types[0].1.fields[1].isQueryable && !types[0].1.fields[1].isSortable)
        #expect(types[0].1.fields[4].isEncrypted)
    }

    @Test("what is printed is read back the same")
    func roundTrip() throws {
        let types = try SchemaText.parse(bytes(exported))
        let printed = SchemaText.print(types)
        let again = try SchemaText.parse(printed)
        #expect(again.map(\.0) == types.map(\.0))
        #expect(again.map(\.1) == types.map(\.1))
        #expect(SchemaText.print(again) == printed)
        #expect(text(printed).contains("        \"grant\" DOUBLE,\n"))
        #expect(text(SchemaText.print([])) == "DEFINE SCHEMA\n")
    }

    @Test("all types of an adopted record are printed and read")
    func allTypes() throws {
        let adopted = try #require(RecordSchema.empty.adopting(document(Samples.rich)))
        let printed = SchemaText.print([(RecordTypeName("_T"), adopted)])
        let again = try SchemaText.parse(printed)
        #expect(again.first?.0 == RecordTypeName("_T"))
        #expect(again.first?.1 == adopted)
    }

    @Test(
        "errors say what was expected and where",
        arguments: [
            ("", 1, 1, "expected DEFINE, found the end of the text"),
            ("DEFINE SCHEMA\nRECORD Recipe", 2, 8, "expected TYPE, found \"Recipe\""),
            ("DEFINE SCHEMA RECORD TYPE A (\n  a TEXT\n);", 2, 5, "expected a type (STRING"),
            ("DEFINE SCHEMA RECORD TYPE A (\n  a STRING\n  b STRING);", 3, 3, "expected \")\""),
            ("DEFINE SCHEMA RECORD TYPE A (\n  a STRING,\n  a INT64);", 3, 3, "here twice"),
            ("DEFINE SCHEMA RECORD TYPE A ();RECORD TYPE A ();", 1, 44, "here twice"),
            ("DEFINE SCHEMA RECORD TYPE A ()", 1, 31, "expected \";\""),
            ("DEFINE SCHEMA RECORD TYPE A (a LIST<JSON>);", 1, 37, "no lists of JSON"),
            ("DEFINE SCHEMA /* open", 1, 15, "never closed"),
            ("DEFINE SCHEMA \"open", 1, 15, "never closed"),
            ("DEFINE SCHEMA ?", 1, 15, "unexpected character"),
            ("DEFINE SCHEMA RECORD TYPE A (GRANT EAT TO x);", 1, 36, "READ, CREATE or WRITE"),
        ] as [(String, Int, Int, String)])
    func errors(_ input: String, _ line: Int, _ column: Int, _ message: String) {
        let error = refusal { try SchemaText.parse(bytes(input)) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.position?.line == line)
        #expect(error?.position?.column == column)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
}
