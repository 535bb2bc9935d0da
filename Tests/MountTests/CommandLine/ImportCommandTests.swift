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
                    + "  {\"id\": \"c\", \"n\": \"x\"},\n  {\"id\": \"d\", \"n\": 4}\n]\n")
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
            try mounted.recordfs("import", "-q", path, "private/A/Row")
            let folder = "\(mounted.mountPoint)/private/A/Row"
            #expect(try SystemCall.list(folder).count == 450)
            #expect(try SystemCall.readText("\(folder)/row-7.json").contains("\"n\": 7"))
            let out = "\(home.folder)/out.csv"
            try mounted.recordfs("export", "-o", out, "private/A/Row")
            #expect(try SystemCall.readText(out).hasPrefix("$name,$parent,id,n\nrow-0,,row-0,0\n"))
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
