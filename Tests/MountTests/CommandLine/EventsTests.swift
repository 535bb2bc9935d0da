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
