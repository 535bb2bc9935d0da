import Testing

extension MountTests {
    @Suite struct EventsTests {
        @Test("events --follow tells each change once, in order, with a mount and without")
        func follow() throws {
            let home = try CommandLineHome()
            try home.ok("echo '{}' | recordfs put private/Box/Note/before")
            // A line for each change that came since the command was begun.
            let result = try home.shell(
                """
                recordfs events --follow > followed & follower=$!
                until ls -l /proc/$follower/fd 2> /dev/null | grep -q inotify; do :; done
                lines() { until [ $(wc -l < followed) -ge $1 ]; do :; done; }
                for i in $(seq 200); do echo "{\\"n\\": $i}" | recordfs put private/Box/Note/put; done
                lines 200
                recordfs mount > /dev/null
                cd RecordFS/private/Box/Note
                for i in $(seq 200); do echo "{\\"n\\": $i}" > saved.json; done
                rm before.json
                cd; lines 401
                recordfs unmount
                kill $follower
                awk '{ print $4, $5 }' followed | uniq -c | sed 's/^ *//'
                """)
            #expect(
                result.output == """
                    1 created private/Box/Note/put.json
                    199 updated private/Box/Note/put.json
                    1 created private/Box/Note/saved.json
                    199 updated private/Box/Note/saved.json
                    1 deleted private/Box/Note/before.json

                    """, "\(result)")
        }

        @Test("events --after goes on where a reader has stopped, and shows names as on the mount")
        func after() throws {
            let home = try CommandLineHome()
            try home.ok(
                """
                echo '{}' | recordfs put 'local/My Box/Note/a b'
                recordfs events --json | tail -n 1 | jq .token > token
                recordfs rm 'local/My Box/Note/a b'
                echo '{}' | recordfs put local/Other/Note/c
                """)
            let result = try home.shell(
                #"recordfs events --json --after $(cat token) | jq -r '"\(.change) \(.author) \(.path)"'"#
            )
            #expect(
                result.output == """
                    deleted cli local/My Box/Note/a b.json
                    created cli local/Other/Note/c.json

                    """, "\(result)")
            #expect(try home.shell("recordfs events --after 9223372036854775807").output == "")
        }

        @Test(
            "a program says who it is, with a mount and without, and others are told apart from it")
        func authors() throws {
            let home = try CommandLineHome()
            let who = #"jq -r '"\(.author) \(.origin) \(.path)"'"#
            try home.ok(
                """
                echo '{"n": 1}' | recordfs put local/Box/Note/a
                echo '{"n": 2}' | RECORDFS_AUTHOR=Photos recordfs put local/Box/Note/b
                echo '{"n": 3}' | RECORDFS_AUTHOR=Photos recordfs put --author Notes local/Box/Note/c
                recordfs mount --author 'My Desk' > /dev/null
                echo '{"n": 4}' > RecordFS/local/Box/Note/d.json
                echo '{"n": 5}' | recordfs put --author Photos local/Box/Note/e
                echo '{"n": 6}' | recordfs put local/Box/Note/f
                recordfs mv --author Mover local/Box/Note/f local/Box/Note/g
                echo '{"id": "h"}' | recordfs import -q --author Loader --format ndjson - local/Box/Note
                recordfs rm --author Cleaner local/Box/Note/a
                """)
            let all = try home.ok("recordfs events --json | \(who) | sed 's,local/Box/Note/,,'")
            #expect(
                all == """
                    cli null a.json
                    Photos cli b.json
                    Notes cli c.json
                    My Desk mount d.json
                    Photos cli e.json
                    cli null f.json
                    Mover cli g.json
                    Mover cli f.json
                    Loader import h.json
                    Cleaner cli a.json
                    """, "\(all)")
            func count(_ options: String) throws -> String {
                try home.ok("recordfs events --count \(options)")
            }
            #expect(try count("--author Photos") == "2")
            #expect(try count("--author Photos --author 'My Desk'") == "3")
            #expect(try count("--author '!Photos'") == "8")
            #expect(try count("--author '!Photos' --author '!cli'") == "6")
            #expect(try count("--author cli") == "2")
            let shown = try home.ok("recordfs history local/Box/Note/b; recordfs events --last 9")
            #expect(shown.contains("Photos") && shown.contains("n") && shown.contains("(n)"))
            let history = try home.ok(
                "recordfs history --json local/Box/Note/b | jq -c '[.author, .origin, .fields]'")
            #expect(history == #"["Photos","cli",["n"]]"#)
            for wrong in ["!x", "", "sync", "$(seq 99 | tr -d '\\n')"] {
                let named = "--author \"\(wrong)\" local/Box/Note/z"
                #expect(try home.shell("echo '{}' | recordfs put \(named)").status == 2, "\(wrong)")
            }
            let refused = try home.shell(
                "echo '{}' | RECORDFS_AUTHOR=sync recordfs put local/A/B/c")
            #expect(refused.status == 2 && refused.errors.contains("RECORDFS_AUTHOR"), "\(refused)")
            try home.ok("recordfs unmount && recordfs fsck")
        }

        @Test("the changes of one transaction have one number, and name their fields")
        func transactions() throws {
            let home = try CommandLineHome()
            try home.ok(
                """
                printf '{"id": "%s", "n": 1, "t": "x"}\\n' a b | recordfs import -q --format ndjson - local/A/B
                echo '{"n": 2, "t": "x"}' | recordfs put local/A/B/a
                """)
            let lines = try home.ok(
                "recordfs events --json | jq -c '[.token - .transaction, (.fields | sort)]'")
            #expect(
                lines == """
                    [0,["id","n","t"]]
                    [1,["id","n","t"]]
                    [0,["id","n"]]
                    """, "\(lines)")
        }

        @Test(
            "a reader gets what came since its last use, with a mount and without",
            arguments: [false, true])
        func reader(isMounted: Bool) throws {
            let home = try CommandLineHome()
            if isMounted { try home.ok("recordfs mount") }
            try home.ok("for n in a b c; do echo '{}' | recordfs put local/Box/Note/$n; done")
            func read(_ options: String = "") throws -> String {
                try home.ok(
                    "recordfs events --json --reader app \(options) | jq -r .path | sed 's,.*/,,'"
                )
                .replacing(".json", with: "").replacing("\n", with: " ")
            }
            #expect(try read("--peek") == "a b c")
            #expect(try home.ok("recordfs readers") == "")
            #expect(try read("--limit 1") == "a")
            #expect(try read("--peek --limit 1") == "b")
            #expect(try read("--author '!cli'") == "")
            #expect(try read() == "")
            try home.ok("echo '{}' | recordfs put local/Box/Note/d")
            #expect(try home.ok("recordfs events --reader app --peek --count") == "1")
            // Nobody has got this.
            #expect(try home.shell("recordfs events --reader app > /dev/full").status == 1)
            #expect(try read() == "d")
            #expect(try read("--after 0 --limit 2") == "a b")
            #expect(try read() == "c d")
            let listed = try home.ok(
                "recordfs readers list --json | jq -c '[.name, .token, .expired]'")
            #expect(listed == #"["app",4,false]"#)
            for wrong in ["--sync", "--last 1", "--count", "--before 1d"] {
                #expect(
                    try home.shell("recordfs events --reader app \(wrong)").status == 2, "\(wrong)")
            }
            for wrong in ["--peek", "--reader 'a b'", "--reader ''"] {
                #expect(try home.shell("recordfs events \(wrong)").status == 2, "\(wrong)")
            }
            try home.ok("recordfs readers remove app")
            #expect(try home.shell("recordfs readers remove app").status == 3)
            #expect(try home.ok("recordfs readers list") == "")
            if isMounted { try home.ok("recordfs unmount") }
        }

        @Test("who keeps old versions is named, and a forgotten reader is told so")
        func forgotten() throws {
            let home = try CommandLineHome()
            try home.ok(
                """
                for n in $(seq 0 20); do echo "{\\"n\\": $n}" | recordfs put local/Box/Note/a; done
                recordfs events --reader app --limit 2 > shown
                store=.local/share/recordfs/store.sqlite
                old=$(( ($(date +%s) - 100 * 86400) * 1000000000 ))
                sqlite3 $store "UPDATE history SET at = $old"
                """)
            let rehearsed = try home.ok("recordfs gc -n")
            #expect(
                rehearsed.contains("Would remove 0 deleted records and 1 version."), "\(rehearsed)")
            #expect(rehearsed.contains("The reader app keeps 9 old versions"), "\(rehearsed)")
            #expect(try home.ok("recordfs status").contains("The reader app keeps 9 old versions"))
            #expect(try home.ok("recordfs status --json | jq .readers[0].versions") == "9")
            try home.ok(
                "sqlite3 .local/share/recordfs/store.sqlite \"UPDATE history_reader SET used = $(( ($(date +%s) - 91 * 86400) * 1000000000 ))\""
            )
            #expect(try home.ok("recordfs gc -n").contains("10 versions"))
            let told = try home.shell("recordfs events --reader app")
            #expect(told.status == 1 && told.output == "", "\(told)")
            #expect(told.errors.contains("expired") && told.errors.contains("--after"), "\(told)")
            #expect(try home.ok("recordfs readers list").contains("expired"))
            #expect(try home.ok("recordfs events --reader app --after 19 | wc -l") == "2")
            #expect(try home.ok("recordfs events --reader app") == "")
        }

        @Test("events are chosen by time, kind, database and zone, counted, and limited")
        func filters() throws {
            let home = try CommandLineHome()
            try home.ok(
                """
                for name in a b c; do echo '{"n": 1}' | recordfs put local/Box/Note/$name; done
                date -u +%FT%T.%3NZ > between
                echo '{"n": 2}' | recordfs put local/Box/Note/a
                echo '{}' | recordfs put private/Den/Note/d
                """)
            func paths(_ options: String) throws -> String {
                try home.ok("recordfs events --json \(options) | jq -r .path")
                    .replacing(".json", with: "").replacing("local/Box/Note/", with: "")
                    .replacing("\n", with: " ")
            }
            #expect(try paths("--after $(cat between)") == "a private/Den/Note/d")
            #expect(try paths("--before $(cat between)") == "a b c")
            #expect(try paths("--after 1h --until $(cat between) --limit 2") == "a b")
            #expect(try paths("--kind updated") == "a")
            #expect(try paths("--zone Den") == "private/Den/Note/d")
            #expect(try paths("--last 2 --kind created") == "c private/Den/Note/d")
            #expect(try paths("--last 2 --before $(cat between)") == "b c")
            #expect(try paths("--last 0") == "")
            #expect(try paths("--limit 0") == "")
            #expect(try home.ok("recordfs events --count") == "5")
            #expect(try home.ok("recordfs events --count --limit 3") == "3")
            #expect(try home.ok("recordfs events --count --json --after 9d") == #"{"count":5}"#)
            for wrong in [
                "--follow --count", "--last 1 --limit 1", "--before 7", "--limit -1", "--zone",
                "--last 1 --after 0",
            ] {
                #expect(try home.shell("recordfs events \(wrong)").status == 2, "\(wrong)")
            }
        }
    }
}
