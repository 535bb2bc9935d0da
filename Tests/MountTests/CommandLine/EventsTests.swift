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
    }
}
