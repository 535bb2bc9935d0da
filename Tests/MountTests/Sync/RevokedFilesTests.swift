import TestSupport
import Testing

extension MountTests {
    /// Files of each kind that tell what others share, held open while it is shared no longer.
    @Suite struct RevokedFilesTests: TestsOfTwoUsers {
        let users: TwoUsers

        init() async throws { users = try await TwoUsers() }

        /// Opens each file that it is given, reading and, where that is allowed, for writing, has the pages
        /// of those that can be mapped, and says which still tell the word when somebody says so.
        private static let hold = """
            import mmap, os, sys
            word, paths = sys.argv[1], open(sys.argv[2]).read().splitlines()
            held = []
            for path in paths:
                for flags in (os.O_RDONLY, os.O_RDWR):
                    try: file = os.open(path, flags)
                    except PermissionError: continue
                    told = os.pread(file, 1 << 20, 0)
                    if word.encode() not in told: continue
                    held.append((path, flags, file))
                    try: held.append((path, "mapped", mmap.mmap(file, 0, prot=mmap.PROT_READ)))
                    except OSError: continue
                    held[-1][2][:]
            print("open", len(held), flush=True)
            sys.stdin.readline()
            for path, how, file in held:
                if how == "mapped":
                    child = os.fork()
                    # SIGBUS is an answer without a word.
                    if child == 0: os._exit(1 if word.encode() in file[:] else 0)
                    if os.waitpid(child, 0)[1] == 256: print("mapped", path)
                    continue
                try:
                    if word.encode() in os.pread(file, 1 << 20, 0): print("read", how, path)
                except OSError: pass
            """

        @Test("whatever somebody has open of a share tells nothing of it when it has ended")
        func held() async throws {
            let word = "quixotry"
            try alice.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe && cd RecordFS/private/Kitchen/Recipe
                for n in soup \(word) tea; do echo '{"text": "\(word)"}' > $n.json; done
                echo '\(word)' > soup@note.txt
                recordfs sync
                """)
            let link = try alice.ok(
                "recordfs share create private/Kitchen --title '\(word)' --with bob@localhost --write"
            )
            let place = try bob.ok("recordfs accept '\(link)'")
            let type = "RecordFS/\(place)/Recipe"
            // Of each kind one: an older version, in the trash, refused, and edited by both.
            try bob.ok(
                """
                cd \(type) && cat * > /dev/null
                echo '{"text": "\(word) of Bob"}' > soup.json; rm tea.json; recordfs sync
                echo '{"text": "\(word)", }' > \(word).json || true
                recordfs pause; echo '{"text": "\(word) of Bob again"}' > soup.json
                """)
            try alice.ok(
                """
                recordfs sync
                echo '{"text": "\(word) of Alice"}' > RecordFS/private/Kitchen/Recipe/soup.json
                recordfs sync
                """)
            let control = "RecordFS/.recordfs"
            try bob.ok("recordfs resume; recordfs sync || true")
            #expect(
                try bob.eventually("ls \(control)/conflicts/\(place)/Recipe", "soup"))
            // And files of this machine, beside the records and deeper.
            try bob.ok(
                """
                cd \(type) && mkdir -p .kept/deep
                for file in .soup.swp .kept/a .kept/deep/b ../.zone; do cp soup.json $file; done
                """)
            let files = try bob.ok(
                """
                find \(type)/.. \(control)/{conflicts,history,trash,export}/\(place) \(control)/errors -type f \\
                    -exec grep -lI \(word) {} + > files
                ls -d \(control)/meta/\(place)/Recipe/\(word).json >> files
                ls -d \(type)/soup.json \(type)/soup@note.txt \(type)/../.share.json >> files
                sort -u -o files files; cat files
                """)
            for kind in [
                "merged.json", "base.json", "report.txt", "history/", "trash/", "errors/", "meta/",
                "Recipe.csv", ".soup.swp", ".kept/deep/b", "/.zone", ".share.json", "soup@note.txt",
            ] { #expect(files.contains(kind), "\(kind) is not among \(files)") }
            _ = try bob.file("hold.py", Self.hold)
            let said = try bob.ok(
                "python3 hold.py \(word) files",
                while: """
                    HOME=\(alice.folder) recordfs share remove private/Kitchen bob@localhost
                    until [ -z "$(ls RecordFS/shared)" ]; do :; done
                    """)
            let lines = said.split(separator: "\n")
            #expect(lines.count == 1, "\(said)")
            let count = lines.first.flatMap { Int($0.dropFirst("open ".count)) } ?? 0
            #expect(count > files.split(separator: "\n").count, "\(said)")
            try end()
        }
    }
}
