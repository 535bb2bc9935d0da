import TestSupport
import Testing

extension MountTests {
    /// Real processes: a server and the mounts of three users. Alice shares `soup` with its steps, and Bob
    /// may change it.
    @Suite struct SharedRecordTests: TestsOfTwoUsers {
        let users: TwoUsers
        private let link: String

        private let recipes = "RecordFS/private/Kitchen/Recipe"
        private let shared = "RecordFS/shared/admin@localhost/Kitchen/Recipe"

        init() async throws {
            users = try await TwoUsers()
            try users.alice.ok(
                """
                mkdir -p \(recipes) && cd \(recipes)
                echo '{"n": 1}' > soup.json; echo '{"n": 1}' > tea.json
                for n in 1 2 3; do echo '{"s": '$n', "$parent": "soup"}' > step$n.json; done
                """)
            // What was not sent yet is sent first.
            link = try users.alice.ok(
                "recordfs share create private/Kitchen/Recipe/soup --with bob@localhost --write")
            try bob.ok("recordfs accept '\(link)'")
        }

        private func words(
            _ home: CommandLineHome, _ command: String, _ words: String
        ) throws {
            let result = try home.shell(command)
            #expect(result.status != 0, "\(command)")
            #expect((result.errors + result.output).contains(words), "\(command): \(result)")
        }

        private let all = "soup.json\nstep1.json\nstep2.json\nstep3.json"

        @Test(
            "a participant who deletes the root leaves; what he deletes with it stays its owner's",
            arguments: [false, true])
        func participantDeletesRoot(isOffline: Bool) async throws {
            #expect(try bob.eventually("ls \(shared)", all))
            if isOffline { try bob.ok("recordfs pause") }
            try bob.ok("cd \(shared) && rm step1.json soup.json step2.json")
            #expect(try bob.ok("ls \(shared)") == "step3.json")
            if isOffline { try bob.ok("recordfs resume") }
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            try alice.ok("recordfs sync")
            #expect(try alice.ok("ls \(recipes)") == "\(all)\ntea.json")
            #expect(try alice.eventually("jq -c .participants \(recipes)/.soup.share.json", "[]"))
            try end()
        }

        @Test(
            "the owner deletes the root with what hangs on it: it is gone everywhere, with the share",
            arguments: [false, true])
        func ownerDeletesRoot(isOffline: Bool) async throws {
            #expect(try bob.eventually("ls \(shared)", all))
            if isOffline { try alice.ok("recordfs pause") }
            try alice.ok("rm \(recipes)/soup.json \(recipes)/step?.json")
            if isOffline { try alice.ok("recordfs resume") }
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            try alice.ok("recordfs sync")
            #expect(try alice.ok("ls -A \(recipes); recordfs shares") == "tea.json")
            #expect(try bob.ok("recordfs sync; ls RecordFS/.recordfs/trash") == "")
            try end()
        }

        @Test(
            "the owner deletes the root alone: the share ends, and what hung on it is the owner's")
        func rootAlone() async throws {
            #expect(try bob.eventually("ls \(shared)", all))
            try alice.ok("rm \(recipes)/soup.json")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            try alice.ok("recordfs sync")
            let left = "step1.json\nstep2.json\nstep3.json\ntea.json"
            #expect(
                try alice.ok("ls -A \(recipes); recordfs shares; recordfs conflicts list") == left)
            #expect(
                try alice.ok("recordfs status").contains(
                    "The share of private/Kitchen/Recipe/soup ended with its record. Its children stay "
                        + "with you, shared with nobody: step1, step2, step3"))
            // What comes back has it again, and is shared with nobody.
            try alice.ok("recordfs restore private/Kitchen/Recipe/soup; recordfs sync")
            #expect(try alice.ok("jq -r '.[\"$parent\"]' \(recipes)/step1.json") == "soup")
            #expect(try bob.ok("recordfs sync > /dev/null; ls RecordFS/shared") == "")
            try end()
        }

        @Test("what is named inside of a share is there; outside it is a name without a file")
        func references() async throws {
            #expect(try bob.eventually("ls \(shared)", all))
            try alice.ok(
                """
                cd \(recipes)
                echo '{"n": 1}' > menu.json; echo '{"n": 1, "$parent": "menu"}' > tart.json
                echo '{"n": 2, "of": {"$ref": "step1"}, "by": {"$ref": "tea"}}' > soup.json
                recordfs share create private/Kitchen/Recipe/tart --with bob@localhost --write \
                    > ~/tart
                """)
            try bob.ok("recordfs accept \"$(cat \(alice.folder)/tart)\"")
            #expect(
                try bob.eventually(
                    "cd \(shared) && jq -c '[.of, .by]' soup.json && ls *.json",
                    """
                    [{"$ref":"step1"},{"$ref":"tea"}]
                    soup.json\nstep1.json\nstep2.json\nstep3.json\ntart.json
                    """))
            #expect(try bob.ok("jq -r '.\"$parent\"' \(shared)/tart.json") == "null")
            // Who edits takes nothing from what he does not see, and can name what he sees.
            try bob.ok(
                """
                cd \(shared)
                jq '.n = 3 | .also = {"$ref": "step2"}' soup.json > x && mv x soup.json
                jq '.n = 4' tart.json > x && mv x tart.json
                recordfs sync
                """)
            #expect(
                try alice.eventually(
                    """
                    cd \(recipes) && jq -c '[.n, .by, .also]' soup.json
                    jq -c '[.n, .\"$parent\"]' tart.json
                    """,
                    """
                    [3,{"$ref":"tea"},{"$ref":"step2"}]
                    [4,"menu"]
                    """))
            #expect(try bob.ok("recordfs status --json | jq '[.zones[].pending] | add'") == "0")
            try end()
        }

        @Test("both delete the root at once: it is gone, and so is the share")
        func bothDeleteRoot() async throws {
            #expect(try bob.eventually("ls \(shared)", all))
            for home in [alice, bob] { try home.ok("recordfs pause") }
            try alice.ok("rm \(recipes)/soup.json \(recipes)/step?.json")
            try bob.ok("rm \(shared)/soup.json \(shared)/step1.json")
            for home in [bob, alice] { try home.ok("recordfs resume") }
            for home in [bob, alice, bob] { try home.ok("recordfs sync") }
            let rest = try bob.ok("find RecordFS/shared")
            #expect(rest == "RecordFS/shared")
            #expect(try alice.ok("ls -A \(recipes)") == "tea.json")
            for home in [alice, bob] {
                #expect(
                    try home.ok("recordfs status --json | jq '[.zones[].pending] | add // 0'")
                        == "0")
            }
            try end()
        }

        @Test("what hangs on it is shared on every level, and a child that moves out is gone there")
        func levels() async throws {
            try bob.ok(
                """
                cd \(shared)
                echo '{"t": 1, "$parent": "step1"}' > tip.json
                echo '{"t": 2, "$parent": "tip"}' > note.json
                """)
            #expect(try alice.eventually("jq -r '.[\"$parent\"]' \(recipes)/note.json", "tip"))
            // The owner hangs one on another record, with what hangs on it; and one comes in.
            try alice.ok(
                """
                cd \(recipes)
                echo '{"s": 1, "$parent": "tea"}' > step1.json
                echo '{"x": 1, "$parent": "step2"}' > late.json
                """)
            #expect(
                try bob.eventually("ls \(shared)", "late.json\nsoup.json\nstep2.json\nstep3.json"))
            try alice.ok("echo '{\"s\": 1, \"$parent\": \"soup\"}' > \(recipes)/step1.json")
            #expect(
                try bob.eventually(
                    "ls \(shared)",
                    "late.json\nnote.json\nsoup.json\nstep1.json\nstep2.json\nstep3.json\ntip.json")
            )
            // A participant cannot take a record out of what is shared.
            try bob.ok("echo '{\"s\": 33}' > \(shared)/step3.json")
            try words(bob, "recordfs sync", "needs a parent that is shared")
            try words(bob, "recordfs sync", "shared/admin@localhost/Kitchen/Recipe/step3.json")
            try bob.ok("recordfs revert \(shared)/step3.json")
            #expect(try bob.ok("jq -c . \(shared)/step3.json") == #"{"s":3,"$parent":"soup"}"#)
            #expect(try alice.ok("jq -c . \(recipes)/step3.json") == #"{"s":3,"$parent":"soup"}"#)
            try end()
        }

        @Test(
            "who may write no longer keeps what he wrote meanwhile, until he gives it up or may again"
        )
        func permissionGoes() async throws {
            #expect(try bob.eventually("ls \(shared)", all))
            try bob.ok(
                """
                recordfs pause; cd \(shared)
                echo '{"n": 2}' > soup.json; echo '{"own": 1}' > mine.json; rm step1.json
                """)
            try alice.ok(
                "recordfs share permit private/Kitchen/Recipe/soup bob@localhost read-only")
            try bob.ok("recordfs resume")
            #expect(try bob.eventually("stat -c %a \(shared)/soup.json", "444"))
            try words(bob, "recordfs sync", "read-only for this user")
            #expect(
                try alice.ok("ls \(recipes); jq .n \(recipes)/soup.json") == "\(all)\ntea.json\n1")
            try bob.ok("recordfs revert \(shared)/soup.json")
            #expect(try bob.ok("jq .n \(shared)/soup.json") == "1")
            try alice.ok(
                "recordfs share permit private/Kitchen/Recipe/soup bob@localhost read-write")
            #expect(try bob.eventually("stat -c %a \(shared)/soup.json", "644"))
            try bob.ok("recordfs retry")
            #expect(
                try alice.eventually(
                    "ls \(recipes)", "mine.json\nsoup.json\nstep2.json\nstep3.json\ntea.json"))
            try end()
        }

        @Test("what cannot be shared is said in words, and ending a share is no end for ever")
        func again() async throws {
            try words(alice, "recordfs share create \(recipes)/step1.json", "in a share")
            try words(alice, "recordfs share stop \(recipes)/tea.json", "not shared")
            try words(alice, "recordfs share create local/Own/Note/o", "private can be shared")
            try alice.ok("recordfs pause")
            try alice.ok("recordfs share create \(recipes)/tea.json > link")
            try alice.ok("recordfs share stop \(recipes)/tea.json; recordfs resume")
            // The link stays that of the record, and who was taken out has to be invited anew.
            try alice.ok("recordfs share stop \(recipes)/soup.json")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            let again = try alice.ok("recordfs share create \(recipes)/soup.json")
            #expect(again == link)
            try words(bob, "recordfs accept '\(link)'", "NOT_FOUND")
            try alice.ok("recordfs share add \(recipes)/soup.json bob@localhost")
            try bob.ok("recordfs accept '\(link)'")
            #expect(try bob.eventually("ls \(shared)", all))
            #expect(try bob.ok("stat -c %a \(shared)/soup.json") == "444")
            // A child made before its parent is shared is in the share.
            try alice.ok(
                "echo '{\"w\": 1, \"$parent\": \"tea\"}' > \(recipes)/leaf.json")
            try alice.ok("recordfs share create \(recipes)/tea.json --with bob@localhost > link")
            try bob.ok("recordfs accept \"$(cat \(alice.folder)/link)\"")
            #expect(try bob.eventually("ls \(shared)", "leaf.json\n\(all)\ntea.json"))
            #expect(
                try bob.ok("ls -A \(shared) | grep share") == ".soup.share.json\n.tea.share.json")
            try bob.ok("rm \(shared)/.tea.share.json")
            #expect(try bob.eventually("ls \(shared)", all))
            try end()
        }

        @Test("the owner moves what is shared to another zone while somebody edits it")
        func movedAway() async throws {
            #expect(try bob.eventually("ls \(shared)", all))
            try bob.ok("recordfs pause; echo '{\"n\": 7}' > \(shared)/soup.json")
            try alice.ok(
                """
                mkdir -p RecordFS/private/Attic/Recipe
                mv RecordFS/private/Kitchen/Recipe/*.json RecordFS/private/Attic/Recipe/
                """)
            // What he has written came too late: the deletions are there.
            #expect(
                try alice.eventually("recordfs events | grep Kitchen | grep -c deleted", "5"))
            try alice.ok("recordfs sync")
            try bob.ok("recordfs resume")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            #expect(
                try bob.ok(
                    "cat RecordFS/.recordfs/trash/shared/admin@localhost/Kitchen/Recipe/soup.json"
                )
                .contains("7"))
            #expect(
                try alice.ok(
                    "ls RecordFS/private/Attic/Recipe; jq .n RecordFS/private/Attic/Recipe/soup.json"
                )
                    == "\(all)\ntea.json\n1")
            try end()
        }

        @Test(
            "anybody with the link comes in, and goes when the share is for the invited alone again"
        )
        func everyone() async throws {
            try await account.addUser("carol@localhost", password: "a password of carol")
            let carol = try account.machine(as: "carol@localhost", password: "a password of carol")
            try words(carol, "recordfs accept '\(link)'", "NOT_FOUND")
            try alice.ok("recordfs share permit \(recipes)/soup.json everyone read-only")
            let place = try carol.ok("recordfs accept '\(link)'")
            // All that was there before is there, also what hangs on it; the owner has no address for her.
            #expect(place.hasPrefix("shared/_"))
            #expect(try carol.eventually("ls RecordFS/\(place)/Recipe", all))
            #expect(try carol.ok("stat -c %a RecordFS/\(place)/Recipe/soup.json") == "444")
            try bob.ok("echo '{\"s\": 9, \"$parent\": \"soup\"}' > \(shared)/step9.json")
            #expect(
                try carol.eventually("jq .s RecordFS/\(place)/Recipe/step9.json", "9"))
            try alice.ok("recordfs share permit \(recipes)/soup.json everyone read-write")
            #expect(try carol.eventually("stat -c %a RecordFS/\(place)/Recipe/soup.json", "644"))
            try carol.ok("echo '{\"n\": 5}' > RecordFS/\(place)/Recipe/soup.json")
            for (home, path) in [(alice, recipes), (bob, shared)] {
                #expect(try home.eventually("jq .n \(path)/soup.json", "5"))
            }
            try alice.ok("recordfs share permit \(recipes)/soup.json everyone none")
            #expect(try carol.eventually("ls RecordFS/shared", ""))
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            try words(carol, "recordfs accept '\(link)'", "NOT_FOUND")
            try end(carol)
        }

        @Test(
            "who has it open when the share ends reads nothing any more, and his words are in the trash"
        )
        func open() async throws {
            try alice.ok(
                "head -c 50000 /dev/urandom | base64 > \(recipes)/soup@photo.txt; recordfs sync")
            #expect(
                try bob.eventually(
                    "ls \(shared)", "soup.json\nsoup@photo.txt\nstep1.json\nstep2.json\nstep3.json")
            )
            _ = try bob.file(
                "open.py",
                """
                import mmap, os, subprocess, sys, time
                os.chdir(sys.argv[1])
                files = {name: os.open(name, os.O_RDWR) for name in
                         ("soup.json", "soup@photo.txt", "step1.json")}
                maps = {name: mmap.mmap(file, 0) for name, file in files.items()
                        if name != "step1.json"}
                for name in maps: maps[name][:]
                os.pwrite(files["step1.json"], b'{"s": 1, "$parent": "soup", "own": 1}', 0)
                print("open", flush=True)
                sys.stdin.readline()
                # The listing is empty a moment before the kernel has dropped the last page.
                def isOpen(file):
                    try: return bool(os.pread(file, 9, 0))
                    except OSError: return False
                end = time.monotonic() + 10
                while any(map(isOpen, files.values())) and time.monotonic() < end: pass
                for name, file in files.items():
                    try: print(name, os.pread(file, 9, 0))
                    except OSError as error: print(name, error.strerror)
                try: os.close(files["step1.json"])
                except OSError as error: print(error.strerror)
                for name in maps:
                    child = os.fork()
                    if child == 0: os._exit(1 if any(maps[name][:9]) else 0)
                    print(name, "mapped", os.waitpid(child, 0)[1] == 256)
                    child = os.fork()
                    if child == 0:
                        maps[name][:3] = b"own"
                        try: maps[name].flush()
                        except OSError: os._exit(1)
                        os._exit(0)
                    print(name, "written", os.waitpid(child, 0)[1] == 0)
                """)
            let said = try bob.ok(
                "python3 open.py \(shared)",
                while: """
                    HOME=\(alice.folder) recordfs share stop private/Kitchen/Recipe/soup
                    until [ -z "$(ls RecordFS/shared)" ]; do :; done
                    """)
            #expect(
                said == """
                    open
                    soup.json Permission denied
                    soup@photo.txt Permission denied
                    step1.json Permission denied
                    Permission denied
                    soup.json mapped False
                    soup.json written False
                    soup@photo.txt mapped False
                    soup@photo.txt written False
                    """)
            let trash = "RecordFS/.recordfs/trash/shared/admin@localhost/Kitchen/Recipe"
            #expect(
                try bob.ok("ls \(trash); jq -c . \(trash)/step1.json") == "step1.json\n{\"own\":1}")
            try end()
        }
    }
}
