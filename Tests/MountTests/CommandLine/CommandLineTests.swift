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

        @Test("help says nothing of how the program is made, and ls without a path what it lists")
        func helpOfList() throws {
            let help = try home.recordfs("help", "ls")
            #expect(help.output.contains("working"), "\(help)")
            #expect(!help.output.contains("PathArgument") && !help.output.contains("default:"))
            try home.recordfs("put", Self.soup, input: "{}")
            #expect(try home.recordfs("ls").output == "local/\nprivate/\npublic/\nshared/\n")
        }

        @Test(
            "wrong usage ends with status 2 and says so on standard error",
            arguments: [
                ["cook"], ["get"], ["get", "--loud", "private/A/B/c"], ["import", "x.json"],
                ["import", "x.json", "private/A"], ["restore", "private/A"],
                ["completions", "tcsh"],
                ["debug", "ctl", "explode"], ["mount", "-o", "grace=soon"],
                ["mount", "-o", "cache=9999999999T"],
                ["mount", "--state", ""], ["status", "--state="], ["--state", "", "ls"],
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
            // The short check says what it has not looked at, the long one has left nothing out.
            let short = try home.recordfs("fsck")
            #expect(short.status == 0 && short.output.contains(": clean\nNot read: "), "\(short)")
            #expect(short.output.hasSuffix("recordfs fsck --deep reads them too.\n"), "\(short)")
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
                ("{\"cache\": \"some\"}", "500M"),
            ] {
                try SystemCall.writeFile("\(folder)/config.json", text)
                let result = try home.recordfs("put", Self.soup, input: "{}")
                #expect(result.status == 1, "\(result)")
                #expect(result.errors.contains(word) && result.errors.contains("config.json"))
            }
            try SystemCall.writeFile(
                "\(folder)/config.json", "{\"grace\": 0.5, \"cache\": \"10G\"}")
            #expect(try home.recordfs("put", Self.soup, input: "{}").status == 0)
        }

        @Test("a token of another record is refused, and nothing is changed")
        func foreignToken() throws {
            for (name, text) in [("JP", "{\"n\": 1}"), ("JP", "{\"n\": 2}"), ("FR", "{\"n\": 3}")] {
                try home.recordfs("put", "private/World/Country/\(name)", input: text)
            }
            // Another type of the zone has a record of the same file name.
            try home.recordfs("put", "private/World/City/JP", input: "{\"n\": 4}")
            try home.recordfs("rm", "private/World/City/JP")
            let first = try home.shell(
                "recordfs history --json private/World/Country/JP | head -n 1 | jq .token")
            let token = String(first.output.prefix { $0 != "\n" })
            let places = [
                "private/World/Country/FR", "private/World/City/JP", "private/World/Country/X",
            ]
            for place in places {
                for arguments in [["restore", "--token", token], ["history", "--show", token]] {
                    let result = try finish(
                        [try Executable.recordfs()] + arguments + [place],
                        environment: home.environment)
                    #expect(result.status == 3 && result.output == "", "\(arguments): \(result)")
                }
            }
            let versions = try home.shell(
                "for i in Country/JP Country/FR City/JP; do "
                    + "recordfs history --json private/World/$i | jq -r .change | xargs; done")
            #expect(versions.output == "created updated\ncreated\ncreated deleted\n", "\(versions)")
            #expect(try home.recordfs("get", "private/World/Country/JP").output == "{\"n\": 2}")
            #expect(
                try home.recordfs("restore", "--token", token, "private/World/Country/JP").status
                    == 0)
            #expect(try home.recordfs("get", "private/World/Country/JP").output == "{\"n\": 1}")
        }

        @Test("bash completes any record by its relative path on a mount")
        func relativeCompletion() throws {
            let rows = (0..<5000).map { "{\"id\": \"row-\($0)\"}" }.joined(separator: "\n")
            let path = try home.file("rows.ndjson", rows)
            try home.recordfs("import", "-q", path, "private/Kitchen/Recipe")
            let result = try home.shell(
                """
                recordfs mount > /dev/null; mkdir -p RecordFS/private/Kitchen/Menu
                source <(recordfs completions bash)
                complete_line() {
                    COMP_WORDS=(recordfs "$@"); COMP_CWORD=$#; COMPREPLY=()
                    _recordfs 2> /dev/null; echo "${COMPREPLY[*]}"
                }
                complete_line get ~/Rec
                complete_line get ~/RecordFS/private/Kitchen/Recipe/row-4999
                cd RecordFS; complete_line get pri
                cd private/Kitchen/Recipe
                complete_line get row-4999
                complete_line history row-499 | wc -w
                complete_line rm row-0.json row-7.j
                cd ../Menu
                complete_line get ../Recipe/row-4998.js
                complete_line ls ../R
                cd; recordfs unmount
                """)
            #expect(
                result.output.split(separator: "\n") == [
                    "\(home.folder)/RecordFS",
                    "\(home.folder)/RecordFS/private/Kitchen/Recipe/row-4999.json", "private/",
                    "row-4999.json", "11", "row-7.json", "../Recipe/row-4998.json", "../Recipe/",
                ], "\(result)")
        }

        @Test("bash completes tokens, moments and fields")
        func storeCompletion() throws {
            try home.recordfs("put", Self.soup, input: #"{"title": "soup", "time": 5}"#)
            try home.recordfs("put", Self.soup, input: #"{"title": "tea", "time": 5}"#)
            try home.recordfs("moment", "create", "before")
            let result = try home.shell(
                """
                source <(recordfs completions bash)
                complete_line() {
                    COMP_WORDS=(recordfs "$@"); COMP_CWORD=$#; COMPREPLY=()
                    _recordfs 2> /dev/null; echo "${COMPREPLY[*]}"
                }
                complete_line show ''; complete_line undo @1; complete_line diff be
                complete_line diff before private/Kitchen/Recipe/so; complete_line moment delete ''
                complete_line log --since b; complete_line set \(Self.soup) ti
                complete_line query private/Kitchen/Recipe ''; complete_line set \(Self.soup) title=x
                """)
            #expect(
                result.output
                    == """
                    @2 @1
                    @1
                    before
                    \(Self.soup).json
                    before
                    before
                    title= time=
                    title= time=


                    """, "\(result)")
        }

        @Test("query and search print paths that work where one stands, also with NUL")
        func relativePaths() throws {
            let result = try home.shell(
                """
                recordfs mount > /dev/null
                mkdir -p RecordFS/private/Kitchen/{Recipe,Menu}; cd RecordFS/private/Kitchen/Recipe
                for i in 'lime soup' -x; do echo '{"title": "soup"}' > "./$i.json"; done
                recordfs query . title=soup; recordfs query ../Recipe title=soup -0 | xargs -0 cat
                cd ../Menu; recordfs search private/Kitchen soup | sort
                recordfs search -0 .. soup | sort -z | tr '\\0' ';'; echo
                cd ../../..; recordfs query private/Kitchen/Recipe title=soup | tail -n 1
                cd; recordfs query private/Kitchen/Recipe title=soup | tail -n 1
                recordfs unmount
                """)
            #expect(
                result.output.split(separator: "\n") == [
                    "lime soup.json", "./-x.json", "{\"title\": \"soup\"}",
                    "{\"title\": \"soup\"}", "../Recipe/-x.json", "../Recipe/lime soup.json",
                    "../Recipe/-x.json;../Recipe/lime soup.json;",
                    "private/Kitchen/Recipe/-x.json", "private/Kitchen/Recipe/-x.json",
                ], "\(result)")
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
                complete_line import --resu
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
