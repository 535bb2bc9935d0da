import Testing

extension MountTests {
    @Suite struct DaemonLogTests {
        @Test("log takes lines by level and category, with the lines that go on from them")
        func filter() throws {
            let home = try CommandLineHome()
            let none = try home.shell("recordfs daemon-log")
            #expect(none.status == 3)
            #expect(none.errors.contains("recordfs mount"), "\(none)")
            try home.ok(
                """
                recordfs mount > /dev/null && recordfs unmount
                cat > .local/state/recordfs/recordfs.log <<'END'
                2026-11-24T15:13:12+0000 info recordfs: [recordfs] Mounted
                2026-11-24T15:13:13+0000 warning recordfs.sync: error=x [y z] [RecordSync] a token [RecordStore] in the text
                  and its second line
                2026-11-24T15:13:14+0000 error recordfs: [RecordStore] disk
                END
                """)
            func words(_ options: String) throws -> String {
                try home.shell(
                    "recordfs daemon-log \(options) | sed 's/.*: //; s/error=x .y z. //' | tr '\\n' ';'"
                ).output
            }
            let sync = "[RecordSync] a token [RecordStore] in the text;  and its second line;"
            #expect(try words("") == "[recordfs] Mounted;\(sync)[RecordStore] disk;")
            #expect(try words("--level warning") == "\(sync)[RecordStore] disk;")
            #expect(try words("--category RecordSync") == sync)
            #expect(try words("--category RecordStore") == "[RecordStore] disk;")
            #expect(try words("--level error --category RecordSync") == "")
            #expect(try home.shell("recordfs daemon-log --level loud").status == 2)
        }

        @Test("log --follow goes on over a new log, with each line once")
        func follow() throws {
            let home = try CommandLineHome()
            let result = try home.shell(
                """
                recordfs mount > /dev/null && recordfs unmount
                cd .local/state/recordfs
                echo first > recordfs.log
                recordfs daemon-log --follow > ~/followed & follower=$!
                until ls -l /proc/$follower/fd 2> /dev/null | grep -q inotify; do :; done
                lines() { until [ $(wc -l < ~/followed) -ge $1 ]; do :; done; }
                for i in $(seq 100); do echo "line $i" >> recordfs.log; done
                mv recordfs.log recordfs.log.1
                for i in $(seq 101 200); do echo "line $i" >> recordfs.log; done
                lines 201
                kill $follower
                { echo first; seq -f 'line %.0f' 200; } | diff - ~/followed && echo same
                """)
            #expect(result.output == "same\n", "\(result)")
        }
    }
}
