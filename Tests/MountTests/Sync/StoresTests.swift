import TestSupport
import Testing

extension MountTests {
    /// Real processes: the stores of one configuration file, at one server or more.
    @Suite struct StoresTests {
        /// A home with a configuration file and the password of its accounts.
        private func home(_ account: Account, _ configuration: String) throws -> CommandLineHome {
            let home = try CommandLineHome()
            try home.ok("mkdir -p .config/recordfs")
            _ = try home.file(".config/recordfs/config.json", configuration)
            _ = try home.file("password", account.password + "\n")
            return home
        }

        private func store(_ name: String, _ account: Account, _ rest: String = "") -> String {
            #"""
            "\#(name)": {"server": "http://127.0.0.1:\#(account.port)", "user": "admin@localhost"\#(rest)}
            """#
        }

        private func signIn(_ home: CommandLineHome, _ account: Account, _ store: String) throws {
            try home.ok(
                """
                RECORDFS_API_TOKEN=\(account.apiToken) recordfs login --store \(store) \
                    --password-stdin < password
                """)
        }

        @Test("one file says which stores there are; cp -r goes from one container to another")
        func two() async throws {
            let (first, second) = (try await Account(), try await Account())
            let a = try home(
                first, "{\"stores\": {\(store("one", first)), \(store("two", second))}}")
            try signIn(a, first, "one")
            _ = try a.file("password", second.password + "\n")
            try signIn(a, second, "two")
            try a.ok("recordfs mount --all && recordfs mount --all")
            try a.ok(
                """
                mkdir -p RecordFS-one/private/Box/Note RecordFS-one/local/Own/Note
                echo '{"n": 1}' | tee RecordFS-one/private/Box/Note/x.json \
                    RecordFS-one/local/Own/Note/y.json
                head -c 100000 /dev/urandom > RecordFS-one/private/Box/Note/x@photo.jpg
                cp -r RecordFS-one/private/Box RecordFS-two/private/
                recordfs sync --store one && recordfs sync --store two
                """)
            let b = try home(second, "{\"stores\": {\(store("two", second))}}")
            try signIn(b, second, "two")
            try b.ok("recordfs mount --all")
            #expect(try b.eventually("ls RecordFS-two/private/Box/Note", "x.json\nx@photo.jpg"))
            try a.ok(
                "diff -r RecordFS-one/private \(b.folder)/RecordFS-two/private")
            #expect(try a.eventually("ls RecordFS-two/local", ""))
            try a.ok("recordfs unmount --store one && recordfs unmount --store two")
            try b.ok("recordfs unmount --store two")
        }

        @Test("a store that cannot be read hides no other one from the list of accounts")
        func unreadable() async throws {
            let account = try await Account()
            let a = try account.machine()
            try a.ok("mkdir damaged && echo nothing > damaged/account.json")
            let result = try a.shell("recordfs accounts --state damaged")
            #expect(result.status == 1, "\(result)")
            #expect(result.output.contains("signed in"), "\(result)")
            #expect(result.errors.contains("damaged"), "\(result)")
            try a.ok("recordfs unmount")
        }

        @Test("a zone is here in full, on demand or not at all, as the file says")
        func zones() async throws {
            let account = try await Account()
            let a = try account.machine()
            try a.ok(
                """
                cd RecordFS/private && mkdir -p Full/Note Some/Note Not/Note
                for zone in Full Some Not; do
                    echo '{"n": 1}' > $zone/Note/x.json
                    head -c 100000 /dev/urandom > $zone/Note/x@photo.jpg
                done
                recordfs sync
                """)
            let extents = #", "zones": {"Full": "full", "Not": "none"}"#
            let b = try home(account, "{\"stores\": {\(store("work", account, extents))}}")
            try signIn(b, account, "work")
            try b.ok("recordfs mount --all")
            let missing = "recordfs pin --list --store work --json | jq .missingFiles"
            let full = "ls RecordFS-work/private/Full/Note"
            #expect(try b.eventually(full, "x.json\nx@photo.jpg"))
            #expect(try b.eventually(missing, "0"))
            #expect(try b.eventually("ls RecordFS-work/private", "Full\nSome"))
            try await account.stopServer()
            try b.ok(
                "cmp RecordFS-work/private/Full/Note/x@photo.jpg \(a.folder)/RecordFS/private/Full/Note/x@photo.jpg"
            )
            let read = try b.shell("cat RecordFS-work/private/Some/Note/x@photo.jpg")
            #expect(read.status == 1)
            try await account.startServer()
            // What is wanted now, and what is wanted no more.
            try b.ok(
                "recordfs unmount --store work && sed -i 's/Full/Some/; s/Not/Full/' .config/recordfs/config.json"
            )
            try b.ok(
                "sed -i 's/\"Some\": \"full\"/\"Some\": \"none\"/; s/\"Full\": \"none\"/\"Full\": \"onDemand\"/' .config/recordfs/config.json"
            )
            try b.ok("recordfs mount --all")
            #expect(try b.eventually("ls RecordFS-work/private", "Full\nNot"))
            #expect(try b.eventually("jq .n RecordFS-work/private/Not/Note/x.json", "1"))
            try a.ok("recordfs sync && ls RecordFS/private/Some/Note/x.json")
            try b.ok("recordfs unmount --store work && recordfs fsck --store work")
            try a.ok("recordfs unmount")
        }

        @Test(
            "types of the public database are here, also those of others, and go when they go there"
        )
        func publicTypes() async throws {
            let account = try await Account()
            let a = try account.machine()
            let types = #", "public": {"types": ["Station"], "interval": 1}"#
            let b = try home(account, "{\"stores\": {\(store("work", account, types))}}")
            try await account.addUser("bob@localhost", password: "a password of bob")
            _ = try b.file("password", "a password of bob\n")
            try b.ok("sed -i s/admin@localhost/bob@localhost/ .config/recordfs/config.json")
            try signIn(b, account, "work")
            try b.ok("recordfs mount --all")
            try a.ok(
                """
                cd RecordFS/public/_defaultZone && mkdir Station Other
                for n in 1 2 3; do echo "{\\"n\\": $n}" > Station/s$n.json; done
                recordfs can edit Station/s1
                echo '{}' > Other/o.json
                head -c 100000 /dev/urandom > Station/s1@photo.jpg
                recordfs sync
                """)
            let edit = "recordfs can edit RecordFS/public/_defaultZone/Station/s1"
            #expect(try a.ok(edit) == "yes")
            let list = "ls RecordFS-work/public/_defaultZone/*"
            #expect(try b.eventually(list, "s1.json\ns1@photo.jpg\ns2.json\ns3.json"))
            try b.ok(
                """
                cmp RecordFS-work/public/_defaultZone/Station/s1@photo.jpg \
                    \(a.folder)/RecordFS/public/_defaultZone/Station/s1@photo.jpg
                """)
            try a.ok("rm RecordFS/public/_defaultZone/Station/s2.json; recordfs sync")
            #expect(try b.eventually(list, "s1.json\ns1@photo.jpg\ns3.json"))
            let foreign = try b.shell(
                "cd RecordFS-work/public/_defaultZone && recordfs can edit Station/s1")
            #expect(foreign.status == 1, "\(foreign)")
            #expect(foreign.output.hasPrefix("no: the record belongs to _"), "\(foreign)")
            // The user's own records, on another machine, which has them from the server.
            let c = try home(account, "{\"stores\": {\(store("work", account, types))}}")
            try signIn(c, account, "work")
            try c.ok("recordfs mount --all")
            #expect(
                try c.eventually(
                    "jq -c . RecordFS-work/public/_defaultZone/Station/s1.json | wc -l", "1"))
            #expect(
                try c.ok("cd RecordFS-work/public/_defaultZone && recordfs can edit Station/s1")
                    == "yes")
            try c.ok("recordfs unmount --store work")
            let refused = try b.shell(
                """
                cd RecordFS-work/public/_defaultZone/Station && echo '{"n": 9}' > s3.json
                recordfs sync
                """)
            #expect(refused.errors.contains("ACCESS_DENIED"), "\(refused)")
            // What was refused is given up: by its file, by its name, and below a directory.
            let station = "RecordFS-work/public/_defaultZone/Station"
            try b.ok(
                """
                set -e
                recordfs revert \(station)/s3.json 2>&1 | grep -qx '1 change given up.'
                test "$(cat \(station)/s3.json)" = '{"n": 3}'
                recordfs sync --store work
                for name in s3 s1; do recordfs rm \(station)/$name.json; done
                test $(recordfs sync --store work 2>&1 | grep -c ACCESS_DENIED) = 2
                recordfs revert --store work public/_defaultZone/Station/s3 2>&1 | grep -q '^1 '
                recordfs revert \(station) 2>&1 | grep -q '^1 '
                recordfs sync --store work
                cmp \(station)/s1@photo.jpg \
                    \(a.folder)/RecordFS/public/_defaultZone/Station/s1@photo.jpg
                """)
            #expect(try b.eventually(list, "s1.json\ns1@photo.jpg\ns3.json"))
            let nothing = try b.shell("recordfs revert \(station)/s3.json")
            #expect(nothing.status == 3)
            #expect(nothing.errors.contains("refused no change of it"), "\(nothing)")
            // Refused changes and a pause are told to scripts too.
            let told = try b.shell(
                """
                echo '{"n": 9}' > \(station)/s3.json
                recordfs sync --store work --json | jq -r '.refused[] | .path + " " + .message[:13]'
                recordfs revert \(station) 2>&1
                recordfs pause --store work; recordfs sync --store work 2>&1; echo $?
                """)
            #expect(
                told.output == """
                    public/_defaultZone/Station/s3.json ACCESS_DENIED
                    1 change given up.
                    Paused: nothing is fetched or sent until recordfs resume.
                    1

                    """, "\(told)")
            try a.ok("recordfs unmount")
            try b.ok("recordfs unmount --store work")
        }

        @Test("a wrong setting is told with its store, and a store of another account is not used")
        func wrong() async throws {
            let account = try await Account()
            let a = try home(account, "{\"stores\": {\(store("work", account))}}")
            try signIn(a, account, "work")
            try a.ok("sed -i s/127.0.0.1/127.0.0.2/ .config/recordfs/config.json")
            let other = try a.shell("recordfs mount --store work")
            #expect(other.status == 1)
            #expect(other.errors.contains("A store belongs to one account"), "\(other)")
            for (settings, message) in [
                (#"{"stores": {"work": {"zones": {"A": "all"}}}}"#, "store work: \"zones\""),
                (#"{"stores": {"a b": {}}}"#, "a store has a name of letters"),
                (#"{"stores": {"a": {"state": "/x"}, "b": {"state": "/x"}}}"#, "the same state"),
                (#"{"stores": {"a": {"public": {"types": [1]}}}}"#, "store a: \"public\""),
                (#"{"colour": 1}"#, "\"colour\" is no setting"),
            ] {
                _ = try a.file(".config/recordfs/config.json", settings)
                let result = try a.shell("recordfs mount --store work")
                #expect(result.errors.contains(message), "\(settings): \(result)")
            }
            _ = try a.file(".config/recordfs/config.json", "{}")
            let none = try a.shell("recordfs mount --store work")
            #expect(none.status == 3)
            #expect(none.errors.contains("has no store work"), "\(none)")
        }
    }
}
