import Testing

extension MountTests {
    /// `recordfs sql` beside a mount.
    @Suite struct SQLCommandTests {
        private let home: CommandLineHome

        init() throws {
            home = try CommandLineHome.kitchen(3)
        }

        private func shell(_ script: String) throws -> ChildResult {
            try home.inKitchen(script)
        }

        private func sql(_ statement: String, _ options: String = "--csv") throws -> ChildResult {
            try shell("recordfs sql \(options) \"\(statement)\"")
        }

        @Test("each type is a table with a column for each member, and system columns")
        func tables() throws {
            let result = try shell(
                """
                cat > Recipe/soup.json <<'END'
                {"n": 9, "title": "Lauch, \\"fein\\"", "tags": ["a", "b"], "more": {"a": 1.5}, "ok": true, "x": 2.5}
                END
                printf 'p' > Recipe/soup@photo.jpg
                recordfs sql --csv 'SELECT * FROM Recipe WHERE n > 2 ORDER BY n' |
                    sed 's/20[0-9-]*T[0-9:.]*Z/TIME/g; s/"sha256":"[^"]*"/HASH/; s/""sha256"":""[^"]*""/HASH/'
                recordfs sql --json 'SELECT more ->> "a" AS a, t.value AS tag FROM Recipe, json_each(tags) t' 2>&1
                recordfs sql --json "SELECT more ->> 'a' AS a, t.value AS tag, x FROM Recipe, json_each(tags) t"
                recordfs sql 'SELECT count(*) AS count, sum(n), typeof(n) AS type FROM Recipe GROUP BY type'
                """)
            let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
            try #require(lines.count > 8, "\(result)")
            #expect(
                lines[0].hasPrefix("_name,n,title,tags,more,ok,x,"), "\(result)")
            #expect(lines[0].hasSuffix("_zone,_database,_owner,_created,_modified"))
            #expect(lines[1].hasPrefix("r3,3,,,,,,"), "\(result)")
            #expect(
                lines[2].hasPrefix(
                    #"soup,9,"Lauch, ""fein""","[""a"",""b""]","{""a"":1.5}",1,2.5,"#), "\(result)")
            #expect(lines[2].hasSuffix("Kitchen,private,\"\",TIME,TIME"), "\(result)")
            #expect(result.output.contains("no such column: a"), "\(result)")
            #expect(result.output.contains(#"{"a":1.5,"tag":"a","x":2.5}"#), "\(result)")
            #expect(
                result.output.hasSuffix("count  sum(n)  type\n    4      15  integer\n"),
                "\(result)")
        }

        @Test("the answer follows saves, removals, new fields, renames and restarts")
        func follows() throws {
            let question = """
                recordfs sql --csv 'SELECT _name, n FROM Recipe ORDER BY 1' | tail -n +2 | paste -sd ' '
                """
            let result = try shell(
                """
                \(question)
                echo '{"n": 7}' > Recipe/r1.json; rm Recipe/r2.json; mv Recipe/r3.json Recipe/new.json
                \(question)
                echo '{"n": 8, "m": 1}' > Recipe/r1.json
                recordfs sql --csv 'SELECT sum(m), sum(n) FROM Recipe' | tail -n 1
                mkdir Other; echo '{"a": 1}' > Other/o.json; mv Menu Karte
                recordfs sql --csv 'SELECT (SELECT count(*) FROM Other), (SELECT count(*) FROM Karte)' |
                    tail -n 1
                recordfs sql 'SELECT * FROM Menu'; echo $?
                mv Recipe/new.json ~/away; \(question); mv ~/away Recipe/new.json; \(question)
                rm Recipe/new.json; \(question)
                cd; recordfs unmount; \(question)
                """)
            let lines = result.output.replacing("\r", with: "").split(separator: "\n")
            #expect(
                lines == [
                    "r1,1 r2,2 r3,3", "new,3 r1,7", "1,11", "1,3", "1", "r1,8", "new,3 r1,8",
                    "r1,8", "r1,8",
                ], "\(result)")
            #expect(result.errors.contains("no such table: Menu"), "\(result)")
        }

        @Test("nothing can be changed, and no other file or table is read")
        func readOnly() throws {
            for statement in [
                "DELETE FROM Recipe", "INSERT INTO Recipe (n) VALUES (1)", "DROP VIEW Recipe",
                "CREATE TABLE x (a)", "ATTACH '/etc/passwd' AS p", "PRAGMA journal_mode = DELETE",
                "SELECT text FROM store.history", "SELECT * FROM store.record", "VACUUM",
                "SELECT load_extension('x')", "BEGIN", "UPDATE _history SET text = ''",
                "SELECT 1; DELETE FROM Recipe", "SELEC 1", "", "SELECT * FROM store.draft",
            ] {
                let result = try sql(statement)
                #expect(result.status == 1 && result.output == "", "\(statement): \(result)")
            }
            #expect(try sql("SELECT sum(n) FROM Recipe").output == "sum(n)\n6\n")
        }

        @Test("a wrong statement is shown with the place, and a long one is stopped")
        func errors() throws {
            let result = try sql("SELECT nn FROM Recipe", "")
            #expect(
                result.errors == "SELECT nn FROM Recipe\n       ^\nrecordfs: no such column: nn\n",
                "\(result)")
            let endless = try sql(
                "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
                "--timeout 1")
            #expect(endless.status == 1)
            #expect(endless.errors.contains("longer than 1 seconds"), "\(endless)")
        }

        @Test("history, records and types can be joined; statements come from standard input")
        func views() throws {
            let result = try shell(
                """
                recordfs set Recipe/r1.json n:=5 --author bot
                recordfs sql --csv <<'END' | tr -d '\\r'
                SELECT h.author, r.n FROM _history h JOIN Recipe r ON r._name = h.name
                    WHERE h.type = 'Recipe' AND h.name = 'r1' ORDER BY token;
                -- the state of each
                SELECT zone, type, count(*) AS n FROM _records GROUP BY 1, 2 ORDER BY 2;
                SELECT * FROM _types WHERE type = 'Menu';
                END
                """)
            #expect(
                result.output == """
                    author,n
                    mount,5
                    bot,5
                    zone,type,n
                    Kitchen,Menu,3
                    Kitchen,Recipe,3
                    type,field,fieldType
                    Menu,n,INT64

                    """, "\(result)")
        }

        @Test("names that SQL takes as one, and odd values, are in the answer")
        func names() throws {
            let result = try shell(
                """
                mkdir recipe; echo '{"a": 1, "A": "two", "select": null, "t": "x\\u001by"}' > recipe/x.json
                recordfs sql --json 'SELECT * FROM "recipe:2"' | jq -c '[.a, ."A:2", .t]'
                recordfs sql 'SELECT t FROM "recipe:2"'
                for type in waiting _history sqlite_x; do
                    mkdir $type && echo "{\\"of\\": \\"$type\\"}" > $type/x.json
                done
                recordfs sql --csv 'SELECT "of" FROM waiting UNION SELECT "of" FROM "_history:2"
                    UNION SELECT "of" FROM _sqlite_x WHERE (SELECT count(*) FROM _history) > 0' |
                    tail -n +2 | paste -sd ' '
                """)
            #expect(result.output.hasPrefix("[1,\"two\",\"x\\u001by\"]\nt\nx"), "\(result)")
            #expect(!result.output.contains("\u{1B}"), "\(result)")
            #expect(result.output.hasSuffix("\n_history sqlite_x waiting\n"), "\(result)")
        }
    }
}
