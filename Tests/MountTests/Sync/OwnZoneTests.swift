import TestSupport
import Testing

extension MountTests {
    /// Real processes: a record with what hangs on it goes to a zone that is shared.
    @Suite struct OwnZoneTests: TestsOfTwoUsers {
        let users: TwoUsers

        private let recipes = "RecordFS/private/Kitchen/Recipe"

        init() async throws {
            users = try await TwoUsers()
            try alice.ok(
                """
                mkdir -p \(recipes) RecordFS/private/Kitchen/Step && cd \(recipes)
                echo '{"n": 1}' > soup.json; echo '{"n": 1}' > tea.json
                head -c 100000 /dev/urandom > soup@photo.jpg; cp soup@photo.jpg ~/photo.jpg
                for n in 1 2; do
                    echo '{"s": '$n', "$parent": "soup"}' > ../Step/step$n.json
                done
                recordfs sync
                """)
        }

        private let tree = "cd RecordFS && find private -name '*.json' | sort"
        private let before = """
            private/Kitchen/Recipe/soup.json
            private/Kitchen/Recipe/tea.json
            private/Kitchen/Step/step1.json
            private/Kitchen/Step/step2.json
            """
        private let after = """
            private/Kitchen/Recipe/tea.json
            private/soup/.share.json
            private/soup/Recipe/soup.json
            private/soup/Step/step1.json
            private/soup/Step/step2.json
            """

        private func expectRefusal(_ command: String, _ words: String) throws {
            let result = try alice.shell(command)
            #expect(result.status != 0, "\(command)")
            #expect(result.errors.contains(words), "\(command): \(result)")
            #expect(try alice.ok(tree) == before)
            #expect(try alice.ok("ls RecordFS/private") == "Kitchen")
        }

        @Test("a record is shared in a zone of its own, with all that hangs on it and nothing else")
        func ownZone() async throws {
            let second = try account.machine()
            #expect(try second.eventually(tree, before))
            #expect(
                try alice.ok(
                    "recordfs share create private/Kitchen/Recipe/soup --own-zone --dry-run")
                        == """
                        private/Kitchen/Recipe/soup.json -> private/soup/Recipe/soup.json
                        private/Kitchen/Step/step1.json -> private/soup/Step/step1.json
                        private/Kitchen/Step/step2.json -> private/soup/Step/step2.json
                        """)
            #expect(try alice.ok(tree) == before)
            let share = try alice.ok(
                """
                recordfs share create private/Kitchen/Recipe/soup --own-zone --json \
                    --with bob@localhost --write
                """)
            try SystemCall.writeFile(alice.folder + "/share.json", share)
            #expect(try alice.ok("jq -r .path share.json") == "private/soup/Recipe/soup.json")
            #expect(try alice.ok(tree) == after)
            try bob.ok("recordfs accept '\(try alice.ok("jq -r .url share.json"))'")
            #expect(
                try bob.ok("cd RecordFS/shared/admin@localhost/soup && ls *")
                    == "Recipe:\nsoup.json\nsoup@photo.jpg\n\nStep:\nstep1.json\nstep2.json")
            try bob.ok(
                """
                cmp RecordFS/shared/admin@localhost/soup/Recipe/soup@photo.jpg \
                    \(alice.folder)/photo.jpg
                """)
            #expect(try second.eventually(tree, after))
            try second.ok(
                "cmp RecordFS/private/soup/Recipe/soup@photo.jpg \(alice.folder)/photo.jpg")
            #expect(
                try alice.ok("recordfs status --json | jq '[.zones[].pending] | add'") == "0")

            // Others go where it is.
            try alice.ok(
                """
                echo '{"$parent": "tea", "s": 3}' > RecordFS/private/Kitchen/Step/step3.json
                recordfs share create private/Kitchen/Recipe/tea --into private/soup
                """)
            #expect(
                try bob.eventually(
                    "cd RecordFS/shared/admin@localhost/soup && ls Recipe/*.json Step",
                    "Recipe/soup.json\nRecipe/tea.json\n\nStep:\nstep1.json\nstep2.json\nstep3.json"
                ))
            #expect(try second.eventually("\(tree) | grep -c Kitchen", "0"))

            // So do those of a participant, who may write there.
            try bob.ok(
                """
                mkdir -p RecordFS/private/Mine/Recipe
                echo '{"n": 7}' > RecordFS/private/Mine/Recipe/pie.json; recordfs sync
                recordfs share create private/Mine/Recipe/pie --into shared/admin@localhost/soup
                """)
            #expect(try alice.eventually("jq .n RecordFS/private/soup/Recipe/pie.json", "7"))
            #expect(try bob.ok("recordfs status --json | jq '[.zones[].pending] | add'") == "0")
            let other = try account.machine(as: "bob@localhost", password: "a password of bob")
            #expect(
                try other.eventually("ls RecordFS/shared/*/soup/Recipe/pie.json | wc -l", "1"))
            #expect(try other.ok("find RecordFS/private -name pie.json") == "")
            try end(second, other)
        }

        @Test("below a record that is shared hangs what is added to it, from this zone or another")
        func intoRecord() async throws {
            let link = try alice.ok(
                "recordfs share create private/Kitchen/Recipe/soup --with bob@localhost")
            try bob.ok("recordfs accept '\(link)'")
            let shared = "RecordFS/shared/admin@localhost/Kitchen"
            #expect(try bob.ok("ls \(shared)/Recipe/*.json") == "\(shared)/Recipe/soup.json")
            #expect(
                try alice.ok(
                    """
                    recordfs share create private/Kitchen/Recipe/tea \
                        --into private/Kitchen/Recipe/soup
                    """) == link)
            #expect(try bob.eventually("cd \(shared)/Recipe && ls *.json", "soup.json\ntea.json"))
            try alice.ok(
                """
                mkdir -p RecordFS/private/Other/Recipe
                echo '{"n": 9}' > RecordFS/private/Other/Recipe/bread.json
                recordfs share create private/Other/Recipe/bread --into private/Kitchen/Recipe/tea
                """)
            #expect(
                try bob.eventually(
                    "cd \(shared)/Recipe && jq -c '[.n, .\"$parent\"]' bread.json", #"[9,"tea"]"#))
            let ring = try alice.shell(
                """
                recordfs share create private/Kitchen/Recipe/soup \
                    --into private/Kitchen/Recipe/tea
                """)
            #expect(ring.status != 0 && ring.errors.contains("its own parent"), "\(ring)")
            try end()
        }

        @Test(
            "what cannot go is refused with its reason, also without the server; nothing has moved")
        func refused() async throws {
            let create = "recordfs share create private/Kitchen/Recipe/soup --own-zone"
            try alice.ok("echo '{\"n\": 1, \"of\": {\"$ref\": \"step1\"}}' > \(recipes)/tea.json")
            try expectRefusal(create, "Recipe/tea, which stays, names Step/step1 in of")
            try alice.ok("echo '{\"n\": 1}' > \(recipes)/tea.json")
            try expectRefusal("\(create) --zone-name Kitchen", "already")
            try expectRefusal("\(create) --with 'no address'", "no address")
            try expectRefusal(
                "recordfs share create private/Kitchen/Recipe/soup --into private/Kitchen",
                "nothing is shared there")
            try expectRefusal(
                "recordfs share create private/Kitchen --own-zone", "a zone can be shared as it is")
            try await account.stopServer()
            try expectRefusal(create, "the server does not answer")
            // An empty zone that was there stays there.
            try alice.ok("mkdir RecordFS/private/soup")
            let failed = try alice.shell(create)
            #expect(failed.status != 0 && failed.errors.contains("does not answer"))
            #expect(try alice.ok("ls RecordFS/private") == "Kitchen\nsoup")
            try await account.startServer()
            try alice.ok(create)
            #expect(try alice.ok(tree) == after)
            try end()
        }

        @Test("a participant's copy that is refused loses nothing: what he moved is where it was")
        func refusedCopy() async throws {
            let link = try alice.ok(
                "recordfs share create private/Kitchen --with bob@localhost --write")
            try bob.ok(
                """
                recordfs accept '\(link)'
                mkdir -p RecordFS/private/Mine/Recipe
                for n in 1 2; do echo '{"n": 7}' > RecordFS/private/Mine/Recipe/pie$n.json; done
                recordfs sync; recordfs pause
                recordfs share create private/Mine/Recipe/pie1 --into shared/admin@localhost/Kitchen
                recordfs mv private/Mine/Recipe/pie2 shared/admin@localhost/Kitchen/Recipe/pie2
                """)
            try alice.ok("recordfs share remove private/Kitchen bob@localhost")
            try bob.ok("recordfs resume")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            #expect(try bob.ok("ls RecordFS/private/Mine/Recipe") == "pie1.json\npie2.json")
            try bob.ok("recordfs sync")
            let other = try account.machine(as: "bob@localhost", password: "a password of bob")
            #expect(
                try other.eventually("ls RecordFS/private/Mine/Recipe", "pie1.json\npie2.json"))
            try end(other)
        }

        @Test("a tree of many requests goes whole, and leaves nothing")
        func large() async throws {
            try alice.ok(
                """
                cd RecordFS/private/Kitchen/Step
                for n in $(seq 300); do
                    echo '{"$parent": "soup"}' > child$n.json
                    echo '{"$parent": "child'$n'"}' > leaf$n.json
                done
                recordfs sync
                recordfs share create private/Kitchen/Recipe/soup --own-zone
                recordfs sync
                """)
            let second = try account.machine()
            for home in [alice, second] {
                #expect(
                    try home.eventually(
                        "cd RecordFS/private && ls soup/Step | wc -l && find Kitchen -name '*.json'",
                        "602\nKitchen/Recipe/tea.json"))
                #expect(try home.ok("recordfs conflicts list") == "")
            }
            try end(second)
        }

        @Test("what is saved into a file that was open when it moved is in a record")
        func openFile() async throws {
            try alice.ok(
                """
                exec 3<> RecordFS/private/Kitchen/Recipe/soup.json
                recordfs share create private/Kitchen/Recipe/soup --own-zone > link
                printf '{"late": true, "n": 1}' >&3
                exec 3>&-
                """)
            #expect(try alice.ok("grep -rl late RecordFS/private | wc -l") == "1")
            try end()
        }

        @Test(
            "a daemon that is killed in the middle leaves the records in one place, and all of them",
            arguments: ["saveOutboxWritten:2", "finalDeleteTrashed:2", "finalDeleteCommitted:1"])
        func killed(point: String) async throws {
            let second = try account.machine()
            #expect(try second.eventually(tree, before))
            try alice.ok("recordfs unmount && RECORDFS_FAILPOINT=\(point) recordfs mount")
            let killed = try alice.shell(
                "recordfs share create private/Kitchen/Recipe/soup --own-zone")
            #expect(killed.status != 0, "the daemon was killed")
            try alice.ok("recordfs mount && recordfs sync")
            let found = try alice.ok(tree).split(separator: "\n").filter { !$0.contains("share") }
            let expected = (point.contains("Committed") ? after : before).split(separator: "\n")
                .filter { !$0.contains("share") }
            #expect(found == expected)
            #expect(
                try second.eventually(
                    "\(tree) | grep -v share", found.joined(separator: "\n")))
            try second.ok("cmp RecordFS/private/*/Recipe/soup@photo.jpg \(alice.folder)/photo.jpg")
            try end(second)
        }
    }
}
