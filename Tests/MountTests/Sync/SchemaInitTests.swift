import Glibc
import TestSupport
import Testing

extension MountTests {
    /// `recordfs schema init` with a real server.
    @Suite struct SchemaInitTests {
        static let container = "iCloud.org.recordfs.default"
        static let zone = "com.apple.coredata.cloudkit.zone"

        private let account: Account
        private let home: CommandLineHome

        init() async throws {
            account = try await Account()
            home = try CommandLineHome()
            try account.signIn(home)
            try home.ok(
                """
                cat > blog.json <<'END'
                {"entities": {
                    "Post": {"attributes": {
                                "title": {"type": "String"}, "read": {"type": "Boolean"},
                                "score": {"type": "Double"}, "posted": {"type": "Date"},
                                "picture": {"type": "Binary"}, "id": {"type": "UUID"},
                                "secret": {"type": "String", "encrypted": true}},
                             "relationships": {
                                "tags": {"to": "Tag", "many": true, "inverse": "posts"},
                                "author": {"to": "Author", "inverse": "posts"}}},
                    "Note": {"parent": "Post", "attributes": {"colour": {"type": "Transformable"}}},
                    "Author": {"relationships": {
                                "posts": {"to": "Post", "many": true, "inverse": "author"}}},
                    "Tag": {"relationships": {"posts": {"to": "Post", "many": true,
                                                        "inverse": "tags"}}}}}
                END
                recordfs model export blog.json -o blog.ckdb
                """)
        }

        private func serverSchema() async throws -> String {
            try await account.command("container", "schema", "export", Self.container)
        }

        /// What a script prints on standard output and error, with its status when that is not 0.
        private func said(_ script: String) throws -> String {
            try home.ok("{ \(script); } 2>&1 || echo status $?")
        }

        /// The records that a machine of the account finds in the zone.
        private func records() throws -> String {
            let other = try CommandLineHome()
            try account.signIn(other)
            try other.ok("recordfs mount; recordfs sync")
            return try other.ok(
                "cd RecordFS; find private -name '*.json' | sort; cd; recordfs unmount")
        }

        @Test("the development schema is that of the model afterwards, and no record is left")
        func whole() async throws {
            #expect(
                try said("recordfs schema init blog.json") == """
                    The zone \(Self.zone) was made, and stays.
                    The development schema of \(Self.container) has all 4 record types of the \
                    model: 4 new types, 27 new fields.
                    """)
            #expect(try await serverSchema() == (try home.ok("cat blog.ckdb")) + "\n")
            #expect(try records() == "")
            #expect(
                try said("recordfs schema init blog.json") == """
                    The development schema of \(Self.container) has all 4 record types of the \
                    model: nothing was new.
                    """)
            #expect(try home.ok("ls .local/share/recordfs | grep sample || echo none") == "none")
        }

        @Test(
            "the schema is that of export --form ckdb, for models of every kind",
            arguments: [
                #"{"A": {}}"#,
                // To itself, one to one and many to many.
                #"""
                {"A": {"relationships": {
                    "next": {"to": "A", "inverse": "last"}, "last": {"to": "A", "inverse": "next"},
                    "friends": {"to": "A", "many": true, "inverse": "friends"}}}}
                """#,
                // Every type of an attribute, plain and encrypted, and what is not in a record.
                #"""
                {"A": {"attributes": {
                    "a": {"type": "Integer 16"}, "b": {"type": "Integer 64", "encrypted": true},
                    "c": {"type": "Decimal"}, "d": {"type": "Float", "encrypted": true},
                    "e": {"type": "URI"}, "f": {"type": "UUID", "encrypted": true},
                    "g": {"type": "Binary", "encrypted": true}, "h": {"type": "Transformable"},
                    "i": {"type": "Composite"}, "j": {"type": "Date", "encrypted": true},
                    "k": {"type": "String", "transient": true},
                    "l": {"type": "Boolean", "required": true, "default": "YES"}}}}
                """#,
                // A family with an abstract root.
                #"""
                {"A": {"abstract": true, "attributes": {"x": {"type": "String"}}},
                 "B": {"parent": "A", "attributes": {"y": {"type": "Double"}}},
                 "C": {"parent": "B", "attributes": {"z": {"type": "Date"}}}}
                """#,
            ])
        func equal(entities: String) async throws {
            _ = try home.file("m.json", "{\"entities\": \(entities)}")
            try home.ok("recordfs schema init m.json")
            let wanted = try home.ok("recordfs model export m.json --form ckdb")
            #expect(try await serverSchema() == wanted + "\n")
            #expect(try home.ok("recordfs schema init m.json").hasSuffix("nothing was new."))
        }

        @Test("a configuration makes the types of its entities only, in the zone that is named")
        func configuration() async throws {
            try home.ok(
                """
                sed 's/^{/{"configurations": {"Cloud": {"entities": ["Author", "Post", "Note", "Tag"]}, \
                "Part": {"entities": ["Lone"]}}, /; s/"Author": {/"Lone": {}, &/' blog.json > parts.json
                recordfs schema init parts.json --configuration Part --zone Mine
                """)
            #expect(
                try await serverSchema()
                    == home.ok("recordfs model export parts.json --configuration Part --form ckdb")
                    + "\n")
            try home.ok("recordfs mount; recordfs sync")
            #expect(try home.ok("ls RecordFS/private | grep -v _defaultZone") == "Mine")
        }

        @Test("what a later version adds comes to what is there, also while the store is mounted")
        func grows() async throws {
            try home.ok("recordfs schema init blog.json; recordfs mount")
            try home.ok(
                """
                sed 's/"Date"}/"Date"}, "pages": {"type": "Integer 32"}/; s/"Author"/"Writer"/g' \
                    blog.json > next.json
                recordfs model export next.json -o next.ckdb
                """)
            #expect(
                try said("recordfs schema init next.json --dry-run | grep -v ': there'") == """
                    CD_Post.CD_pages: new, INT64 QUERYABLE SORTABLE
                    CD_Writer: new
                    CD_Writer.CD_entityName: new, STRING QUERYABLE SORTABLE SEARCHABLE
                    CD_Writer.CD_moveReceipt: new, BYTES QUERYABLE SORTABLE
                    CD_Writer.CD_moveReceipt_ckAsset: new, ASSET
                    """)
            #expect(
                try said("recordfs schema init next.json") == """
                    The development schema of \(Self.container) has all 4 record types of the \
                    model: 1 new type, 4 new fields.
                    """)
            // Nothing is lost, and what is new is as the model has it.
            let types = try await serverSchema().split(separator: "\n\n")
            let wanted = try home.ok("cat next.ckdb").split(separator: "\n\n")
            let old = try home.ok("cat blog.ckdb").split(separator: "\n\n")
            #expect(types.count == 6)
            for type in wanted { #expect(types.contains { $0.hasPrefix(type) }) }
            #expect(types.contains(old[1]) && old[1].contains("CD_Author"))
        }

        @Test("a rehearsal and a print send nothing")
        func rehearsal() async throws {
            let said = try said("recordfs schema init blog.json --dry-run --print")
            #expect(said.hasPrefix(try home.ok("cat blog.ckdb")))
            let names = (1...4).map { "\"recordName\": \"recordfs-schema-sample-\($0)\"" }
            for name in names { #expect(said.contains(name)) }
            #expect(said.contains("\"value\": \"Post:Tag\""))
            #expect(said.contains("\nCDMR.CD_relationships: new, STRING"))
            #expect(said.hasSuffix("\nzone \(Self.zone): new"))
            #expect(try await serverSchema() == "DEFINE SCHEMA\n")
            #expect(
                try home.ok("recordfs mount; recordfs sync; ls RecordFS/private")
                    .contains(Self.zone) == false)
        }

        @Test(
            "a model that CloudKit cannot hold is refused with all reasons, before anything is sent"
        )
        func refusedModel() async throws {
            try home.ok(
                """
                sed 's/"Double"}/"Double", "required": true}/; s/"Boolean"/"Undefined"/' \
                    blog.json > bad.json
                """)
            let said = try said("recordfs schema init bad.json")
            #expect(said.contains("\nNote: score\nPost: score\n"), "\(said)")
            #expect(said.contains("\nPost: read - Unsupported attribute type (Undefined)\n"))
            #expect(
                said.hasSuffix(
                    "bad.json: CloudKit cannot hold this model. The reasons are above.\nstatus 1"))
            #expect(try home.ok("recordfs model check bad.json 2>&1 || echo status $?") == said)
            #expect(try await serverSchema() == "DEFINE SCHEMA\n")
        }

        @Test("conflicts, renames and 257 fields are told at once, and nothing is sent")
        func conflicts() async throws {
            try home.ok("recordfs schema init blog.json")
            let before = try await serverSchema()
            try home.ok(
                #"""
                more=$(seq 239 | sed 's/.*/"n&": {"type": "Double"},/' | tr -d '\n')
                sed "s/\"title\": /$more &/; s/\"score\": {\"type\": \"Double\"}/\"score\": {\"type\": \
                \"String\"}/; s/\"posted\": {/\"day\": {\"renamedFrom\": \"posted\", /" \
                    blog.json > bad.json
                """#)
            for option in ["", "--dry-run | grep -v ': [nt]'"] {
                let said = try said("recordfs schema init bad.json \(option)")
                #expect(
                    said.contains("CD_Post: would have 257 fields; a type has at most 256\n"),
                    "\(said)")
                #expect(
                    said.contains(
                        "CD_Post.CD_score: is DOUBLE on the server, and would be STRING\n"))
                #expect(
                    said.contains(
                        "Post.day: was posted (CD_Post.CD_posted): it is renamed in the model\n"))
                #expect(said.contains("erases all records of development.\n"))
                #expect(said.hasSuffix("status 1"))
            }
            #expect(try await serverSchema() == before)
        }

        @Test("an account of production, and nobody, are refused")
        func production() async throws {
            let made = try await account.command(
                "token", "create", Self.container, "--environment", "production", "--name", "p",
                "--callback", "http://127.0.0.1")
            let token = String(made.prefix { !$0.isWhitespace })
            let other = try CommandLineHome()
            try other.ok("echo '{\"entities\": {\"A\": {}}}' > a.json")
            #expect(
                try other.ok("recordfs schema init a.json 2>&1 || echo status $?")
                    == "recordfs: nobody is signed in to a server. recordfs login does that.\nstatus 1"
            )
            let signIn = try account.signInResult(
                other, password: account.password, apiToken: token,
                login: ["--environment", "production"])
            #expect(signIn.status == 0, "\(signIn)")
            for option in ["", "--dry-run"] {
                let said = try other.ok(
                    "recordfs schema init a.json \(option) 2>&1 || echo status $?")
                #expect(
                    said.contains("this account is of production. A schema is made in development"))
                #expect(said.hasSuffix("status 1"))
            }
        }

        @Test("what a killed run has left, the next one deletes, with another model and elsewhere")
        func killed() async throws {
            #expect(
                try home.shell(
                    "RECORDFS_FAILPOINT=schemaSamplesUploaded:1 recordfs schema init blog.json"
                )
                .status == 128 + SIGKILL)
            #expect(
                try records().split(separator: "\n").map {
                    $0.split(separator: "/").dropFirst(2).joined(separator: "/")
                }
                    == [
                        "CDMR/recordfs-schema-sample-4.json",
                        "CD_Author/recordfs-schema-sample-1.json",
                        "CD_Post/recordfs-schema-sample-2.json",
                        "CD_Tag/recordfs-schema-sample-3.json",
                    ])
            let other = try CommandLineHome()
            try account.signIn(other)
            try other.ok("echo '{\"entities\": {\"A\": {}}}' > a.json")
            #expect(
                try other.ok("recordfs schema init a.json 2>&1") == """
                    Deleted 4 sample records of an interrupted run.
                    The development schema of \(Self.container) has all 1 record type of the \
                    model: 1 new type, 3 new fields.
                    """)
            #expect(try records() == "")
        }

        /// Passes bytes on to a server, and waits for a word before the first request of a kind.
        private static let gate = """
            import os, socket, sys, threading
            def pass_on(source, target, word):
                while data := source.recv(65536):
                    if word and word in data and not os.path.exists("seen"):
                        open("seen", "w").close()
                        open("go").read()
                    target.sendall(data)
            listener = socket.create_server(("127.0.0.1", 0))
            with open("port.new", "w") as file: file.write(str(listener.getsockname()[1]))
            os.rename("port.new", "port")
            while True:
                client = listener.accept()[0]
                server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
                for ends in ((client, server, sys.argv[2].encode()), (server, client, None)):
                    threading.Thread(target=pass_on, args=ends, daemon=True).start()
            """

        /// Starts a run that waits at a gate before its first request of a kind, and returns when it is there.
        private func waitingRun(before request: String) throws -> (gate: Child, run: Child) {
            _ = try home.file("gate.py", Self.gate)
            try home.ok("mkfifo go")
            let gate = try Child(
                ["python3", "gate.py", "\(account.port)", request], directory: home.folder)
            #expect(try home.eventually("test -e port && echo there", "there"))
            try home.ok(
                "sed -i \"s/:\(account.port)\\\"/:$(cat port)\\\"/\" .local/share/recordfs/account.json"
            )
            let run = try Child(
                [try Executable.recordfs(), "schema", "init", "blog.json"],
                environment: home.environment, directory: home.folder)
            #expect(try home.eventually("test -e seen && echo there", "there"))
            return (gate, run)
        }

        @Test(
            "Ctrl-C lets a run delete its samples, and ends it then, unless all is done",
            arguments: [("assets/upload", 128 + SIGINT), ("records/modify", 0)])
        func interrupted(request: String, status: Int32) async throws {
            let (gate, run) = try waitingRun(before: request)
            run.signal(SIGINT)
            #expect(run.isRunning)
            try home.ok("echo > go")
            let result = try run.wait()
            #expect(result.status == status, "\(result)")
            #expect(try records() == "")
            gate.signal(SIGKILL)
        }

        @Test("a second Ctrl-C ends a run at once")
        func interruptedTwice() async throws {
            let (gate, run) = try waitingRun(before: "records/modify")
            run.signal(SIGINT)
            run.signal(SIGTERM)
            #expect(run.isRunning)
            // Two signals that are sent before the first is taken are one.
            let hasEnded = MountTable.wait(
                seconds: 20,
                until: {
                    run.signal(SIGINT)
                    return !run.isRunning
                }, orUntil: { false })
            #expect(hasEnded)
            let result = try run.wait()
            #expect(result.status == 128 + SIGINT)
            // It waits for no answer any more, and so has nothing to say of one.
            #expect(result.errors == "")
            gate.signal(SIGKILL)
        }

        @Test("an account that may not read the schema makes it with samples alone")
        func plainUser() async throws {
            try await account.addUser("bob@example.org", password: "a-password-of-bob")
            let bob = try CommandLineHome()
            try account.signIn(bob, as: "bob@example.org", password: "a-password-of-bob")
            let model = try bob.file("blog.json", try home.ok("cat blog.json"))
            #expect(
                try bob.ok("recordfs schema init \(model) 2>&1") == """
                    The zone \(Self.zone) was made, and stays.
                    The server took 4 sample records with all fields, and deleted them.
                    """)
            // For an administrator, all of it is there then.
            #expect(
                try said("recordfs schema init blog.json --dry-run | grep -v ': there'")
                    == "zone \(Self.zone): new")
            let failed = try bob.ok(
                "sed 's/\"Double\"/\"Boolean\"/' blog.json > bad.json; recordfs schema init bad.json 2>&1 || echo status $?"
            )
            #expect(failed.contains("field CD_score is DOUBLE in the schema"), "\(failed)")
            #expect(failed.hasSuffix("status 1"))
            try bob.ok("recordfs mount; recordfs sync")
            #expect(try bob.ok("find RecordFS/private -name '*.json'") == "")
        }

        @Test(
            "where each token is valid once, a run needs the store for itself, and keeps the sign-in"
        )
        func cloudkit() async throws {
            let other = try CommandLineHome()
            let signIn = try account.signInResult(
                other, password: account.password, login: ["--profile", "cloudkit"])
            #expect(signIn.status == 0, "\(signIn)")
            try other.ok("echo '{\"entities\": {\"A\": {}}}' > a.json")
            let took = "The server took 1 sample record with all fields, and deleted it."
            #expect(try other.ok("recordfs schema init a.json 2>/dev/null") == took)
            try other.ok("recordfs mount; recordfs sync")
            let mounted = try other.ok("recordfs schema init a.json 2>&1 || echo status $?")
            #expect(mounted.hasSuffix("Unmount first.\nstatus 1"), "\(mounted)")
            #expect(try other.ok("recordfs unmount; recordfs schema init a.json") == took)
            #expect(try await serverSchema().contains("RECORD TYPE CD_A ("))
        }
    }
}
