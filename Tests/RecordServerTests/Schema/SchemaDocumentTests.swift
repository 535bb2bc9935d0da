import RecordModel
import ServerTestSupport
import TestSupport
import Testing

@Suite("Schema documents")
struct SchemaDocumentTests {
    private let exported = """
        // exported
        DEFINE SCHEMA

            CREATE ROLE editor;
            CREATE ROLE "grant";

            RECORD TYPE Users (
                "___createTime" TIMESTAMP,
                roles           LIST<INT64>,
                GRANT WRITE TO "_creator",
                GRANT READ TO "_world"
            );

            RECORD TYPE "cloudkit.share" (
                "cloudkit.title" STRING,
                "cloudkit.thumbnailImageData" BYTES,
                topic STRING
            );

            record type Recipe (
                "___recordID"   REFERENCE QUERYABLE SORTABLE, -- system
                "___modTime"    TIMESTAMP SORTABLE,
                title           STRING QUERYABLE SORTABLE SEARCHABLE,
                tags            LIST<STRING> QUERYABLE SEARCHABLE,
                amount          NUMBER PREFERRED AS INT64 SORTABLE,
                weight          NUMBER QUERYABLE,
                part            NUMBER PREFERRED AS DOUBLE,
                secret          ENCRYPTED STRING,
                secrets         LIST<ENCRYPTED DOUBLE>,
                "grant"         DOUBLE, /* a
                reserved word */
                photo           LIST<ASSET>,
                steps           JSON,
                GRANT WRITE, READ TO "_creator",
                GRANT READ, CREATE, WRITE TO editor
            );
        """

    private func parse(_ text: String) throws(RecordError) -> SchemaDocument {
        try SchemaDocument(parsing: Array(text.utf8))
    }

    @Test("roles, grants, system fields and numbers are read in their order")
    func reading() throws {
        let document = try parse(exported)
        #expect(document.roles == ["editor", "grant"])
        #expect(document.types.map(\.name.description) == ["Users", "cloudkit.share", "Recipe"])
        let recipe = document.types[2]
        #expect(recipe.grants.map(\.role) == ["_creator", "editor"])
        #expect(recipe.grants[1].permissions == [.read, .create, .write])
        #expect(
            recipe.fields.map(\.text) == [
                "\"___recordID\" REFERENCE QUERYABLE SORTABLE", "\"___modTime\" TIMESTAMP SORTABLE",
                "title STRING QUERYABLE SORTABLE SEARCHABLE",
                "tags LIST<STRING> QUERYABLE SEARCHABLE",
                "amount NUMBER PREFERRED AS INT64 SORTABLE",
                "weight NUMBER QUERYABLE", "part NUMBER PREFERRED AS DOUBLE",
                "secret ENCRYPTED STRING", "secrets LIST<ENCRYPTED DOUBLE>", "\"grant\" DOUBLE",
                "photo LIST<ASSET>", "steps JSON",
            ])
        #expect(recipe.fields[0].isSystem && !recipe.fields[2].isSystem)
    }

    @Test("what is printed is read back the same")
    func roundTrip() throws {
        let document = try parse(exported)
        let printed = document.print()
        #expect(try SchemaDocument(parsing: printed) == document)
        #expect(try SchemaDocument(parsing: printed).print() == printed)
        let text = String(decoding: printed, as: UTF8.self)
        #expect(text.contains("    CREATE ROLE \"grant\";\n"))
        #expect(text.contains("    RECORD TYPE \"cloudkit.share\" (\n"))
        #expect(text.contains("        GRANT WRITE, READ TO \"_creator\",\n"))
    }

    @Test(
        "errors have line and column",
        arguments: [
            ("\nRECORD TYPE A (a STRING, GRANT READ TO nobody);", 2, 40, "no role \"nobody\""),
            ("\nCREATE ROLE a;\nCREATE ROLE a;", 3, 1, "here twice"),
            ("\nRECORD TYPE A (a INT64 SEARCHABLE);", 2, 24, "cannot be SEARCHABLE"),
            ("\nRECORD TYPE A (a LIST<INT64> SORTABLE);", 2, 30, "cannot be SORTABLE"),
            ("\nRECORD TYPE A (a ASSET QUERYABLE);", 2, 24, "cannot be QUERYABLE"),
            ("\nRECORD TYPE A (a JSON QUERYABLE);", 2, 23, "cannot be QUERYABLE"),
            ("\nRECORD TYPE A (a ENCRYPTED STRING QUERYABLE);", 2, 35, "ENCRYPTED STRING"),
            ("\nRECORD TYPE A (a ENCRYPTED ASSET);", 2, 18, "cannot be ENCRYPTED"),
            ("\nRECORD TYPE A (\"___other\" STRING);", 2, 16, "no system field"),
            ("\nRECORD TYPE A (\"___modTime\" STRING);", 2, 29, "is TIMESTAMP"),
            ("\nRECORD TYPE A (\"a.b\" STRING);", 2, 16, "letters, digits"),
            ("\nRECORD TYPE A (_a STRING);", 2, 16, "letters, digits"),
            ("\nRECORD TYPE \"a b\" (a STRING);", 2, 13, "letters, digits"),
            ("\nRECORD TYPE A (a NUMBER PREFERRED AS STRING);", 2, 38, "INT64"),
            ("\nRECORD TYPE A (a LIST<LIST<STRING>>);", 2, 23, "expected a type"),
            ("\nRECORD TYPE A (a STRING,);", 2, 25, "name of a field"),
        ] as [(String, Int, Int, String)])
    func errors(_ text: String, _ line: Int, _ column: Int, _ message: String) {
        let error = #expect(throws: RecordError.self) { try parse("DEFINE SCHEMA" + text) }
        #expect(error?.position?.line == line)
        #expect(error?.position?.column == column)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
}
