import RecordModel
import TestSupport
import Testing

extension MountTests {
    /// Real processes: a record server, and the daemons of two machines of one account.
    @Suite struct SyncTests {
        @Test("a file saved on one machine becomes one on the other, is edited there and removed")
        func travels() async throws {
            let account = try await Account()
            let (a, b) = (try account.machine(), try account.machine())
            try a.ok("mkdir -p RecordFS/private/Box/Note")
            try a.ok(#"echo '{"title": "one"}' > RecordFS/private/Box/Note/x.json"#)
            #expect(try b.eventually("jq -r .title RecordFS/private/Box/Note/x.json", "one"))
            try b.ok("sed -i s/one/two/ RecordFS/private/Box/Note/x.json")
            #expect(try a.eventually("jq -r .title RecordFS/private/Box/Note/x.json", "two"))
            try a.ok("rm RecordFS/private/Box/Note/x.json; recordfs sync")
            #expect(try b.eventually("ls RecordFS/private/Box/Note", ""))
            try a.ok("recordfs unmount && recordfs fsck")
            try b.ok("recordfs unmount && recordfs fsck")
        }

        @Test("what was saved without a server goes up at sign-in; local/ stays")
        func signInLater() async throws {
            let account = try await Account()
            let a = try CommandLineHome()
            try a.ok("recordfs mount")
            try a.ok("mkdir -p RecordFS/private/Box/Note RecordFS/local/Own/Note")
            try a.ok(
                #"echo '{"n": 1}' | tee RecordFS/private/Box/Note/x.json RecordFS/local/Own/Note/y.json"#
            )
            try account.signIn(a)
            try a.ok("recordfs sync")
            let b = try account.machine()
            #expect(try b.eventually("ls RecordFS/private/Box/Note; ls RecordFS/local", "x.json"))
            try a.ok("recordfs unmount")
            try b.ok("recordfs unmount")
        }

        @Test(
            "signing out leaves every file and what waits; signed in again, that alone goes up")
        func signOut() async throws {
            let account = try await Account()
            let (a, b) = (try account.machine(), try account.machine())
            let note = "RecordFS/private/Box/Note"
            try a.ok(
                """
                mkdir -p \(note) && cd \(note)
                for name in x y z; do echo '{"n": 1}' > $name.json; done
                recordfs sync
                """)
            #expect(try b.eventually("cat \(note)/*.json | jq .n", "1\n1\n1"))
            let tag = "jq -r .changeTag RecordFS/.recordfs/meta/private/Box/Note/x.json"
            let before = try a.shell(tag).output
            try a.ok("recordfs logout")
            #expect(try a.shell("cat \(note)/*.json | jq .n").output == "1\n1\n1\n")
            try a.ok(
                """
                cd \(note)
                echo '{"n": 2}' > y.json && echo '{"n": 3}' > new.json && rm z.json
                """)
            let refused = try a.shell("recordfs sync")
            #expect(refused.status != 0 && refused.errors.contains("recordfs login"), "\(refused)")
            try b.ok("recordfs sync")
            #expect(try b.shell("cat \(note)/*.json | jq .n").output == "1\n1\n1\n")
            try account.signIn(a)
            try a.ok("recordfs sync")
            #expect(
                try b.eventually(
                    "cd \(note); ls; cat y.json new.json | jq .n", "new.json\nx.json\ny.json\n2\n3")
            )
            #expect(try !before.isEmpty && a.shell(tag).output == before)
            try a.ok("recordfs unmount && recordfs fsck")
            try b.ok("recordfs unmount && recordfs fsck")
        }

        @Test("changes made while the server is down arrive when it is there again")
        func serverDown() async throws {
            let account = try await Account()
            let (a, b) = (try account.machine(), try account.machine())
            try a.ok("mkdir -p RecordFS/private/Box/Note && recordfs sync")
            try await account.stopServer()
            try a.ok(#"echo '{"n": 1}' > RecordFS/private/Box/Note/x.json"#)
            let refused = try a.shell("recordfs sync")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("cannot be reached"), "\(refused)")
            try await account.startServer()
            try a.ok("recordfs sync")
            #expect(try b.eventually("jq .n RecordFS/private/Box/Note/x.json", "1"))
            try a.ok("recordfs unmount")
            try b.ok("recordfs unmount")
        }

        @Test("a daemon that is killed goes on where it was")
        func killed() async throws {
            let account = try await Account()
            let (a, b) = (try account.machine(), try account.machine())
            try a.ok("mkdir -p RecordFS/private/Box/Note && recordfs sync")
            for number in 1...5 {
                try a.ok(
                    """
                    echo '{"n": \(number)}' > RecordFS/private/Box/Note/r\(number).json
                    kill -9 $(recordfs status --json | jq .daemon.pid)
                    recordfs mount
                    """)
            }
            try a.ok("recordfs sync")
            #expect(
                try b.eventually(
                    "cat RecordFS/private/Box/Note/*.json | jq .n | tr '\\n' ' '", "1 2 3 4 5 "))
            try a.ok("recordfs unmount && recordfs fsck")
            try b.ok("recordfs unmount")
        }

        @Test("who stands in a directory stays there while it is sent and changed elsewhere")
        func workingDirectory() async throws {
            let account = try await Account()
            let (a, b) = (try account.machine(), try account.machine())
            try a.ok(
                """
                mkdir -p RecordFS/private/Box/Note && cd RecordFS/private/Box
                echo '{"n": 1}' > Note/r.json
                recordfs sync; recordfs pin Note; recordfs get Note/r > ~/got
                [[ $(readlink /proc/self/cwd) == $PWD ]]
                """)
            #expect(try b.eventually("ls RecordFS/private/Box/Note", "r.json"))
            try a.ok("echo '{\"n\": 2}' > RecordFS/private/Box/Note/s.json && recordfs sync")
            let there = try b.ok(
                """
                cd RecordFS/private/Box && recordfs sync && recordfs get Note/s
                readlink /proc/self/cwd
                """)
            #expect(there.hasSuffix("/RecordFS/private/Box"))
            for home in [a, b] { try home.ok("recordfs unmount") }
        }

        @Test("a text that is being written when its zone is removed elsewhere brings it back")
        func zoneOfOpenTextRemoved() async throws {
            let account = try await Account()
            let (a, b) = (try account.machine(), try account.machine())
            let file = "RecordFS/private/Box/Note/r.json"
            let other = "RecordFS/private/Box/Note/s.json"
            try a.ok(
                "mkdir -p RecordFS/private/Box/Note && echo '{\"n\": 1}' | tee \(file) > \(other)")
            #expect(try b.eventually("jq .n \(file) \(other)", "1\n1"))
            // One program has written already, the other does it when the directory is gone.
            try b.ok(
                """
                exec 3<> \(file) 4<> \(other)
                echo '{"n": 2}' >&3
                (cd \(a.folder); HOME=$PWD; rm -r RecordFS/private/Box; recordfs sync)
                for try in $(seq 200); do
                    [ -z "$(ls RecordFS/private)" ] && break
                    sleep 0.05
                done
                ls RecordFS/private
                echo '{"n": 3}' >&4
                exec 3>&- 4>&-
                """)
            for machine in [a, b] {
                #expect(try machine.eventually("jq .n \(file) \(other)", "2\n3"))
            }
            try b.ok("recordfs sync && recordfs unmount && recordfs fsck")
            try a.ok("recordfs unmount && recordfs fsck")
        }

        @Test("what the exchange does is an event, on the mount and for a command")
        func events() async throws {
            let account = try await Account()
            let a = try account.machine()
            try a.ok(
                """
                timeout 20 grep -m1 '"event":"export"' RecordFS/.recordfs/events > seen &
                reader=$!
                mkdir -p RecordFS/private/Box/Note
                for n in 1 2 3 4 5 6 7 8; do
                    echo '{"n": '$n'}' > RecordFS/private/Box/Note/x.json
                    recordfs sync
                done
                wait $reader
                jq -e '.succeeded and .records == 1' seen
                """)
            let kinds = try a.shell(
                "recordfs events --sync --json | jq -r '\"\\(.event) \\(.path)\"' | sort -u")
            #expect(kinds.output.contains("export private/Box"), "\(kinds)")
            try a.ok("jq -e '.sync.lastFetch' RecordFS/.recordfs/status.json")
            // Those that failed alone, and those of one database alone.
            try a.ok("echo '{}' | recordfs put local/Own/Note/y")
            #expect(try a.ok("recordfs events --sync --failed") == "")
            try await account.stopServer()
            _ = try a.shell("echo '{}' > RecordFS/private/Box/Note/x.json; recordfs sync")
            let failed = try a.ok(
                "recordfs events --sync --failed --json | jq -c .succeeded | uniq")
            #expect(failed == "false")
            #expect(try a.ok("recordfs events --sync --failed").contains("cannot be reached"))
            let databases = "recordfs events --json --database"
            #expect(try a.ok("\(databases) local | jq -r .path") == "local/Own/Note/y.json")
            #expect(
                try a.ok("\(databases) private | jq -r .path | uniq") == "private/Box/Note/x.json")
            #expect(try a.ok("\(databases) shared; recordfs events --sync --database public") == "")
            #expect(try a.shell("recordfs events --failed").status == 2)
            try a.ok("recordfs unmount")
        }

        @Test("a record that the server refuses is a failed export with its reason")
        func refusedExport() async throws {
            let account = try await Account(server: ["--set", "record-bytes=5000"])
            let a = try account.machine()
            try a.ok(
                """
                mkdir -p RecordFS/private/{Box,Den}/Note
                cd RecordFS/private
                head -c 6000 /dev/zero | tr '\\0' k | jq -R '{a: [.]}' > Box/Note/long.json
                for name in x y; do echo '{"n": 1}' > Box/Note/$name.json; done
                echo '{"n": 1}' > Den/Note/z.json
                """)
            #expect(try a.shell("recordfs sync").status == 1)
            let events = "recordfs events --sync"
            let failed = try a.ok(
                """
                \(events) --result failed --json | jq -r '"\\(.event) \\(.succeeded) \\(.type) \\(.name) \\(.path)"'
                """)
            #expect(failed == "export false Note long private/Box/Note/long.json")
            let told = try a.ok("\(events) --failed")
            #expect(told.contains("private/Box/Note/long.json") && told.contains("5000"), "\(told)")
            #expect(try a.ok("\(events) --failed --count") == "1")
            #expect(try a.ok("\(events) --kind import --count --json") == #"{"count":0}"#)
            #expect(try a.ok("\(events) --zone Den --json | jq .records") == "1")
            #expect(try a.ok("\(events) --zone Nowhere --database private") == "")
            #expect(
                try a.ok("\(events) --result succeeded --kind setup --database private --count")
                    == "1")
            #expect(try a.ok("\(events) --after 1h --before 1h --count") == "0")
            #expect(try a.ok("\(events) --after 1h --failed --count") == "1")
            #expect(try a.ok("\(events) --until 1970-01-02 --count") == "0")
            let end = "$(\(events) --failed --json | jq -r .end)"
            #expect(try a.ok("\(events) --failed --count --after \"\(end)\"") == "0")
            for wrong in ["--result lost", "--before 3", "--kind created", "--after soon"] {
                #expect(try a.shell("\(events) \(wrong)").status == 2, "\(wrong)")
            }
            #expect(try a.shell("recordfs events --result failed").status == 2)
            try a.ok("recordfs unmount")
        }

        @Test("an exchange that runs has no end, and none runs after its daemon was killed")
        func runningExchange() async throws {
            let account = try await Account()
            let a = try account.machine()
            try a.ok("mkdir -p RecordFS/private/Box/Note; recordfs sync")
            account.suspendServer()
            try a.ok("echo '{}' > RecordFS/private/Box/Note/x.json")
            let last = "recordfs events --sync --json --kind export | tail -n 1 | jq -c"
            #expect(try a.eventually("\(last) '[.end, .succeeded, .error]'", "[null,null,null]"))
            #expect(try a.ok("recordfs events --sync | tail -n 1").contains("running"))
            for result in ["failed", "succeeded"] {
                #expect(try a.ok("recordfs events --sync --result \(result) --kind export") == "")
            }
            let lock = ".local/share/recordfs/lock"
            try a.ok(
                "kill -9 $(cat \(lock)); while kill -0 $(cat \(lock)) 2> /dev/null; do :; done")
            #expect(try a.ok("\(last) '[.end, .succeeded]'") == "[null,false]")
            account.resumeServer()
            try a.ok("recordfs mount; recordfs sync")
            #expect(try a.ok("\(last) '[.succeeded, .records]'") == "[true,1]")
            #expect(try a.ok("recordfs events --sync --failed | grep -c 'program ended'") == "1")
            try a.ok("recordfs unmount")
        }

        @Test("files beside a record are listed at once elsewhere, and come when they are read")
        func assets() async throws {
            let account = try await Account()
            let (a, b) = (try account.machine(), try account.machine())
            try a.ok(
                """
                mkdir -p RecordFS/private/Box/Note && cd RecordFS/private/Box/Note
                head -c 12000000 /dev/urandom > ~/film
                echo '{"title": "one"}' > x.json
                cp ~/film x@film.mp4 && printf small > x@note.txt
                recordfs sync
                """)
            let note = "RecordFS/private/Box/Note"
            #expect(
                try b.eventually(
                    "stat -c '%n %s' \(note)/x@* | sed 's:.*/::'",
                    "x@film.mp4 12000000\nx@note.txt 5"))
            try b.ok("diff <(jq -S . \(note)/x.json) <(jq -S . \(a.folder)/\(note)/x.json)")
            // Near the end first: that does not wait for what is before it.
            try b.ok("cmp <(tail -c 1000 \(note)/x@film.mp4) <(tail -c 1000 \(a.folder)/film)")
            try b.ok("cmp \(note)/x@film.mp4 \(a.folder)/film")
            #expect(try b.shell("cat \(note)/x@note.txt").output == "small")
            try b.ok("mv \(note)/x.json \(note)/y.json && recordfs sync")
            #expect(
                try a.eventually(
                    "ls \(note); cat \(note)/y@note.txt",
                    "y.json\ny@film.mp4\ny@note.txt\nsmall"))
            try a.ok("cmp \(note)/y@film.mp4 film")
            try await account.stopServer()
            try b.ok("recordfs unmount && recordfs fsck && recordfs mount")
            try b.ok("cmp \(note)/y@film.mp4 \(a.folder)/film")
            try a.ok("recordfs unmount && recordfs fsck")
            try b.ok("recordfs unmount")
        }

        /// Changes of a file of 3 000 000 bytes, in place.
        enum Change: String, CaseIterable, Sendable {
            case inTheMiddle = "printf new | dd of=FILE bs=1 seek=1000000 conv=notrunc status=none"
            case atTheEnd = "printf new >> FILE"
            case shorter = "truncate -s 1000001 FILE"
            case longer = "truncate -s 4000000 FILE"
            case afterReading = """
                python3 -c 'import sys
                file = open("FILE", "r+b", buffering=0)
                file.read(10)
                file.write(b"new")'
                """
        }

        @Test("who changes bytes that are not here waits for them", arguments: Change.allCases)
        func changesInPlace(change: Change) async throws {
            let account = try await Account()
            let (a, b) = (try account.machine(), try account.machine())
            let asset = "RecordFS/private/Box/Note/x@film.mp4"
            try a.ok(
                """
                head -c 3000000 /dev/urandom > film
                mkdir -p RecordFS/private/Box/Note && echo '{}' > RecordFS/private/Box/Note/x.json
                cp film \(asset) && recordfs sync
                """)
            try #require(try b.eventually("stat -c %s \(asset)", "3000000"))
            try b.ok("\(change.rawValue.replacing("FILE", with: asset)) && recordfs sync")
            try a.ok(change.rawValue.replacing("FILE", with: "film"))
            try b.ok("cmp \(asset) \(a.folder)/film")
            let sum = try a.shell("sha256sum < film").output
            #expect(try a.eventually("sha256sum < \(asset)", sum))
            try a.ok("recordfs unmount")
            try b.ok("recordfs unmount")
        }

        @Test("what is pinned comes without a read, also later, and is read without a server")
        func pinned() async throws {
            let account = try await Account()
            let (a, b) = (try account.machine(), try account.machine())
            let note = "RecordFS/private/Box/Note"
            func save(_ name: String) throws {
                try a.ok(
                    """
                    mkdir -p \(note) && echo '{}' > \(note)/\(name).json
                    head -c 300000 /dev/urandom > \(name) && cp \(name) \(note)/\(name)@film.mp4
                    recordfs sync
                    """)
                #expect(try b.eventually("stat -c %s \(note)/\(name)@film.mp4", "300000"))
            }
            let missing =
                "recordfs pin --list --json | jq -r '\"\\(.path) \\(.missingFiles) \\(.files)\"'"
            try save("x")
            let file = try b.shell("recordfs pin \(note)/x@film.mp4")
            #expect(file.errors.contains("with its record"), "\(file)")
            #expect(try b.shell("recordfs unpin \(note)").errors.contains("not pinned by itself"))
            try b.ok("recordfs pin \(note)")
            #expect(try b.eventually(missing, "private/Box/Note 0 1"))
            try b.ok("recordfs pause && recordfs resume")
            try save("y")
            #expect(try b.eventually(missing, "private/Box/Note 0 2"))
            try await account.stopServer()
            for name in ["x", "y"] { try b.ok("cmp \(note)/\(name)@film.mp4 \(a.folder)/\(name)") }
            try b.ok("recordfs unpin \(note) && recordfs unmount && recordfs fsck")
            #expect(try b.shell("recordfs pin --list").output == "")
            let local = try a.shell("mkdir -p RecordFS/local/L/T; recordfs pin local/L")
            #expect(local.errors.contains("never leave this"), "\(local)")
            try a.ok("recordfs unmount")
        }

        @Test(
            "bytes that nobody here has, cannot be read while the server is away: the reason is told"
        )
        func assetWithoutServer() async throws {
            let account = try await Account()
            let (a, b) = (try account.machine(), try account.machine())
            let note = "RecordFS/private/Box/Note"
            try a.ok(
                """
                mkdir -p \(note) && echo '{"title": "one"}' > \(note)/x.json
                printf small > \(note)/x@note.txt && recordfs sync
                """)
            #expect(try b.eventually("stat -c %s \(note)/x@note.txt", "5"))
            try await account.stopServer()
            let refused = try b.shell("cat \(note)/x@note.txt")
            #expect(refused.status == 1 && refused.output.isEmpty)
            #expect(try b.shell("cat \(note)/.error").output.contains("cannot be reached"))
            #expect(try b.shell("printf more >> \(note)/x@note.txt").status == 1)
            #expect(try b.shell("truncate -s 2 \(note)/x@note.txt").status == 1)
            try await account.startServer()
            #expect(try b.shell("cat \(note)/x@note.txt").output == "small")
            try a.ok("recordfs unmount")
            try b.ok("recordfs unmount")
        }

        @Test("a pause that the server asks for is a wait in status, and no failure of sync")
        func throttled() async throws {
            let account = try await Account(
                server: ["--set", "user-rate=0.01", "--set", "user-burst=20"])
            let a = try account.machine()
            try a.ok(
                """
                cd RecordFS/private
                for n in $(seq 100); do mkdir -p Z$n/Note && echo '{}' > Z$n/Note/x.json; done
                """)
            let words = "The server asked to wait for a moment; the rest follows by itself."
            let synced = try a.shell("recordfs sync")
            #expect(synced.status == 0, "\(synced)")
            #expect(synced.errors.contains(words), "\(synced)")
            let status = try a.ok("recordfs status")
            // Until when: the server's rate lets the next request be in a hundred seconds.
            let next = try a.ok("jq -r .sync.nextTry RecordFS/.recordfs/status.json")
            #expect(next.hasSuffix("Z") && status.contains(": waits until 20"), "\(status)")
            #expect(status.contains(words) && synced.errors.contains("tried again at 20"))
            for said in [synced.errors, synced.output, status] {
                #expect(!said.contains("THROTTLED") && !said.contains("request "), "\(said)")
            }
            try a.ok("recordfs unmount && recordfs fsck")
        }

        @Test("a wrong password is refused, and another account needs another store")
        func refusals() async throws {
            let account = try await Account()
            let a = try CommandLineHome()
            let wrong = try account.signInResult(a, password: "wrong")
            #expect(wrong.status == 1)
            #expect(wrong.errors.contains("password is not right"), "\(wrong)")
            let foreign = try await account.makeToken()
            let page = try account.signInResult(
                a, password: account.password, apiToken: foreign)
            #expect(page.status == 1)
            #expect(page.errors.contains("--callback http://127.0.0.1"), "\(page)")
            try account.signIn(a)
            let mode = try a.shell("stat -c %a .local/share/recordfs/account.json")
            #expect(mode.output == "600\n")
            #expect(
                try account.listed(by: a) == "true development \(a.folder)/.local/share/recordfs\n")
            // Its tokens are not for everybody who looks over a shoulder.
            let tokens = try a.shell(
                """
                jq -r '.. | strings | select(length > 40)' .local/share/recordfs/account.json > tokens
                wc -l < tokens; { recordfs accounts; recordfs accounts --json; } | grep -cFf tokens
                """)
            #expect(tokens.output == "2\n0\n", "\(tokens)")
            try await account.addUser("other@example.org", password: "a long enough password")
            let other = try account.signInResult(
                a, user: "other@example.org", password: "a long enough password")
            #expect(other.status == 1)
            #expect(other.errors.contains("store"), "\(other)")
            try a.ok("recordfs logout")
            #expect(
                try account.listed(by: a) == "false development \(a.folder)/.local/share/recordfs\n"
            )
            let signedOut = try a.shell("recordfs mount && recordfs sync; recordfs unmount")
            #expect(signedOut.errors.contains("recordfs login"), "\(signedOut)")
            // The store knows whose it is when the file of the account is lost.
            try a.ok("rm .local/share/recordfs/account.json")
            #expect(
                try account.listed(by: a) == "false development \(a.folder)/.local/share/recordfs\n"
            )
            let again = try account.signInResult(
                a, user: "other@example.org", password: "a long enough password")
            #expect(again.status == 1 && again.errors.contains("this store belongs to"), "\(again)")
            try account.signIn(a)
            #expect(
                try account.listed(by: a) == "true development \(a.folder)/.local/share/recordfs\n")
        }
    }
}
