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
