import Glibc
import TestSupport
import Testing

extension MountTests {
    /// The JSON Schemas for editors, against the mount itself and a validator that others wrote.
    @Suite struct EditorSchemaTests {
        private static let repository: String = {
            let parts = #filePath.split(separator: "/")
            return "/" + parts.dropLast(4).joined(separator: "/")
        }()
        /// `scripts/test` makes it, with jsonschema in it.
        private static let python = repository + "/.build/clients/bin/python"

        private let home: CommandLineHome

        init() throws {
            home = try CommandLineHome()
            try #require(
                access(Self.python, X_OK) == 0, "\(Self.python) is missing: scripts/test makes it")
        }

        /// Compares schema and mount for every value of a pool in each of the members.
        private func compare(
            _ place: String, _ members: [String], _ base: String = "{}"
        ) throws -> ChildResult {
            let list = members.map { "\"\($0)\"" }.joined(separator: ",")
            return try home.shell(
                """
                \(Self.python) \(Self.repository)/Tests/Clients/editor_schemas.py \
                    ~/RecordFS \(place) '[\(list)]' '\(base)'
                """)
        }

        @Test(
            "the schema of a plain type accepts what the mount saves, and refuses what it refuses")
        func plain() throws {
            let types = [
                "STRING", "INT64", "DOUBLE", "TIMESTAMP", "BYTES", "LOCATION", "REFERENCE", "ASSET",
                "JSON", "LIST<STRING>", "LIST<INT64>", "LIST<DOUBLE>", "LIST<TIMESTAMP>",
                "LIST<REFERENCE>", "LIST<ASSET>", "LIST<LOCATION>", "LIST<BYTES>",
            ]
            let fields = types.enumerated().map { "f\($0.offset) \($0.element)" }
            _ = try home.file(
                "all.ckdb",
                "DEFINE SCHEMA RECORD TYPE All ( \(fields.joined(separator: ", ")) );\n")
            try home.ok(
                """
                recordfs mount && recordfs schema apply all.ckdb
                mkdir -p RecordFS/private/Z/All RecordFS/private/Z/Grown
                echo '{"n": 1, "many": [1, 2], "t": "x"}' > RecordFS/private/Z/Grown/first.json
                """)
            let names = types.indices.map { "f\($0)" } + ["fresh"]
            let declared = try compare("private/Z/All", names)
            #expect(
                declared.status == 0 && declared.output.contains(" 0 differences"), "\(declared)")
            let grown = try compare("private/Z/Grown", ["t", "n", "many"])
            #expect(grown.status == 0, "\(grown)")
            try home.ok("recordfs unmount")
        }

        @Test("the schema of an entity has the rules of the model, and is there before any object")
        func entity() throws {
            try home.ok(
                """
                cat > shop.json <<'END'
                {"entities": {
                    "Book": {"attributes": {
                        "title": {"type": "String", "minimum": 1, "maximum": 3, "pattern": "[A-Za-z0-9]*"},
                        "isNew": {"type": "Boolean"}, "price": {"type": "Decimal"},
                        "pages": {"type": "Integer 16", "minimum": 1},
                        "count": {"type": "Integer 32", "required": true, "default": 3},
                        "size": {"type": "Integer 64"}, "weight": {"type": "Double", "maximum": 100},
                        "added": {"type": "Date"}, "code": {"type": "UUID"}, "link": {"type": "URI"},
                        "cover": {"type": "Binary"}},
                     "relationships": {"shelf": {"to": "Shelf", "inverse": "books"},
                                       "tags": {"to": "Tag", "many": true, "inverse": "books"}}},
                    "Shelf": {"relationships": {"books": {"to": "Book", "many": true,
                                                          "inverse": "shelf"}}},
                    "Tag": {"relationships": {"books": {"to": "Book", "many": true,
                                                        "inverse": "tags"}}}}}
                END
                recordfs model attach shop.json && recordfs mount && mkdir RecordFS/private/Z
                """)
            #expect(
                try home.ok("ls RecordFS/.recordfs/schema/private/Z")
                    == "Book.schema.json\nShelf.schema.json\nTag.schema.json")
            #expect(
                try home.ok(
                    """
                    cd RecordFS/.recordfs/schema/private/Z
                    jq -c '.properties.count.default, .properties.shelf.description, .required' \
                        Book.schema.json
                    echo x >> Book.schema.json 2>/dev/null || echo read-only
                    """) == """
                        3
                        "-> Shelf, inverse books"
                        ["count"]
                        read-only
                        """)
            try home.ok("mkdir RecordFS/private/Z/Book")
            let members = [
                "title", "isNew", "price", "pages", "size", "weight", "added", "code", "link",
                "cover", "tags", "CD_title", "CD_isNew", "CD_code", "CD_later", "CD_weight",
                "wrong",
            ]
            let result = try compare("private/Z/Book", members, "{\"count\": 1}")
            #expect(result.status == 0 && result.output.contains(" 0 differences"), "\(result)")
            let required = try compare("private/Z/Book", ["count"])
            #expect(required.status == 0, "\(required)")
            try home.ok("recordfs unmount")
        }
    }
}
