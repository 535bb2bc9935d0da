import Glibc
import Testing

extension MountTests {
    /// `.recordfs` as the everyday tools use it.
    @Suite struct ControlDirectoryTests {
        private let mounted: MountedStore
        private let type: String
        private var control: String { "\(mounted.mountPoint)/.recordfs" }

        init() throws {
            mounted = try MountedStore()
            type = try mounted.makeType()
        }

        /// What a script prints in the mount point; it has to succeed without a word of error.
        @discardableResult
        private func script(_ text: String, seconds: Double = 90) throws -> String {
            let result = try shell(text, seconds: seconds)
            #expect(result.status == 0 && result.errors == "", "\(text)\n\(result)")
            return result.output
        }

        private func shell(_ text: String, seconds: Double = 90) throws -> ChildResult {
            try finish(
                ["bash", "-euo", "pipefail", "-c", text],
                environment: ["RECORDFS_STATE": mounted.state, "OUT": mounted.outside],
                directory: mounted.mountPoint, seconds: seconds)
        }

        /// Records by name, each with its name as the value of n.
        private func make(_ names: String...) throws {
            for name in names {
                try SystemCall.writeFile("\(type)/\(name).json", "{\"n\": \"\(name)\"}")
            }
        }

        /// Deletes records for good: an fsync of the directory ends their grace.
        private func delete(_ names: String...) throws {
            for name in names { try SystemCall.unlink("\(type)/\(name).json") }
            try SystemCall.syncDirectory(type)
        }

        @Test("5 000 matches and 5 000 deleted records are listed, told in full and moved back")
        func many() throws {
            let rows = (0..<5000).map { "{\"$name\": \"r\($0)\", \"n\": 1}\n" }.joined()
            try SystemCall.writeFile("\(mounted.outside)/rows.ndjson", rows)
            try mounted.recordfs(
                "import", "\(mounted.outside)/rows.ndjson", "private/Kitchen/Recipe")
            let query = ".recordfs/query/private/Kitchen/Recipe/n=1"
            #expect(try script("ls \(query) | sort -u | wc -l") == "5000\n")
            #expect(try script("ls -lL \(query) | grep -c '^-'") == "5000\n")
            #expect(try script("grep -l n \(query)/*.json | wc -l") == "5000\n")

            let trash = ".recordfs/trash/private/Kitchen/Recipe"
            try script("rm -r private/Kitchen && sync private")
            #expect(try script("ls -l \(trash) | grep -c '^-'") == "5000\n")
            try script(
                "mkdir -p private/Kitchen/Recipe && mv \(trash)/r1*.json private/Kitchen/Recipe/")
            #expect(try script("ls private/Kitchen/Recipe | wc -l") == "1111\n")
            #expect(try script("ls \(trash) | wc -l") == "3889\n")
            try script("rm -r .recordfs/trash/private")
            #expect(try script("ls .recordfs/trash") == "")
            #expect(try mounted.store.trash() == 0)
        }

        @Test(
            "mv brings a deleted record back under any name, to another type and out of the mount")
        func move() throws {
            try make("a", "b", "c", "d")
            try delete("a", "b", "c", "d")
            let trash = ".recordfs/trash/private/Kitchen/Recipe"
            try script(
                """
                mkdir private/Kitchen/Menu
                mv \(trash)/a.json private/Kitchen/Recipe/
                mv \(trash)/b.json private/Kitchen/Recipe/e.json
                mv \(trash)/c.json private/Kitchen/Menu/
                mv \(trash)/d.json $OUT/
                """)
            #expect(
                try script("ls \(trash) private/Kitchen/*; cat $OUT/d.json") == """
                    .recordfs/trash/private/Kitchen/Recipe:

                    private/Kitchen/Menu:
                    c.json

                    private/Kitchen/Recipe:
                    a.json
                    e.json
                    {"n": "d"}
                    """)
            #expect(try SystemCall.readText("\(type)/e.json") == "{\"n\": \"b\"}")
            // Removals from the trash are finished together, a moment later.
            #expect(
                MountTable.wait(
                    seconds: 10, until: { (try? mounted.store.trash()) == 0 }, orUntil: { false }))
        }

        @Test("mv over a record makes it what the trash had, for those who read it before too")
        func moveOver() throws {
            try make("a")
            try delete("a")
            try SystemCall.writeFile("\(type)/a.json", "{\"n\": \"the next one\"}")
            #expect(try SystemCall.readText("\(type)/a.json") == "{\"n\": \"the next one\"}")
            try script(
                "mv -f .recordfs/trash/private/Kitchen/Recipe/a.json private/Kitchen/Recipe/")
            #expect(try SystemCall.readText("\(type)/a.json") == "{\"n\": \"a\"}")
            #expect(try script("stat -c %s private/Kitchen/Recipe/a.json") == "10\n")
        }

        @Test("a type and a zone that are gone come back by mv, by a copy of all, and by restore")
        func gone() throws {
            try make("a", "b", "c")
            let trash = ".recordfs/trash/private/Kitchen/Recipe"
            try script("rm -r private/Kitchen && sync private && ls private \(trash)")
            try mounted.recordfs("restore", "private/Kitchen/Recipe/a")
            #expect(try script("cat private/Kitchen/Recipe/a.json") == "{\"n\": \"a\"}")
            try script("mv \(trash)/b.json private/Kitchen/Recipe/")
            try script("rm -r private/Kitchen && sync private && mkdir private/Kitchen")
            // A directory is copied and then removed, as over file systems.
            try script("mv \(trash) private/Kitchen/")
            #expect(
                try script("cat private/Kitchen/Recipe/*") == #"{"n": "a"}{"n": "b"}{"n": "c"}"#)
            #expect(try script("ls .recordfs/trash") == "")
        }

        @Test("what cannot be moved or removed is refused at once, before anything is copied")
        func refused() throws {
            try make("a")
            for command in [
                "mv .recordfs/history/private/Kitchen/Recipe/a/*.json private/Kitchen/Recipe/b.json",
                "mv .recordfs/export/private/Kitchen/Recipe.csv private/Kitchen/Recipe/",
                "mv private/Kitchen/Recipe/a.json .recordfs/",
                "rm -r .recordfs/history", "rm -r .recordfs/meta/private",
                "rm .recordfs/status.json",
                "rmdir .recordfs/trash", "rm -r .recordfs/query/private/Kitchen/Recipe/n=a",
            ] {
                let result = try shell(command)
                #expect(result.status != 0, "\(command)")
                #expect(result.errors.contains("not permitted"), "\(command): \(result)")
            }
            #expect(try SystemCall.list(type) == ["a.json"])
            #expect(try SystemCall.readText("\(type)/a.json") == "{\"n\": \"a\"}")
        }

        @Test("tar and rsync copy every generated file, byte for byte as cat reads it")
        func copies() throws {
            try make("a", "b", "c")
            try SystemCall.writeFile("\(type)/b.json", "{\"n\": \"longer than before\"}")
            try delete("c")
            _ = SystemCall.code { try SystemCall.writeFile("\(type)/bad.json", "{") }
            try script(
                """
                mkdir $OUT/tar $OUT/rsync
                tar -cf $OUT/all.tar .recordfs
                tar -C $OUT/tar -xf $OUT/all.tar
                rsync -a .recordfs $OUT/rsync/
                find .recordfs -type f ! -name events ! -name ctl ! -name metrics > $OUT/files
                while read -r file; do
                    cat "$file" > $OUT/cat
                    cmp $OUT/cat "$OUT/tar/$file"
                    cmp $OUT/cat "$OUT/rsync/$file"
                    test "$(stat -c %s "$file")" = "$(stat -c %s $OUT/cat)"
                done < $OUT/files
                test -s $OUT/tar/.recordfs/metrics -a -s $OUT/rsync/.recordfs/metrics
                """)
            let files = try SystemCall.readText("\(mounted.outside)/files")
            for name in [
                "status.json", "errors/", "schema/development.ckdb", "Recipe.json",
                "Recipe.ndjson", "Recipe.csv", "trash/private/Kitchen/Recipe/c.json",
                "meta/private/Kitchen/Recipe/a.json", "history/private/Kitchen/Recipe/c/",
            ] { #expect(files.contains(name), "\(name)") }
            // Nothing has changed, so that there is nothing to do.
            #expect(
                try script(
                    "rsync -ai --exclude=metrics --exclude=/.recordfs .recordfs/ $OUT/rsync/.recordfs/"
                ) == "")
        }

        @Test("stat, cp, wc, tail, head and dd agree on an export")
        func sizes() throws {
            try make("a", "b", "c")
            let file = ".recordfs/export/private/Kitchen/Recipe.ndjson"
            try script(
                """
                cat \(file) > $OUT/cat
                test "$(wc -c < \(file))" = "$(stat -c %s $OUT/cat)"
                test "$(stat -c %s \(file))" = "$(stat -c %s $OUT/cat)"
                cp \(file) $OUT/cp && cmp $OUT/cat $OUT/cp
                test "$(tail -c 20 \(file))" = "$(tail -c 20 $OUT/cat)"
                test "$(head -c -20 \(file))" = "$(head -c -20 $OUT/cat)"
                dd if=\(file) bs=7 status=none | cmp - $OUT/cat
                test "$(tac \(file))" = "$(tac $OUT/cat)"
                """)
            #expect(try script("wc -l < \(file)") == "3\n")
            try make("d")
            #expect(try script("wc -l < \(file)") == "4\n")
        }

        @Test("symbolic links of results have the size of their targets")
        func links() throws {
            try make("a")
            let directory = ".recordfs/search/private/Kitchen/a"
            #expect(
                try script(
                    """
                    link=\(directory)/a.json
                    test "$(stat -c %s $link)" = "$(readlink -n $link | wc -c)"
                    cat $link
                    """) == "{\"n\": \"a\"}")
        }
    }
}
