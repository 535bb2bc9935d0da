import Glibc
import RecordModel
import Testing

extension MountTests {
    /// The program as a user meets it, without a mount.
    @Suite struct CommandLineTests {
        private let home: CommandLineHome
        private static let soup = "private/Kitchen/Recipe/soup"

        init() throws { home = try CommandLineHome() }

        @Test("help and version go to standard output and succeed")
        func help() throws {
            let version = try home.recordfs("--version")
            #expect(
                version.status == 0 && version.output.hasPrefix("recordfs ") && version.errors == ""
            )
            for arguments in [["--help"], ["import", "--help"], ["draft", "list", "--help"]] {
                let help = try finish([try Executable.recordfs()] + arguments)
                #expect(help.status == 0 && help.output.contains("USAGE") && help.errors == "")
            }
        }

        @Test(
            "wrong usage ends with status 2 and says so on standard error",
            arguments: [
                ["cook"], ["get"], ["get", "--loud", "private/A/B/c"], ["import", "x.json"],
                ["import", "x.json", "private/A"], ["restore", "private/A"],
                ["completions", "tcsh"],
                ["debug", "ctl", "explode"], ["mount", "-o", "grace=soon"],
            ])
        func usage(arguments: [String]) throws {
            let result = try finish(
                [try Executable.recordfs()] + arguments, environment: home.environment)
            #expect(result.status == 2, "\(result)")
            #expect(result.output == "" && result.errors != "")
        }

        @Test("what is not there ends with status 3")
        func notFound() throws {
            #expect(try home.recordfs("get", Self.soup).status == 3)
            try home.recordfs("put", Self.soup, input: "{}")
            for arguments in [
                ["get", Self.soup + "2"], ["get", "private/Kitchen/Menu/x"],
                ["ls", "private/Barn"],
                ["rm", Self.soup + "2"], ["history", Self.soup + "2"], ["unmount", "/nowhere"],
                ["restore", Self.soup], ["draft", "show", Self.soup],
                ["import", "none.json", "local/A/B"],
            ] {
                let result = try finish(
                    [try Executable.recordfs()] + arguments, environment: home.environment)
                #expect(result.status == 3, "\(arguments): \(result)")
                #expect(result.errors.hasPrefix("recordfs: "), "\(result)")
                #expect(result.errors.split(separator: "\n").count == 1, "\(result)")
            }
        }

        @Test("a refused record names path, line and column, and what was there stays")
        func refused() throws {
            try home.recordfs("put", Self.soup, input: "{\"n\": 1}")
            let result = try home.recordfs("put", Self.soup, input: "{\n  \"n\": }")
            #expect(result.status == 1)
            #expect(
                result.errors.hasPrefix("recordfs: \(Self.soup): line 2, column 8: "), "\(result)")
            #expect(try home.recordfs("get", Self.soup).output == "{\"n\": 1}")
            #expect(try home.recordfs("draft", "list").output == "")
        }

        @Test("records are put, listed, moved, deleted and restored without a mount")
        func withoutMount() throws {
            #expect(
                try home.recordfs("put", "-v", Self.soup, input: "{\"n\": 1}").errors.contains(
                    "created"))
            #expect(try home.recordfs("ls").output == "local/\nprivate/\npublic/\nshared/\n")
            #expect(try home.recordfs("ls", "private/Kitchen/Recipe").output == "soup.json\n")
            #expect(try home.recordfs("mv", Self.soup, "private/Kitchen/Recipe/stew").status == 0)
            #expect(try home.recordfs("rm", "private/Kitchen/Recipe/stew").status == 0)
            #expect(try home.recordfs("rm", "-f", "private/Kitchen/Recipe/stew").status == 0)
            #expect(try home.recordfs("restore", "private/Kitchen/Recipe/stew").status == 0)
            #expect(try home.recordfs("get", "private/Kitchen/Recipe/stew").output == "{\"n\": 1}")
            #expect(try home.recordfs("rm", "private/Kitchen").status == 1)
            #expect(try home.recordfs("rm", "-r", "private/Kitchen").status == 0)
            #expect(try home.recordfs("ls", "private").output == "")
            let fsck = try home.recordfs("fsck", "--deep")
            #expect(fsck.status == 0 && fsck.output.hasSuffix(": clean\n"), "\(fsck)")
        }

        @Test("every --json is JSON that says what the text says")
        func json() throws {
            try home.recordfs("put", Self.soup, input: "{\"n\": 1}")
            try home.recordfs("put", Self.soup, input: "{\"n\": 2}")
            func lines(_ arguments: String...) throws -> [JSONValue] {
                let result = try finish(
                    [try Executable.recordfs()] + arguments, environment: home.environment)
                return try result.output.split(separator: "\n").map {
                    try JSONParser.parse(Array($0.utf8))
                }
            }
            #expect(try lines("ls", "--json", "private/Kitchen/Recipe")[0]["size"]?.int64 == 8)
            let versions = try lines("history", "--json", Self.soup)
            #expect(versions.compactMap { $0["change"]?.string?.string } == ["created", "updated"])
            let token = try #require(versions.first?["token"]?.int64)
            #expect(
                try home.recordfs("history", "--show", "\(token)", Self.soup).output == "{\"n\": 1}"
            )
            #expect(try home.recordfs("restore", "--token", "\(token)", Self.soup).status == 0)
            #expect(
                try lines("query", "--json", "private/Kitchen/Recipe", "n=1")[0]["n"]?.int64 == 1)
            #expect(try lines("doctor", "--json").allSatisfy { $0["check"] != nil })
            let status = try JSONParser.parse(
                Array(try home.recordfs("status", "--json").output.utf8))
            #expect(status["daemon"]?.isNull == true)
            #expect(status["zones"]?.array?.first?["records"]?.int64 == 1)
            #expect(status["state"]?.string?.string == "\(home.folder)/.local/share/recordfs")
        }

        @Test("--state and RECORDFS_STATE choose the store, before the command or behind it")
        func stores() throws {
            let other = "\(home.folder)/other"
            try home.recordfs("put", Self.soup, input: "{\"n\": 1}")
            try home.recordfs("put", "--state", other, Self.soup, input: "{\"n\": 2}")
            #expect(try home.recordfs("get", Self.soup).output == "{\"n\": 1}")
            #expect(try home.recordfs("--state", other, "get", Self.soup).output == "{\"n\": 2}")
            #expect(try home.recordfs("get", "--state=\(other)", Self.soup).output == "{\"n\": 2}")
            let result = try home.shell("RECORDFS_STATE=other recordfs get \(Self.soup)")
            #expect(result.output == "{\"n\": 2}")
        }

        @Test("commands that write at the same time wait for each other")
        func concurrent() throws {
            let result = try home.shell(
                """
                for i in $(seq 12); do
                    (echo "{\\"n\\": $i}" | recordfs put private/Z/T/r$i || touch failed) &
                done
                wait; test ! -e failed && recordfs ls private/Z/T | wc -l
                """)
            #expect(result.status == 0 && result.output == "12\n", "\(result)")
        }

        @Test("a reader that has enough ends a command quietly")
        func brokenPipe() throws {
            let rows = (0..<5000).map { "{\"id\": \"row-\($0)\"}" }.joined(separator: "\n")
            let path = try home.file("rows.ndjson", rows)
            #expect(try home.recordfs("import", "-q", path, "local/A/B").status == 0)
            for command in ["export --format ndjson local/A/B", "ls -l local/A/B"] {
                let result = try home.shell("recordfs \(command) | head -n 1 > first")
                #expect(result.status == 128 + SIGPIPE && result.errors == "", "\(result)")
            }
        }

        @Test("an unknown or wrong setting is named, and a right one holds")
        func settings() throws {
            let folder = "\(home.folder)/.config/recordfs"
            try SystemCall.makeDirectories(folder)
            for (text, word) in [
                ("{\"gracee\": 1}", "gracee"), ("{\"grace\": \"x\"}", "grace"), ("{", "line 1"),
            ] {
                try SystemCall.writeFile("\(folder)/config.json", text)
                let result = try home.recordfs("put", Self.soup, input: "{}")
                #expect(result.status == 1, "\(result)")
                #expect(result.errors.contains(word) && result.errors.contains("config.json"))
            }
            try SystemCall.writeFile("\(folder)/config.json", "{\"grace\": 0.5}")
            #expect(try home.recordfs("put", Self.soup, input: "{}").status == 0)
        }

        @Test("bash completes commands, options and record paths")
        func completion() throws {
            try home.recordfs("put", Self.soup, input: "{}")
            let result = try home.shell(
                """
                source <(recordfs completions bash)
                complete_line() {
                    COMP_WORDS=(recordfs "$@"); COMP_CWORD=$#; COMPREPLY=()
                    _recordfs 2> /dev/null; echo "${COMPREPLY[*]}"
                }
                complete_line imp
                complete_line draft d
                complete_line get priv
                complete_line get private/Kitchen/Recipe/s
                complete_line export --format n
                complete_line import --re
                recordfs __complete private/K
                """)
            #expect(
                result.output.split(separator: "\n") == [
                    "import", "discard", "private/", "private/Kitchen/Recipe/soup.json", "ndjson",
                    "--resume", "private/Kitchen/",
                ], "\(result)")
        }
    }
}
