import Glibc
import Testing

extension MountTests {
    /// What somebody finds, and can do, when an edit has lost against another one.
    @Suite struct ConflictTests {
        private static let path = "private/Kitchen/Recipe/soup"
        private let mounted: MountedStore
        private let type: String
        private var conflicts: String { "\(mounted.mountPoint)/.recordfs/conflicts" }
        private var directory: String { "\(conflicts)/private/Kitchen/Recipe/soup" }

        init() throws {
            mounted = try MountedStore()
            type = try mounted.makeType()
        }

        /// The server tells of the record.
        private func tell(_ title: String, tag: String) throws {
            try mounted.recordfs(
                "debug", "apply-remote",
                input: """
                    {"path": "\(Self.path)", "record": {"title": "\(title)"},
                     "changeTag": "\(tag)", "modifiedBy": "_bob"}
                    """)
        }

        private func save(_ title: String) throws {
            // A program of its own, which knows nothing of earlier saves.
            try succeed(
                "bash", "-c", #"printf '%s\n' "$1" > "$2""#, "bash", #"{"title": "\#(title)"}"#,
                "\(type)/soup.json")
        }

        /// The server's edit is the later one.
        private func makeConflict(_ round: Int = 1) throws {
            if round == 1 {
                try tell("base", tag: "t1")
                // What nobody has seen would be a conflict too (`Arrivals`).
                try succeed("ls", type)
            }
            try save("mine \(round)")
            try tell("theirs \(round)", tag: "t\(round + 1)")
        }

        /// In the mount point, with `recordfs` in PATH and the conflict's directory in D.
        private func shell(_ text: String) throws -> ChildResult {
            let folders = try Executable.recordfs().split(separator: "/").dropLast()
            return try finish(
                ["bash", "-euo", "pipefail", "-c", text],
                environment: [
                    "RECORDFS_STATE": mounted.state, "D": directory, "OUT": mounted.outside,
                    "PATH": "/\(folders.joined(separator: "/")):\(String(cString: getenv("PATH")))",
                ], directory: mounted.mountPoint)
        }

        private func script(_ text: String) throws -> String {
            let result = try shell(text)
            #expect(result.status == 0 && result.errors == "", "\(text)\n\(result)")
            return result.output
        }

        private func title() throws -> String {
            try script("jq -r .title private/Kitchen/Recipe/soup.json").trimmed
        }

        @Test("a conflict has the three texts, what stands and a report, and the status counts it")
        func files() throws {
            #expect(try script("find .recordfs/conflicts -mindepth 1 -maxdepth 1") == "")
            try makeConflict()
            #expect(
                try script("ls \"$D\"").split(separator: "\n")
                    == ["base.json", "merged.json", "mine.json", "report.txt", "theirs.json"])
            #expect(
                try script(
                    "cd \"$D\"; cat base.json mine.json theirs.json merged.json | jq -r .title")
                    == "base\nmine 1\ntheirs 1\ntheirs 1\n")
            let report = try script("cat \"$D/report.txt\"")
            for word in ["title: theirs wins", "mine 1", "theirs 1", "_bob"] {
                #expect(report.contains(word), "\(word) is not in \(report)")
            }
            #expect(try script("jq '.zones[].conflicts' .recordfs/status.json") == "1\n")
            #expect(try script("jq -r .state .recordfs/meta/\(Self.path).json") == "conflict\n")
            // `stat` and `cat` agree, and nothing but the merge can be written.
            _ = try script("cd \"$D\"; test $(stat -c %s mine.json) = $(cat mine.json | wc -c)")
            #expect(try shell("echo x > \"$D/mine.json\"").status != 0)
            #expect(try shell("touch \"$D/new\"").status != 0)
        }

        @Test("saving merged.json settles the conflict", arguments: ["cp", "sed", "vim"])
        func saving(tool: String) throws {
            try makeConflict()
            switch tool {
            case "cp":
                _ = try script(
                    "jq '.title = \"both\"' \"$D/mine.json\" > \"$OUT/m\"; cp \"$OUT/m\" \"$D/merged.json\""
                )
            case "sed":
                _ = try script(
                    "sed 's/theirs 1/both/' \"$D/merged.json\" > \"$OUT/m\"; cat \"$OUT/m\" > \"$D/merged.json\""
                )
            default:
                let vim = try Terminal(["vim", "-u", "NONE", "-n", "\(directory)/merged.json"])
                try vim.expect("theirs")
                try vim.send(":%s/theirs 1/both/\r:wq\r")
                _ = try vim.finish()
            }
            #expect(try title() == "both")
            #expect(try script("ls .recordfs/conflicts") == "")
            #expect(try script("jq -r .state .recordfs/meta/\(Self.path).json") == "pending\n")
        }

        @Test("a merge that is no record settles nothing, and is the draft of the record")
        func badMerge() throws {
            try makeConflict()
            let file = try SystemCall.open("\(directory)/merged.json", O_WRONLY | O_TRUNC)
            try SystemCall.write(file, Array("{ half".utf8))
            #expect(SystemCall.code { try SystemCall.close(file) } == EINVAL)
            // Many programs do not look at what `close` says.
            #expect(try script("cat private/Kitchen/Recipe/soup.json") == "{ half")
            #expect(try script("cat private/Kitchen/Recipe/.error").contains("soup.json"))
            #expect(SystemCall.exists("\(directory)/merged.json"))
            _ = try script("recordfs draft discard \(Self.path)")
            #expect(try title() == "theirs 1")
        }

        @Test(
            "mv of a file of another file system, or of this one, onto the merge is that merge",
            arguments: ["$OUT/made.json", "private/Kitchen/Recipe/made.tmp"])
        func moved(from: String) throws {
            try makeConflict()
            let command =
                "echo '{\"title\": \"both\"}' > \"\(from)\" && mv \"\(from)\" \"$D/merged.json\""
            let result = try shell(command)
            #expect(result.status == 0 && result.errors == "", "\(result)")
            #expect(try title() == "both")
            #expect(
                try script("ls .recordfs/conflicts; ls -A private/Kitchen/Recipe") == "soup.json\n")
        }

        @Test("mv of a text that is no record onto the merge settles nothing")
        func badMoved() throws {
            try makeConflict()
            let tried = try shell("echo '{bad' > \"$OUT/m\" && mv \"$OUT/m\" \"$D/merged.json\"")
            #expect(tried.status != 0)
            #expect(try script("recordfs conflicts list").contains("soup"))
            _ = try script(
                "echo '{\"title\": \"both\"}' > \"$OUT/m\" && mv \"$OUT/m\" \"$D/merged.json\"")
            #expect(try title() == "both")
            #expect(try script("ls .recordfs/conflicts; recordfs draft list") == "")
        }

        @Test("a merge keeps the files of large fields of which it does not speak")
        func mergeWithPhoto() throws {
            try makeConflict()
            _ = try script("echo photo > private/Kitchen/Recipe/soup@photo.jpg")
            _ = try script("echo '{\"title\": \"both\"}' > \"$D/merged.json\"")
            #expect(try script("cat private/Kitchen/Recipe/soup@photo.jpg") == "photo\n")
            #expect(try title() == "both")
        }

        @Test("rm of a bad merge leaves what stands, and the bad one in the trash")
        func badMergeRemoved() throws {
            try makeConflict()
            _ = try shell("printf '{ half' > \"$D/merged.json\"")
            _ = try script("rm \"$D/merged.json\"")
            #expect(try title() == "theirs 1")
            #expect(try script("ls .recordfs/conflicts; ls .recordfs/errors") == "")
            #expect(try script("cat .recordfs/trash/private/Kitchen/Recipe/soup.json") == "{ half")
        }

        @Test("a good merge after a bad one leaves no trace of that")
        func badMergeFirst() throws {
            try makeConflict()
            #expect(try shell("cat private/Kitchen/Recipe/soup.json").status == 0)
            #expect(try shell("printf '{ half' > \"$D/merged.json\"").errors == "")
            #expect(try script("cat private/Kitchen/Recipe/soup.json") == "{ half")
            _ = try script("echo '{\"title\": \"both\"}' > \"$D/merged.json\"")
            #expect(try title() == "both")
            #expect(try script("ls .recordfs/conflicts; ls .recordfs/errors") == "")
            #expect(try script("recordfs draft list; recordfs errors") == "")
            #expect(!SystemCall.exists("\(type)/.error"))
            #expect(try script("ls -A private/Kitchen/Recipe") == "soup.json\n")
        }

        @Test(
            "rm keeps what stands",
            arguments: [
                "rm \"$D/merged.json\"", "rm -r \"$D\"", "rm -r .recordfs/conflicts/private",
            ])
        func removing(command: String) throws {
            try makeConflict()
            _ = try script(command)
            #expect(try script("ls .recordfs/conflicts") == "")
            #expect(try title() == "theirs 1")
            #expect(try script("recordfs conflicts list") == "")
        }

        @Test("each conflict of a record has a directory")
        func several() throws {
            for round in 1...3 { try makeConflict(round) }
            let names = try script("ls .recordfs/conflicts/private/Kitchen/Recipe")
                .split(separator: "\n")
            #expect(names.count == 3 && names.contains("soup"))
            #expect(
                try script(
                    "cat .recordfs/conflicts/private/Kitchen/Recipe/*/mine.json | jq -r .title"
                )
                .split(separator: "\n").sorted() == ["mine 1", "mine 2", "mine 3"])
            // The newest has the plain name.
            #expect(try script("jq -r .title \"$D/mine.json\"") == "mine 3\n")
            // A name that was settled does not become that of another one.
            #expect(try shell("rm \"$D\"/*").status == 0)
            #expect(
                try script("ls .recordfs/conflicts/private/Kitchen/Recipe | wc -l") == "2\n")
            _ = try script("rm -r .recordfs/conflicts/private/Kitchen/Recipe")
            #expect(try script("ls .recordfs/conflicts") == "")
        }

        @Test("a merge that was read before the record changed keeps that change")
        func editorStaysOpen() throws {
            try makeConflict()
            let vim = try Terminal(["vim", "-u", "NONE", "-n", "\(directory)/merged.json"])
            try vim.expect("theirs")
            try mounted.recordfs(
                "put", Self.path, input: "{\"title\": \"theirs 1\", \"servings\": 6}")
            try vim.send(":%s/theirs 1/both/\r:w\r")
            // The file has changed since it was read.
            try vim.expect("WARNING")
            try vim.send("n")
            try vim.expect("ENTER")
            try vim.send("\r:q!\r")
            _ = try vim.finish()
            #expect(try title() == "theirs 1")
            #expect(try script("recordfs conflicts list").contains("soup"))
        }

        @Test("a conflict of a record that was removed says so, and how the record comes back")
        func removedRecord() throws {
            try makeConflict()
            _ = try script("rm private/Kitchen/Recipe/soup.json")
            #expect(try script("recordfs conflicts list").contains("removed here since"))
            #expect(try script("cat \"$D/report.txt\"").contains("--keep mine or --keep theirs"))
            #expect(try shell("echo '{}' > \"$D/merged.json\"").status != 0)
            _ = try script("recordfs conflicts resolve --keep mine \(Self.path)")
            #expect(try title() == "mine 1")
        }

        @Test("conflicts of a removed zone are listed, and bring it back")
        func removedZone() throws {
            try makeConflict()
            _ = try script("rm -r private/Kitchen")
            #expect(try script("recordfs conflicts list").contains("theirs wins"))
            _ = try script("recordfs conflicts resolve --keep mine \(Self.path)")
            #expect(try title() == "mine 1")
        }

        @Test("conflicts are told to who follows the events")
        func event() throws {
            let events = try Terminal(["cat", "\(mounted.mountPoint)/.recordfs/events"])
            try tell("base", tag: "t1")
            try events.expect("created")
            try save("mine")
            try tell("theirs", tag: "t2")
            try events.expect("\"event\":\"conflict\"", "\"name\":\"soup\"")
        }

        // MARK: The command line

        @Test("recordfs conflicts lists, shows and settles")
        func commands() throws {
            try makeConflict()
            #expect(
                try script("recordfs conflicts list").contains(
                    "\(Self.path).json: title (theirs wins)"))
            #expect(
                try script("recordfs conflicts list --json | jq -r '.path, .fields[], .theirUser'")
                    == "\(Self.path).json\ntitle\n_bob\n")
            #expect(try script("recordfs conflicts list local") == "")
            #expect(try script("recordfs conflicts show \(Self.path)").contains("theirs wins"))
            #expect(
                try script("recordfs conflicts show --side mine \(Self.path) | jq -r .title")
                    == "mine 1\n")
            _ = try script(
                "recordfs conflicts resolve --keep mine private/Kitchen/Recipe/soup.json")
            #expect(try title() == "mine 1")
            let none = try shell("recordfs conflicts show \(Self.path)")
            #expect(none.status == 3 && none.errors.contains("no such conflict"))
            try makeConflict(2)
            _ = try script("recordfs conflicts resolve --keep merged \(Self.path)")
            #expect(try title() == "theirs 2")
            #expect(try script("recordfs conflicts list") == "")
        }

        @Test("a deletion that lost can be taken again")
        func deletion() throws {
            try tell("base", tag: "t1")
            try SystemCall.unlink("\(type)/soup.json")
            try SystemCall.syncDirectory(type)
            try tell("theirs", tag: "t2")
            #expect(try title() == "theirs")
            #expect(
                try script("recordfs conflicts list").contains("deleted here, edited elsewhere"))
            #expect(!SystemCall.exists("\(directory)/mine.json"))
            _ = try script("recordfs conflicts resolve --keep mine \(Self.path)")
            #expect(!SystemCall.exists("\(type)/soup.json"))
            #expect(try script("recordfs conflicts list") == "")
        }

        @Test("a merge tool gets the four files; what it leaves is saved, or the conflict stays")
        func tool() throws {
            try makeConflict()
            let unchanged = try shell("recordfs conflicts resolve --tool true \(Self.path)")
            #expect(unchanged.status == 1 && unchanged.errors.contains("changed nothing"))
            let failed = try shell(
                "recordfs conflicts resolve --tool 'echo > \"$MERGED\"; false' \(Self.path)")
            #expect(failed.status == 1 && failed.errors.contains("the conflict stays"))
            #expect(try title() == "theirs 1")
            // What cannot be saved is not lost.
            let bad = try shell(
                "recordfs conflicts resolve --tool 'echo \"{ half\" > \"$MERGED\"' \(Self.path)")
            #expect(bad.status == 1)
            let kept = bad.errors.split(separator: " ").last { $0.contains("MERGED.json") }
            let file = try #require(kept).prefix { $0 != "\n" }.dropLast()
            #expect(try SystemCall.readText(String(file)) == "{ half\n")
            _ = try script("rm -r $(dirname \(file))")
            _ = try script(
                """
                recordfs conflicts resolve \(Self.path) --tool \
                'jq -s "{title: map(.title) | join(\\"+\\")}" "$BASE" "$LOCAL" "$REMOTE" > "$MERGED"'
                """)
            #expect(try title() == "base+mine 1+theirs 1")
            try makeConflict(2)
            let vim = try Terminal(
                [
                    try Executable.recordfs(), "conflicts", "resolve", "--tool", "vimdiff",
                    Self.path,
                ],
                environment: ["RECORDFS_STATE": mounted.state])
            try vim.expect("MERGED")
            try vim.send(":%s/theirs 2/by hand/\r:wqa\r")
            _ = try vim.finish()
            #expect(try title() == "by hand")
        }
    }
}

extension String {
    fileprivate var trimmed: String { String(split(whereSeparator: \.isNewline).first ?? "") }
}
