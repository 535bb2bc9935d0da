import TestSupport
import Testing

extension MountTests {
    /// Real processes: a server, and the mounts of two users, one of whom shares with the other.
    @Suite struct SharingTests: TestsOfTwoUsers {
        let users: TwoUsers

        init() async throws {
            users = try await TwoUsers()
            try alice.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe
                echo '{"n": 1}' > RecordFS/private/Kitchen/Recipe/soup.json
                head -c 100000 /dev/urandom > RecordFS/private/Kitchen/Recipe/soup@photo.jpg
                """)
        }

        /// The directory of the owner, as `ls shared` has it at Bob's.
        private let kitchen = "RecordFS/shared/*/Kitchen/Recipe"

        @Test("a zone that is shared is at the other's mount, and edits go both ways")
        func bothWays() async throws {
            let link = try alice.ok(
                "recordfs share create private/Kitchen --with bob@localhost --write")
            #expect(link.hasPrefix("http://127.0.0.1:"))
            // What was listed before is listed anew.
            #expect(try bob.ok("ls RecordFS/shared") == "")
            let place = try bob.ok("recordfs accept '\(link)'")
            #expect(place.hasPrefix("shared/") && place.hasSuffix("/Kitchen"))
            let listed = try bob.ok("echo RecordFS/shared/*/*")
            #expect(listed == "RecordFS/\(place)")
            try bob.ok(
                """
                cmp RecordFS/\(place)/Recipe/soup.json \
                    \(alice.folder)/RecordFS/private/Kitchen/Recipe/soup.json
                cmp RecordFS/\(place)/Recipe/soup@photo.jpg \
                    \(alice.folder)/RecordFS/private/Kitchen/Recipe/soup@photo.jpg
                sed -i 's/"n": 1/"n": 2/' RecordFS/\(place)/Recipe/soup.json
                echo '{"n": 3}' > RecordFS/\(place)/Recipe/stew.json
                """)
            #expect(
                try bob.ok("jq -r .owner RecordFS/.recordfs/meta/\(place)/Recipe/soup.json")
                    == place.split(separator: "/")[1])
            let recipes = "RecordFS/private/Kitchen/Recipe"
            #expect(try alice.eventually("jq .n \(recipes)/soup.json", "2"))
            #expect(try alice.eventually("jq .n \(recipes)/stew.json", "3"))
            try alice.ok("rm \(recipes)/stew.json")
            #expect(try bob.eventually("ls \(kitchen)", "soup.json\nsoup@photo.jpg"))
            try end()
        }

        @Test("who may only read is refused by each system call, online and offline; nothing waits")
        func readOnly() async throws {
            let link = try alice.ok("recordfs share create private/Kitchen --with bob@localhost")
            let place = try bob.ok("recordfs accept '\(link)'")
            try bob.ok(
                """
                mkdir -p RecordFS/{local,private}/Own/Note
                echo '{}' > RecordFS/local/Own/Note/o.json
                """)
            let own = "RecordFS/private/Own:\nNote\n\nRecordFS/private/Own/Note:"
            for isOnline in [true, false] {
                if !isOnline { try await account.stopServer() }
                for (command, what) in Self.writes {
                    let tried = try bob.shell("cd RecordFS/\(place)/Recipe && \(command)")
                    #expect(tried.status != 0, "\(what)")
                    #expect(
                        [
                            "Permission denied", "Read-only", "not supported", "You may read",
                            "open file for writing",
                        ].contains {
                            (tried.errors + tried.output).contains($0)
                        },
                        "\(what): \(tried)")
                }
                #expect(
                    try bob.ok("ls -A RecordFS/\(place)/Recipe") == "soup.json\nsoup@photo.jpg")
                #expect(try bob.ok("ls -A RecordFS/private/Own RecordFS/private/Own/Note") == own)
                try bob.ok("cat RecordFS/\(place)/Recipe/* > /dev/null")
                for what in ["edit", "delete", "create"] {
                    let asked = try bob.shell("recordfs can \(what) \(place)/Recipe/soup")
                    #expect(asked.status == 1 && asked.output.hasPrefix("no: it is shared"))
                }
                #expect(
                    try bob.ok(
                        "recordfs can create local/Own/Note; recordfs can --json create private/New"
                    )
                        == "yes\n{\n  \"can\": true\n}")
                let foreign = try bob.shell("recordfs can create shared")
                #expect(foreign.status == 1 && foreign.errors == "", "\(foreign)")
                #expect(foreign.output.hasPrefix("no: zones of others come from their owners"))
                #expect(
                    try bob.ok("for d in private public local; do recordfs can create $d; done")
                        == "yes\nyes\nyes")
                let missing = try bob.shell("recordfs can edit \(place)/Recipe/none")
                #expect(missing.status == 1 && missing.output.hasPrefix("no: it is shared"))
                #expect(try bob.ok("recordfs status --json | jq '[.zones[].pending] | add'") == "0")
            }
            try await account.startServer()
            // The same through the mount, when the owner lets him.
            try alice.ok("recordfs share permit private/Kitchen bob@localhost read-write")
            #expect(
                try bob.eventually(
                    "cd RecordFS/\(place)/Recipe && sed -i 's/\"n\": 1/\"n\": 5/' soup.json && jq .n soup.json",
                    "5"))
            #expect(
                try alice.eventually("jq .n RecordFS/private/Kitchen/Recipe/soup.json", "5"))
            #expect(
                try bob.ok(
                    "recordfs can create shared; recordfs can create shared/admin@localhost")
                    == "yes\nyes")
            #expect(
                try bob.ok(
                    "for w in edit delete create; do recordfs can $w \(place)/Recipe/none; done")
                    == "yes\nyes\nyes", "one may create it")
            try end()
        }

        /// Each with what it stands for.
        private static let writes = [
            ("echo '{}' > soup.json", ">"), ("echo '{}' >> soup.json", ">>"),
            ("echo '{}' > new.json", "a new file"), ("truncate -s 0 soup.json", "truncate"),
            ("mv ../../../../local/Own/Note/o.json soup.json", "rename over"),
            ("mv soup.json away.json", "rename away"), ("rm -f soup.json", "unlink"),
            ("touch soup.json", "touch"), ("chmod 600 soup.json", "chmod"),
            ("setfattr -n user.x -v y soup.json", "setfattr"), ("mkdir ../Other", "mkdir"),
            ("sed -i s/1/2/ soup.json", "sed -i"),
            ("vim -u NONE -n -es -V1 -c 's/1/2/' -c 'w!' -c 'q!' soup.json", "vim :w!"),
            ("cp soup.json x.json", "cp"), ("rm -f soup@photo.jpg", "unlink of a large field"),
            ("recordfs mv soup.json ~/RecordFS/private/Own/Note/", "recordfs mv"),
            ("mv soup.json ~/RecordFS/private/Own/Note/", "mv to a zone of one's own"),
            ("mv soup@photo.jpg ~/RecordFS/private/Own/Note/", "mv of a large field"),
            ("mv ../Recipe ~/RecordFS/private/Own/", "mv of a type"),
            ("mv ../../Kitchen ~/RecordFS/private/Own", "mv of a zone"),
            ("rsync --inplace ../../../../local/Own/Note/o.json soup.json", "rsync"),
            (
                "python3 -c 'import mmap,os; mmap.mmap(os.open(\"soup.json\", os.O_RDWR), 0)'",
                "mmap"
            ),
        ]

        @Test("what is shared no longer leaves nothing, and unsent edits are in the trash")
        func revoked() async throws {
            let word = "quixotry\(UInt32.random(in: 0...UInt32.max))"
            try alice.ok(
                """
                cd RecordFS/private/Kitchen/Recipe
                for n in $(seq 30); do echo "{\\"text\\": \\"\(word) $n\\"}" > \(word)$n.json; done
                echo '\(word)' > soup@\(word).txt
                """)
            let link = try alice.ok(
                "recordfs share create private/Kitchen --with bob@localhost --write")
            let place = try bob.ok("recordfs accept '\(link)'")
            // It is in each place where something of a record can be.
            try bob.ok(
                """
                cd RecordFS/\(place)/Recipe && cat * > /dev/null
                for n in 1 2 3; do sed -i "s/ $n/ again $n/" \(word)$n.json; rm \(word)2$n.json; done
                recordfs search shared \(word) > /dev/null || true
                recordfs sql 'SELECT count(*) FROM Recipe' > /dev/null
                cp \(word)4.json .\(word).swp; recordfs sync
                """)
            // A large field that does not come, which the log tells of.
            try alice.ok(
                "echo big > RecordFS/private/Kitchen/Recipe/\(word)9@\(word).bin; recordfs sync")
            let field = "RecordFS/\(place)/Recipe/\(word)9@\(word).bin"
            #expect(try bob.eventually("stat -c %s \(field)", "4"))
            try await account.stopServer()
            #expect(try bob.shell("cat \(field)").status == 1)
            try await account.startServer()
            // The database and the large fields, and beside them the log and the list of refusals.
            let state = ".local/share/recordfs .local/state/recordfs"
            #expect(try bob.shell("grep -rqa \(word) \(state)").status == 0)
            try bob.ok("recordfs pause; echo '{\"own\": 1}' > RecordFS/\(place)/Recipe/mine.json")
            try bob.ok(
                "cd RecordFS/\(place)/Recipe && jq -c '.own = 2' \(word)5.json > x && cat x > \(word)5.json"
            )
            // Renamed, in a text that is no record, and in what somebody has open.
            _ = try bob.file(
                "hold.py",
                """
                import mmap, os, sys
                place, word, *kept = sys.argv[1:]
                files = [place + "/.share.json", place + "/Recipe/" + word + "8.json"] + kept
                held = [os.open(file, os.O_RDONLY) for file in files]
                pages = mmap.mmap(held[1], 0, prot=mmap.PROT_READ)
                assert word.encode() in pages[:]
                print("open", flush=True)
                sys.stdin.readline()
                for file in held:
                    try:
                        print("read" if os.read(file, 1 << 16) else "nothing")
                    except OSError as error:
                        print(error.strerror)
                """)
            try bob.ok(
                """
                cd RecordFS/\(place)/Recipe && mv \(word)6.json renamed.json
                printf '{\n"text": "\(word) 7",\n"own": 3,\n' > \(word)7.json || true
                """)
            let held = try bob.ok(
                """
                python3 hold.py RecordFS/\(place) \(word) \
                    "$(ls -d RecordFS/.recordfs/history/\(place)/Recipe/\(word)9/* | head -n 1)" \
                    RecordFS/.recordfs/trash/\(place)/Recipe/\(word)21.json \
                    RecordFS/\(place)/Recipe/.\(word).swp
                """,
                while: """
                    HOME=\(alice.folder) recordfs share remove private/Kitchen bob@localhost
                    recordfs resume
                    until [ -z "$(ls RecordFS/shared)" ]; do :; done
                    """)
            #expect(held.split(separator: "\n").count == 6 && !held.contains("read"), "\(held)")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            // But for the names of records with an edit of his.
            let search = "grep -rlaE '\(word)( |[^57]|[0-9]{2})' \(state); true"
            #expect(try bob.eventually(search, ""))
            #expect(
                try bob.ok("recordfs status").contains(
                    "3 records with edits that you had not sent when a share ended"))
            #expect(
                try bob.ok("cat RecordFS/.recordfs/trash/\(place)/Recipe/*.json").contains("own"))
            try end()
            try bob.ok("recordfs mount")
            #expect(try bob.ok(search) == "")
            try bob.ok("recordfs unmount")
        }

        @Test("one record is shared with what hangs on it, and what is new there hangs on it too")
        func hierarchy() async throws {
            let recipes = "RecordFS/private/Kitchen/Recipe"
            try alice.ok(
                """
                echo '{"step": 1, "$parent": "soup"}' > \(recipes)/step.json
                echo '{"secret": 1}' > \(recipes)/secret.json
                """)
            let link = try alice.ok(
                "recordfs share create \(recipes)/soup.json --with bob@localhost --write")
            let place = try bob.ok("recordfs accept '\(link)'")
            let shown = "ls RecordFS/\(place)/Recipe"
            #expect(try bob.eventually(shown, "soup.json\nsoup@photo.jpg\nstep.json"))
            try bob.ok("echo '{\"step\": 2}' > RecordFS/\(place)/Recipe/next.json; recordfs sync")
            #expect(
                try alice.eventually(
                    "jq -c . \(recipes)/next.json", #"{"$parent":"soup","step":2}"#))
            #expect(
                try bob.eventually(
                    "jq -c . RecordFS/\(place)/Recipe/next.json", #"{"$parent":"soup","step":2}"#))
            // What hangs on it no more is gone there, and nothing of it is left.
            try alice.ok(
                "jq 'del(.[\"$parent\"])' \(recipes)/step.json > x && cat x > \(recipes)/step.json")
            #expect(try bob.eventually(shown, "next.json\nsoup.json\nsoup@photo.jpg"))
            #expect(try bob.ok("ls RecordFS/.recordfs/trash") == "")
            try bob.ok("recordfs leave \(place)/Recipe/soup")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            #expect(
                try alice.ok("ls \(recipes)")
                    == "next.json\nsecret.json\nsoup.json\nsoup@photo.jpg\nstep.json")
            try end()
        }

        @Test("who has what is shown and changed, and what cannot be is said in words")
        func management() async throws {
            let refused = {
                (home: CommandLineHome, command: String, words: String) in
                let result = try home.shell(command)
                #expect(result.status != 0, "\(command)")
                #expect(result.errors.contains(words), "\(command): \(result.errors)")
            }
            try refused(alice, "recordfs share show private/Kitchen", "it is not shared")
            try refused(alice, "recordfs share add private/Kitchen bob@localhost", "share create")
            let link = try alice.ok("recordfs share create private/Kitchen --title 'Our kitchen'")
            #expect(link.hasSuffix("#Our_kitchen"))
            #expect(try alice.ok("recordfs share url private/Kitchen") == link)
            try refused(alice, "recordfs share create private/Kitchen", "shared already")
            try refused(alice, "recordfs share create private/Kitchen/Recipe/soup", "in a share")
            try refused(alice, "recordfs share create local/Own", "private can be shared")
            try refused(bob, "recordfs accept '\(link)'", "NOT_FOUND")
            try refused(bob, "recordfs accept https://example.org/", "no link of a share")
            try refused(bob, "recordfs leave shared/nobody/Kitchen", "no zone")
            #expect(try alice.ok("recordfs accept '\(link)'") == "private/Kitchen")
            try alice.ok("recordfs share permit private/Kitchen everyone read-only")
            let place = try bob.ok("recordfs accept '\(link)'")
            #expect(try bob.ok("recordfs accept '\(link)'") == place)
            #expect(try bob.ok("stat -c %a RecordFS/\(place)/Recipe/soup.json") == "444")
            try refused(
                alice, "recordfs share add private/Kitchen carol@localhost", "everyone none first")
            try refused(
                alice, "recordfs share permit private/Kitchen bob@localhost read-write",
                "joined by the link")
            try refused(
                alice, "recordfs share add private/Kitchen 'not an address'", "no e-mail address")
            try refused(
                bob, "recordfs accept https://records.example.org/share/0abc", "another server")
            #expect(try alice.ok("recordfs share show private/Kitchen").contains("anybody"))
            try alice.ok("recordfs share permit private/Kitchen everyone none")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            try alice.ok("recordfs share add private/Kitchen bob@localhost --write --admin")
            #expect(try bob.ok("recordfs accept '\(link)'") == place)
            #expect(try bob.ok("stat -c %a RecordFS/\(place)/Recipe/soup.json") == "644")
            let person =
                #".participants[] | select(.address == "bob@localhost") | .permission + " " + .status"#
            #expect(
                try alice.ok("recordfs share show --json private/Kitchen | jq -r '\(person)'")
                    == "READ_WRITE ACCEPTED")
            #expect(
                try bob.ok("recordfs shares")
                    == "\(place): \"Our kitchen\", of admin@localhost, read and write")
            #expect(
                try alice.ok("recordfs shares --json | jq -r '.path + \" \" + .url'")
                    == "private/Kitchen \(link)")
            try refused(bob, "recordfs share stop \(place)", "leave")
            try refused(
                alice, "recordfs share remove private/Kitchen carol@localhost", "no participant")
            try alice.ok("recordfs share stop private/Kitchen")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            try refused(bob, "recordfs accept '\(link)'", "NOT_FOUND")
            try end()
        }

        @Test("modes follow the share, and what was open when it changed")
        func permissionChanges() async throws {
            let link = try alice.ok(
                "recordfs share create private/Kitchen --with bob@localhost --write")
            let place = try bob.ok("recordfs accept '\(link)'")
            let modes = "cd RecordFS/\(place)/Recipe && stat -c %a .. . soup.json soup@photo.jpg"
            #expect(try bob.ok(modes) == "755\n755\n644\n644")
            // Opened while it was allowed; one has written already, the other not yet.
            _ = try bob.file(
                "edit.py",
                """
                import os, sys
                first = os.open(sys.argv[1], os.O_RDWR)
                second = os.open(sys.argv[1], os.O_RDWR)
                photo = os.open(sys.argv[2], os.O_RDWR)
                os.pwrite(first, b'{"n": 77}\\n', 0)
                print("open", flush=True)
                sys.stdin.readline()
                for what in (lambda: os.ftruncate(second, 0), lambda: os.write(second, b"{}"),
                             lambda: os.fsync(first), lambda: os.open(sys.argv[1], os.O_TRUNC),
                             lambda: os.open(sys.argv[2], os.O_TRUNC), lambda: os.write(photo, b"x")):
                    try:
                        what()
                        print("done")
                    except OSError as error:
                        print(error.strerror)
                """)
            let edited = try bob.ok(
                "python3 edit.py RecordFS/\(place)/Recipe/soup{.json,@photo.jpg}",
                while: permittingToRead("RecordFS/\(place)/Recipe/soup.json"))
            let denied = "Permission denied"
            #expect(
                edited == (["open"] + Array(repeating: denied, count: 6)).joined(separator: "\n"))
            #expect(try bob.ok(modes) == "555\n555\n444\n444")
            // What he had written is a draft, which says why, and nothing of it waits.
            let reason = try bob.ok("cat RecordFS/\(place)/Recipe/.error")
            #expect(reason.contains("not change it"))
            #expect(try bob.ok("recordfs status --json | jq '[.zones[].pending] | add'") == "0")
            try bob.ok("recordfs draft discard RecordFS/\(place)/Recipe/soup.json")
            #expect(try bob.ok("jq .n RecordFS/\(place)/Recipe/soup.json") == "1")
            try alice.ok("recordfs share permit private/Kitchen bob@localhost read-write")
            #expect(try bob.eventually(modes, "755\n755\n644\n644"))
            try end()
        }

        /// Bob may only read any more, and his machine has heard so.
        private func permittingToRead(_ file: String) -> String {
            """
            HOME=\(alice.folder) recordfs share permit private/Kitchen bob@localhost read-only
            until [ "$(stat -c %a \(file))" = 444 ]; do :; done
            """
        }

        @Test("what is written into a mapping that may only be read by now is shown to nobody else")
        func mappings() async throws {
            let link = try alice.ok(
                "recordfs share create private/Kitchen --with bob@localhost --write")
            let place = try bob.ok("recordfs accept '\(link)'")
            _ = try bob.file(
                "map.py",
                """
                import mmap, os, subprocess, sys, time
                files = sys.argv[1:]
                maps = [mmap.mmap(os.open(file, os.O_RDWR), 0) for file in files]
                shown = [pages[:] for pages in maps]
                def read(file): return subprocess.run(["cat", file], capture_output=True).stdout
                print("open", flush=True)
                sys.stdin.readline()
                for file, pages, owners in zip(files, maps, shown):
                    pages[:4] = b"mine"
                    try:
                        pages.flush()
                        print("written")
                    except OSError as error:
                        print(error.strerror)
                    # The kernel is told to drop the page beside the answer to its write.
                    end = time.monotonic() + 10
                    while read(file) != owners and time.monotonic() < end: pass
                    print("the owner's" if read(file) == owners else read(file)[:4])
                """)
            let recipe = "RecordFS/\(place)/Recipe/soup"
            let said = try bob.ok(
                "python3 map.py \(recipe).json \(recipe)@photo.jpg",
                while: permittingToRead("\(recipe).json"))
            let refused = "Permission denied\nthe owner's"
            #expect(said == "open\n\(refused)\n\(refused)")
            try end()
        }

        @Test(
            "a refused text of a share is told to shells, which do not look at the answer of close")
        func refusedText() async throws {
            let account = try await Account()
            let a = try account.machine()
            try a.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe
                echo '{}' > RecordFS/private/Kitchen/Recipe/soup.json
                recordfs sync
                echo '{"participants": [' > RecordFS/private/Kitchen/.share.json || true
                """)
            let told = try a.ok("cat .local/state/recordfs/refused")
            #expect(told.contains("/private/Kitchen/.share.json\t"), "\(told)")
            try a.ok("rm RecordFS/private/Kitchen/.share.json && recordfs unmount")
        }
    }
}
