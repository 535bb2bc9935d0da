import TestSupport
import Testing

extension MountTests {
    /// `recordfs new`, without a mount, on one, and with a model.
    @Suite struct NewCommandTests {
        private let home: CommandLineHome
        private static let uuid =
            "[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}"

        init() throws { home = try CommandLineHome() }

        @Test("a new record has the fields of its type and a name that is given, or a UUID")
        func plain() throws {
            try home.ok(
                """
                echo '{"title": "a", "n": 1, "photo": {"$asset": "a@photo.jpg"}}' |
                    recordfs put private/Kitchen/Recipe/a
                """)
            #expect(
                try home.ok("recordfs new private/Kitchen/Recipe tea")
                    == "private/Kitchen/Recipe/tea.json")
            #expect(
                try home.ok("recordfs get private/Kitchen/Recipe/tea")
                    == "{\n  \"title\": null,\n  \"n\": null\n}")
            #expect(
                try home.ok(
                    """
                    recordfs new private/Kitchen/Recipe |
                        grep -cE '^private/Kitchen/Recipe/\(Self.uuid).json$'
                    """
                ) == "1")
            #expect(
                try home.ok(#"recordfs get "$(recordfs new private/Barn/Cow)""#) == "{}")
        }

        @Test("a name that is there, or is no name, is refused, and nothing changes")
        func refused() throws {
            try home.ok("echo '{\"n\": 1}' | recordfs put private/Kitchen/Recipe/tea")
            for (arguments, status) in [
                ("private/Kitchen/Recipe tea", 1), ("private/Kitchen/Recipe tea.json", 1),
                ("private/Kitchen/Recipe a/b", 1), ("private/Kitchen/Recipe a@b", 1),
                ("private/Kitchen", 1), ("private/Kitchen/Recipe/tea", 1), ("/etc x", 3), ("", 2),
            ] {
                let result = try home.shell("recordfs new \(arguments)")
                #expect(result.status == status && result.output == "", "\(arguments): \(result)")
            }
            #expect(try home.ok("recordfs ls private/Kitchen/Recipe") == "tea.json")
            #expect(try home.ok("recordfs get private/Kitchen/Recipe/tea") == "{\"n\": 1}")
        }

        @Test("on a mount the path that it prints is that of the file, however the type is named")
        func mounted() throws {
            try home.ok("recordfs mount && mkdir -p RecordFS/private/Kitchen/Recipe")
            #expect(
                try home.ok(
                    """
                    echo '{"title": "Soup"}' > RecordFS/private/Kitchen/Recipe/a.json
                    ls RecordFS/private/Kitchen/Recipe/b.json 2>&1 | grep -c 'No such'
                    f=$(recordfs new RecordFS/private/Kitchen/Recipe/ b); echo "$f"; jq -c . "$f"
                    f=$(recordfs new ~/RecordFS/private/Kitchen/Recipe); jq -c . "$f"
                    cd RecordFS/private/Kitchen; recordfs new Recipe c; recordfs new ./Recipe d
                    cd Recipe; recordfs new . e; recordfs new private/Kitchen/Recipe f
                    sed -i 's/null/"Tea"/' "$(recordfs new .)"; grep -l Tea *.json | wc -l
                    recordfs new . a 2>/dev/null || echo there
                    """) == """
                        1
                        RecordFS/private/Kitchen/Recipe/b.json
                        {"title":null}
                        {"title":null}
                        Recipe/c.json
                        ./Recipe/d.json
                        ./e.json
                        f.json
                        1
                        there
                        """)
            try home.ok("recordfs unmount")
        }

        @Test(
            "a new object has the values that the model gives, and an attribute it requires stays")
        func object() throws {
            try home.ok(
                """
                cat > shop.json <<'END'
                {"entities": {
                    "Book": {"attributes": {
                        "title": {"type": "String", "required": true, "default": "", "minimum": 0},
                        "code": {"type": "String", "default": "x", "minimum": 2},
                        "isNew": {"type": "Boolean", "required": true, "default": true},
                        "price": {"type": "Decimal", "default": "1.50"},
                        "pages": {"type": "Integer 16", "default": 3},
                        "added": {"type": "Date", "default": 0}, "note": {"type": "String"},
                        "cover": {"type": "Binary"}},
                     "relationships": {"shelf": {"to": "Shelf", "inverse": "books"}}},
                    "Shelf": {"relationships": {"books": {"to": "Book", "many": true,
                                                          "inverse": "shelf"}}}}}
                END
                recordfs model attach shop.json && recordfs mount
                cd RecordFS && mkdir -p private/Z/Shelf
                echo '{"books": ["B1"]}' > private/Z/Shelf/S1.json
                recordfs new private/Z/Book B1
                """)
            #expect(
                try home.ok("cd RecordFS/private/Z; jq -c . Book/B1.json Shelf/S1.json") == """
                    {"title":"","code":null,"isNew":true,"price":"1.50","pages":3,\
                    "added":"2001-01-01T00:00:00.000Z","note":null,"shelf":"S1"}
                    {"books":["B1"]}
                    """)
            let result = try home.shell(
                "cd RecordFS/private/Z/Book; jq 'del(.isNew)' B1.json | sponge B1.json; cat .error")
            #expect(
                result.output.contains("\"isNew\" must have a value, such as true"), "\(result)")
            try home.ok("recordfs unmount && recordfs fsck --deep")
        }
    }
}
