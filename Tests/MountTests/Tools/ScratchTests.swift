import Testing

extension MountTests {
    /// What works in scratch as on any disk: nothing of it is a record.
    @Suite struct ScratchTests {
        @Test("SQLite works in WAL mode on a scratch file")
        func sqlite() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let place = ToolPlace(folder: folder, outside: mounted.outside)
            let result = try place.python(
                """
                import sqlite3
                a, b = sqlite3.connect('work.db'), sqlite3.connect('work.db')
                mode = a.execute('pragma journal_mode = wal').fetchone()[0]
                a.execute('create table t (n integer)')
                for n in range(500):
                    with a:
                        a.execute('insert into t values (?)', (n,))
                print(mode, b.execute('select sum(n) from t').fetchone()[0],
                      b.execute('pragma integrity_check').fetchone()[0])
                """)
            #expect(result.output == "wal 124750 ok\n", "\(result)")
            #expect(try mounted.store.stems() == [])
            try mounted.remount()
            let again = try place.python(
                "import sqlite3; print(sqlite3.connect('work.db').execute("
                    + "'select count(*) from t').fetchone()[0])")
            #expect(again.output == "500\n", "\(again)")
        }

        @Test("a git repository lives in scratch, with its work tree of records")
        func git() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let place = ToolPlace(folder: folder, outside: mounted.outside)
            try SystemCall.makeDirectory(place.home)
            for number in 0..<20 {
                try SystemCall.writeFile("\(folder)/r\(number).json", "{\n  \"n\": \(number)\n}\n")
            }
            let script = """
                git init -q -b main . && git add . && git commit -q -m one
                git checkout -q -b other
                for f in r?.json; do sed -i 's/"n": /"n": 1/' $f; done
                git commit -q -a -m two && git checkout -q main
                test "$(git status --porcelain)" = "" && git fsck --strict && git gc -q
                git checkout -q other && git log --oneline | wc -l
                """
            let result = try place.shell("set -e\n\(script)")
            #expect(result.status == 0, "\(result)")
            #expect(result.output.hasSuffix("2\n"))
            #expect(try SystemCall.readText("\(folder)/r3.json") == "{\n  \"n\": 13\n}\n")
            try SystemCall.syncDirectory(folder)
            #expect(try mounted.store.stems().count == 20, "only the files are records")
            #expect(try mounted.store.history("r3").count == 4)
            #expect(try mounted.store.history("r13").count == 1)
        }

        @Test("scratch files keep holes, modes, times, links and attributes of a disk")
        func ordinary() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let place = ToolPlace(folder: folder, outside: mounted.outside)
            let result = try place.shell(
                """
                set -e
                truncate -s 10M hole && test $(du -k hole | cut -f1) -lt 100
                printf x | dd of=hole bs=1 seek=5000000 conv=notrunc status=none
                test $(stat -c %s hole) = 10485760
                chmod 600 hole && test $(stat -c %a hole) = 600
                touch -d 2001-02-03T04:05:06Z hole && test $(stat -c %Y hole) = 981173106
                ln -s hole to-hole && test -s to-hole
                mkdir -p dir/deep && echo text > dir/deep/file && mv dir moved
                cat moved/deep/file
                exec 9> lock && flock -n 9 && ! flock -n lock true
                exec 9>&- && flock -n lock true
                fallocate -l 1M room && test $(stat -c %s room) = 1048576
                rm -r moved hole to-hole lock room
                """)
            #expect(result.status == 0, "\(result)")
            #expect(result.output == "text\n")
            #expect(try SystemCall.list(folder) == [])
        }

        @Test("touch and > make an empty draft of a new name, which a valid save completes")
        func touched() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let place = ToolPlace(folder: folder, outside: mounted.outside)
            #expect(try place.tool("touch", "new.json").status == 0)
            #expect(try place.shell(": > other.json").status == 0)
            #expect(try mounted.store.stems() == [])
            #expect(
                try SystemCall.list(folder).sorted().filter { $0 != ".error" }
                    == ["new.json", "other.json"])
            for name in ["new", "other"] {
                try SystemCall.writeFile("\(folder)/\(name).json", "{\"n\": 1}")
                #expect(try mounted.store.history(name) == ["created"])
            }
            #expect(try mounted.store.drafts() == 0)
            #expect(!SystemCall.exists("\(folder)/.error"))
        }
    }
}
