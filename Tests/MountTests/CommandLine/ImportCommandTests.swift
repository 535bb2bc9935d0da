import Glibc
import Testing

extension MountTests {
    @Suite struct ImportCommandTests {
        private let home: CommandLineHome

        init() throws { home = try CommandLineHome() }

        @Test("bad rows are named by file and line, the others go in, and the status is 1")
        func badRows() throws {
            let path = try home.file(
                "rows.json",
                "[\n  {\"id\": \"a\", \"n\": 1},\n  {\"id\": \"b\", \"n\": },\n"
                    + "  {\"id\": \"c\", \"$n\": \"x\"},\n  {\"id\": \"d\", \"n\": 4}\n]\n")
            let result = try home.recordfs("import", path, "local/A/Row")
            #expect(result.status == 1)
            #expect(result.errors.contains("\(path):3:20: "), "\(result)")
            #expect(result.errors.contains("\(path):4: "), "\(result)")
            #expect(result.errors.contains("2 created, 0 updated, 0 unchanged, 2 failed"))
            #expect(try home.recordfs("ls", "local/A/Row").output == "a.json\nd.json\n")
            let strict = try home.recordfs("import", "--strict", path, "local/B/Row")
            #expect(strict.status == 1)
            #expect(try home.recordfs("ls", "local/B/Row").output == "a.json\n")
        }

        @Test("a record's name with an @ is taken, and what a directory has besides is named")
        func signs() throws {
            try home.ok(
                """
                mkdir -p rows/sub; cd rows
                for i in john.doe@example.com soup tea@noon; do echo '{"n": "'$i'"}' > $i.json; done
                touch soup@photo.jpg soup@data.json notes.md .hidden
                """)
            let result = try home.recordfs("import", "\(home.folder)/rows", "local/A/Row")
            #expect(result.status == 0, "\(result)")
            #expect(
                try home.ok("recordfs ls local/A/Row")
                    == "john.doe%40example.com.json\nsoup.json\ntea%40noon.json")
            for name in ["soup@photo.jpg", "soup@data.json", "notes.md", ".hidden", "sub"] {
                #expect(result.errors.contains("note: \(name) is left out: "), "\(result)")
            }
            try home.ok("echo '{}' | recordfs put local/B/Row/a.b@example.com.json")
            #expect(try home.ok("recordfs ls local/B/Row") == "a.b%40example.com.json")
            try home.ok("echo '{}' | recordfs put local/B/Row/a.b")
            try home.ok("echo bytes | recordfs put local/B/Row/a.b@example.com.json")
            #expect(try home.ok("recordfs get local/B/Row/a.b@example.com.json") == "bytes")
        }

        @Test("rows come from standard input, of a file named --at, and from a directory")
        func sources() throws {
            let input = "{\"id\": \"a\"}\n{\"id\": \"b\"}\n"
            let piped = try home.recordfs(
                "import", "-q", "--format", "ndjson", "-", "local/A/Row", input: input)
            #expect(piped.status == 0 && piped.errors == "")
            #expect(try home.recordfs("import", "-", "local/A/Row", input: input).status == 1)
            let path = try home.file(
                "rows.json", "{\"x\": [{\"id\": \"c\"}], \"y\": [{\"id\": \"d\"}]}")
            #expect(try home.recordfs("import", "-q", "--at", "y", path, "local/A/Row").status == 0)
            try SystemCall.makeDirectory("\(home.folder)/rows")
            _ = try home.file("rows/e.json", "{ \"n\" : 1.0 }")
            #expect(
                try home.recordfs("import", "-q", "\(home.folder)/rows", "local/A/Row").status == 0)
            #expect(
                try home.recordfs("ls", "local/A/Row").output
                    == "a.json\nb.json\nd.json\ne.json\n")
            #expect(try home.recordfs("get", "local/A/Row/e").output == "{ \"n\" : 1.0 }")
        }

        @Test("an import beside a mount goes through its process", arguments: ["csv", "ndjson"])
        func besideMount(format: String) throws {
            let mounted = try MountedStore()
            let rows = (0..<450).map {
                format == "csv" ? "row-\($0),\($0)" : "{\"id\": \"row-\($0)\", \"n\": \($0)}"
            }
            let path = try home.file(
                "rows.\(format)", ((format == "csv" ? ["id,n"] : []) + rows).joined(separator: "\n")
            )
            let rehearsed = try mounted.recordfs("import", "--dry-run", path, "private/A/Row")
            #expect(rehearsed.contains("would create 450, update 0"), "\(rehearsed)")
            #expect(try !SystemCall.list("\(mounted.mountPoint)/private").contains("A"))
            try mounted.recordfs("import", "-q", path, "private/A/Row")
            let folder = "\(mounted.mountPoint)/private/A/Row"
            #expect(try SystemCall.list(folder).count == 450)
            #expect(try SystemCall.readText("\(folder)/row-7.json").contains("\"n\": 7"))
            let out = "\(home.folder)/out.csv"
            try mounted.recordfs("export", "-o", out, "private/A/Row")
            #expect(try SystemCall.readText(out).hasPrefix("$name,$parent,id,n\nrow-0,,row-0,0\n"))
        }

        @Test("--dry-run says names, types, counts and refusals, and makes no store")
        func dryRun() throws {
            let path = try home.file(
                "rows.csv", "First name;n\nA;1\nB;2,5\nC;\n")
            let state = "\(home.folder)/state"
            let result = try home.recordfs(
                "import", "--state", state, "--dry-run", path, "local/A/Row")
            #expect(result.status == 0, "\(result)")
            #expect(access(state, F_OK) != 0)
            for text in [
                "3 rows, separated by semicolons", "records would be named row-HASH", "First_name",
                "header: First name | n", #"{"First_name":"B","n":2.5}"#, "decimal comma: n",
                "STRING", "\"First name\" becomes the field First_name",
                "would create 3, update 0, leave 0 as they are, refuse 0",
            ] {
                #expect(result.output.contains(text), "\(text): \(result)")
            }
            try home.recordfs("import", "-q", path, "local/A/Row")
            let again = try home.recordfs("import", "--dry-run", path, "local/A/Row")
            #expect(again.output.contains("would create 0, update 0, leave 3"), "\(again)")
        }

        @Test("many refused rows are grouped by reason, and all are in a file that is named")
        func grouped() throws {
            let rows = (0..<300).map {
                "{\"id\": \($0), \"n\": \($0 % 3 == 0 ? "\"x\"" : $0 % 3 == 1 ? "[1]" : "2")}"
            }
            _ = try home.recordfs("put", "local/A/Row/first", input: "{\"n\": 1}")
            let path = try home.file("rows.json", "[" + rows.joined(separator: ",") + "]")
            let result = try home.recordfs("import", path, "local/A/Row")
            #expect(result.status == 1)
            let lines = result.errors.split(separator: "\n").map(String.init)
            #expect(lines.contains("\(path): 200 rows refused:"), "\(result)")
            #expect(lines.filter { $0.hasPrefix("  100 rows, first \(path): row ") }.count == 2)
            #expect(result.errors.contains("100 created, 0 updated, 0 unchanged, 200 failed"))
            let file = try #require(lines.first { $0.hasPrefix("All of them: ") }).dropFirst(13)
            let all = try SystemCall.readText(String(file)).split(separator: "\n")
            #expect(all.count == 200)
            #expect(all.first?.hasPrefix("\(path): row 1: field \"n\" is INT64") == true)
        }

        @Test("a table that is not UTF-8 is refused with its line, and read with its encoding")
        func encoding() throws {
            let path = "\(home.folder)/rows.csv"
            _ = try home.shell(#"printf 'id,v\na,caf\351\n' > rows.csv"#)
            let refused = try home.recordfs("import", path, "local/A/Row")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("line 2 is not UTF-8"), "\(refused)")
            #expect(try home.recordfs("ls", "local/A/Row").status != 0)
            let taken = try home.recordfs(
                "import", "-q", "--encoding", "latin1", path, "local/A/Row")
            #expect(taken.status == 0, "\(taken)")
            #expect(try home.recordfs("get", "local/A/Row/a").output.contains("\"café\""))
        }

        @Test("3 and later 3.5, both written through the mount, are kept as they were written")
        func widening() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType("private/A/Row")
            try SystemCall.writeFile("\(folder)/a.json", "{\"n\": 3}\n")
            try SystemCall.writeFile("\(folder)/b.json", "{\"n\": 3.5}\n")
            #expect(try SystemCall.readText("\(folder)/a.json") == "{\"n\": 3}\n")
            #expect(try SystemCall.readText("\(folder)/b.json") == "{\"n\": 3.5}\n")
            #expect(try mounted.store.drafts() == 0)
            let schema = try SystemCall.readText(
                "\(mounted.mountPoint)/.recordfs/schema/development.ckdb")
            #expect(schema.contains("n DOUBLE"), "\(schema)")
            let matches = try mounted.recordfs("query", "private/A/Row", "n>=3")
            #expect(matches.split(separator: "\n").count == 2, "\(matches)")
        }

        @Test("without a terminal there is at most one line of progress a second")
        func progress() throws {
            let rows = (0..<3000).map { "{\"id\": \"row-\($0)\"}" }.joined(separator: "\n")
            let path = try home.file("rows.ndjson", rows)
            let start = ContinuousClock.now
            let result = try home.recordfs("import", path, "local/A/Row")
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let lines = result.errors.split(separator: "\n")
            #expect(Double(lines.count) <= seconds + 2)
            #expect(!result.errors.contains("\r"))
            #expect(lines.last?.hasPrefix("3 000 created") == true, "\(result)")
        }

        @Test("on a terminal there is a bar, which leaves nothing behind")
        func bar() throws {
            let rows = (0..<40_000).map { "{\"id\": \"row-\($0)\"}" }.joined(separator: "\n")
            _ = try home.file("rows.ndjson", rows)
            let result = try home.shell(
                "script -qec 'recordfs import rows.ndjson local/A/Row' /dev/null < /dev/null")
            #expect(result.output.contains("[#"), "\(result)")
            let shown = result.output.split(separator: "\r").last ?? ""
            #expect(shown.contains("40 000 created") || result.output.contains("40 000 created"))
        }
    }
}
