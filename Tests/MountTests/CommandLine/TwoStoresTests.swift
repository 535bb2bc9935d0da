import Glibc
import RecordModel
import Testing

extension MountTests {
    /// The default store is mounted at ~/RecordFS, another one, ~/b, at ~/Other; both have a record
    /// of the same path. A command acts on the store of the mount in which its path is.
    @Suite struct TwoStoresTests {
        /// What is typed in the record type's directory of the other mount, and what comes out.
        struct Case: CustomTestStringConvertible {
            let command: String
            let script: String
            let output: String
            /// Whether the other store is changed by it.
            var changes = true

            var testDescription: String { command }
        }

        static let cases =
            [
                Case(
                    command: "ls", script: "recordfs ls .; recordfs ls",
                    output: "JP.json\nOnlyB.json\nJP.json\nOnlyB.json\n", changes: false),
                Case(
                    command: "get", script: "recordfs get JP.json; recordfs get ~/Other/$P/JP.json",
                    output: "{\"in\": \"b\"}{\"in\": \"b\"}", changes: false),
                Case(
                    command: "can", script: "recordfs can edit OnlyB.json", output: "yes\n",
                    changes: false),
                Case(
                    command: "put",
                    script: "echo '{\"in\": \"b\", \"n\": 1}' | recordfs put JP.json; cat JP.json",
                    output: "{\"in\": \"b\", \"n\": 1}\n"),
                Case(command: "rm", script: "recordfs rm JP.json; ls", output: "OnlyB.json\n"),
                Case(
                    command: "mv", script: "recordfs mv JP.json NP; ls",
                    output: "NP.json\nOnlyB.json\n"
                ),
                Case(
                    command: "query", script: "recordfs query . sort:name; recordfs query $P in=b",
                    output: "JP.json\nOnlyB.json\nJP.json\nOnlyB.json\n", changes: false),
                Case(
                    command: "search",
                    script: "recordfs search . b; recordfs search private/World b",
                    output: "JP.json\nOnlyB.json\nJP.json\nOnlyB.json\n", changes: false),
                Case(
                    command: "history", script: "recordfs history --json JP.json | wc -l",
                    output: "2\n", changes: false),
                Case(
                    command: "events", script: "recordfs events | grep -c OnlyB",
                    output: "1\n", changes: false),
                Case(
                    command: "readers",
                    script:
                        "recordfs events --reader app > /dev/null; recordfs readers | grep -c app",
                    output: "1\n", changes: false),
                Case(
                    command: "accounts",
                    script: "recordfs accounts --json | grep -c $HOME/ || true",
                    output: "0\n",
                    changes: false),
                Case(
                    command: "daemon-log",
                    script: "recordfs daemon-log | sed -n 's|.*Mounted at.*/||p'",
                    output: "Other\n", changes: false),
                Case(
                    command: "errors",
                    script: "echo nothing > JP.json; recordfs errors | grep -c JP",
                    output: "1\n"),
                Case(
                    command: "scratch",
                    script: "echo x > tea.jsn; recordfs scratch | grep -c tea.jsn; rm tea.jsn",
                    output: "1\n", changes: false),
                Case(
                    command: "gc", script: "recordfs gc -n > /dev/null; echo $?", output: "0\n",
                    changes: false),
                Case(
                    command: "model",
                    script: "echo '{\"entities\": {\"A\": {}}}' | recordfs model show -",
                    output: "A\n",
                    changes: false),
                Case(
                    command: "hook", script: "recordfs hook bash | grep -c 'names refused'",
                    output: "1\n",
                    changes: false),
                Case(
                    command: "top", script: "recordfs top | grep -c OnlyB", output: "1\n",
                    changes: false),
                Case(
                    command: "pin",
                    script: "recordfs pin $P JP.json; recordfs pin --list --json | jq -r .path",
                    output: "private/World/Country\nprivate/World/Country/JP.json\n",
                    changes: false),
                Case(
                    command: "unpin",
                    script: "recordfs pin .; recordfs unpin .; recordfs pin --list",
                    output: "", changes: false),
                Case(
                    command: "restore",
                    script: "recordfs rm JP.json; recordfs restore JP.json; cat JP.json",
                    output: "{\"in\": \"b\"}"),
                Case(
                    command: "sql",
                    script: "recordfs sql --csv 'SELECT \"in\", _zone FROM Country'",
                    output: "in,_zone\nb,World\nb,World\n", changes: false),
                Case(
                    command: "backup",
                    script: """
                        recordfs backup ~/Copy > /dev/null; recordfs ls --state ~/Copy $P; rm -r ~/Copy
                        """, output: "JP.json\nOnlyB.json\n", changes: false),
                Case(
                    command: "log",
                    script: "recordfs log --stat | grep -c OnlyB; recordfs log JP.json | wc -l",
                    output: "1\n1\n", changes: false),
                Case(
                    command: "show", script: "recordfs show --stat | grep -c OnlyB",
                    output: "1\n", changes: false),
                Case(
                    command: "diff", script: "recordfs diff @0 --stat . | grep -c OnlyB",
                    output: "1\n", changes: false),
                Case(
                    command: "blame", script: "recordfs blame JP.json | sed 's/.*in: /in: /'",
                    output: "in: \"b\"\n", changes: false),
                Case(
                    command: "undo", script: "recordfs rm JP.json; recordfs undo > /dev/null; ls",
                    output: "JP.json\nOnlyB.json\n"),
                Case(
                    command: "redo",
                    script: """
                        recordfs rm JP.json; recordfs undo > /dev/null; recordfs redo > /dev/null; ls
                        """, output: "OnlyB.json\n"),
                Case(
                    command: "moment",
                    script: """
                        recordfs moment create b > /dev/null; ls ~/Other/.recordfs/at; recordfs moment delete b
                        """, output: "b\n", changes: false),
                Case(
                    command: "draft",
                    script: """
                        echo '{' > JP.json; recordfs draft list | cut -d: -f1; recordfs draft show JP.json
                        recordfs draft discard JP.json; cat JP.json
                        """, output: "JP.json\n{\n{\"in\": \"b\"}"),
                Case(
                    command: "new", script: "recordfs new . NP; cat NP.json",
                    output: "./NP.json\n{\n  \"in\": null\n}\n"),
                Case(
                    command: "set", script: "recordfs set JP.json in=c; cat JP.json",
                    output: "{\"in\": \"c\"}"),
                Case(
                    command: "edit",
                    script: "EDITOR='sed -i s/b/d/' recordfs edit JP.json; cat JP.json",
                    output: "{\"in\": \"d\"}"),
                Case(
                    command: "check",
                    script: """
                        echo '{"ni": 1}' | recordfs check --type . - | grep -c meant; recordfs check JP.json
                        """, output: "0\n", changes: false),
                Case(
                    command: "import", script: "recordfs import -q ~/rows.ndjson . && ls",
                    output: "JP.json\nOnlyB.json\nrow.json\n"),
                Case(
                    command: "conflicts",
                    script: """
                        echo '{"path": "private/World/Country/JP", "record": {"in": "there"}}' |
                            recordfs debug apply-remote > /dev/null
                        recordfs conflicts list | cut -d, -f1
                        recordfs conflicts show JP.json | grep -c 'theirs wins'
                        recordfs conflicts resolve --keep mine JP.json
                        recordfs conflicts list; jq -c . JP.json
                        """, output: "JP.json: in (theirs wins)\n1\n{\"in\":\"b\"}\n"),
                Case(
                    command: "export", script: "recordfs export --format csv .",
                    output: "$name,$parent,in\nJP,,b\nOnlyB,,b\n", changes: false),
                Case(
                    command: "schema",
                    script: """
                        recordfs schema show > ~/s.ckdb; sed -i 's/Country/Region/' ~/s.ckdb
                        recordfs schema apply ~/s.ckdb; recordfs schema check ~/s.ckdb
                        recordfs schema show | grep -c Region
                        recordfs --state $A schema show | grep -c Region
                        """, output: "1\n0\n"),
                Case(
                    command: "fsck", script: "recordfs fsck | sed -n \"1s|$HOME|~|p\"",
                    output: "~/b: clean\n", changes: false),
                Case(
                    command: "doctor", script: "recordfs doctor | grep -c \"$HOME/[bO]\"",
                    output: "3\n", changes: false),
                Case(
                    command: "status",
                    script: "recordfs status | sed -n \"s|^Mounted at $HOME\\([^ ]*\\).*|\\1|p\"",
                    output: "/Other\n", changes: false),
                Case(
                    command: "login",
                    script: """
                        recordfs login http://127.0.0.1:1 --api-token t --user u --password-stdin \
                            < /dev/null 2>&1 | grep -c 'cannot be reached'; ls ~/b | grep account
                        """,
                    output: "1\n", changes: false),
                Case(
                    command: "logout",
                    script: """
                        echo '{"server": "http://127.0.0.1:1", "container": "c",
                            "environment": "development", "apiToken": "t", "webAuthToken": "w",
                            "user": "u"}' > ~/b/account.json
                        recordfs logout 2> ~/note; jq -r .webAuthToken ~/b/account.json
                        grep -c 'still has it. End it at http://127.0.0.1:1/sessions' ~/note
                        """,
                    output: "Signed out of http://127.0.0.1:1.\n\n1\n", changes: false),
                Case(
                    command: "debug",
                    script: """
                        echo '{"path": "private/World/Country/Remote", "record": {}}' |
                            recordfs debug apply-remote > /dev/null; ls; recordfs debug ctl flush
                        """, output: "JP.json\nOnlyB.json\nRemote.json\n"),
                Case(
                    command: "revert",
                    script: "recordfs revert JP.json 2>&1 | grep -c 'refused no change of it'",
                    output: "1\n", changes: false),
                Case(
                    command: "completions", script: "recordfs __complete O", output: "OnlyB.json\n",
                    changes: false),
                Case(
                    command: "unmount",
                    script:
                        "cd; recordfs unmount ~/Other; recordfs status | head -n 1 | cut -d' ' -f1; ls Other",
                    output: "Mounted\n"),
                Case(
                    command: "mount",
                    script: """
                        cd; kill -9 $(recordfs status --state ~/b --json | jq .daemon.pid)
                        until recordfs status --state ~/b | grep -q 'lost its process'; do :; done
                        recordfs mount Other > /dev/null; cat Other/$P/JP.json
                        """, output: "{\"in\": \"b\"}"),
            ]
            + [
                Case(
                    command: "shares",
                    script: """
                        echo 'import os, sqlite3' > ~/put.py
                        echo 'store = sqlite3.connect(os.path.expanduser("~/b/store.sqlite"), 10)' >> ~/put.py
                        echo 'text = b"{\\"title\\": \\"T\\", \\"publicPermission\\": \\"NONE\\"}"' >> ~/put.py
                        echo 'rows = "SELECT id, ?, NULL, 0, ? FROM zone WHERE database = 1"' >> ~/put.py
                        echo 'store.execute("INSERT INTO share (zone_id, name, root, permission, text) " + rows, (b"s", text))' >> ~/put.py
                        echo 'store.commit()' >> ~/put.py; python3 ~/put.py
                        recordfs shares | cut -d: -f2; recordfs --state $A shares
                        """,
                    output: " \"T\", 0 have it, 0 are invited\n", changes: false)
            ]
            + [
                "share show JP.json", "accept http://s/share/1", "decline http://s/share/1",
                "leave shared/o/z",
            ].map {
                Case(
                    command: String($0.prefix { $0 != " " }),
                    script:
                        "recordfs \($0) 2>&1 | grep -c \"(store $HOME/b): nobody is signed in\"",
                    output: "1\n", changes: false)
            }
            + ["sync", "retry", "pause", "resume"].map {
                Case(
                    command: $0,
                    script: "recordfs \($0) 2>&1 | grep -c \"$HOME/b: nobody is signed in\"",
                    output: "1\n", changes: false)
            }

        private let home: CommandLineHome

        init() throws {
            home = try CommandLineHome()
            _ = try home.file("rows.ndjson", "{\"id\": \"row\", \"in\": \"b\"}\n")
            let result = try home.shell(
                """
                recordfs mount > /dev/null
                recordfs mount --state ~/b Other > /dev/null
                mkdir -p {RecordFS,Other}/private/World/Country
                printf '{"in": "a"}' > RecordFS/private/World/Country/JP.json
                printf '{"in": "x"}' > Other/private/World/Country/JP.json
                printf '{"in": "b"}' | tee Other/private/World/Country/{JP,OnlyB}.json > /dev/null
                """)
            try #require(result.status == 0, "\(result)")
        }

        /// In the record type's directory of the other mount.
        private func inOther(_ script: String) throws -> ChildResult {
            try home.shell(
                "A=~/.local/share/recordfs P=private/World/Country; cd Other/$P\n" + script)
        }

        private func expectDefaultUntouched() throws {
            let result = try home.shell(
                "ls RecordFS/private/World/Country; cat RecordFS/private/World/Country/*; "
                    + "recordfs history --json private/World/Country/JP | wc -l")
            #expect(result.output == "JP.json\n{\"in\": \"a\"}1\n", "\(result)")
        }

        @Test("a command acts on the store of the mount that has its path", arguments: cases)
        func command(test: Case) throws {
            let result = try inOther(test.script)
            #expect(result.output == test.output, "\(result)")
            #expect(result.errors == "", "\(result)")
            try expectDefaultUntouched()
            if !test.changes {
                let rest = try inOther(
                    "cat JP.json OnlyB.json; recordfs history --json JP.json | wc -l")
                #expect(rest.output == "{\"in\": \"b\"}{\"in\": \"b\"}2\n", "\(rest)")
            }
        }

        @Test("every command has its case here")
        func everyCommand() throws {
            let all = try home.shell("recordfs __complete --line -- ''").output
            let names = Set(all.split(separator: "\n").map(String.init))
            #expect(names.subtracting(Self.cases.map(\.command)) == [])
        }

        @Test(
            "what names one store and another one's mount is refused, and names both",
            arguments: [
                "recordfs --state $A rm JP.json", "recordfs --state $A get JP.json",
                "recordfs --state $A restore --since 1h .", "recordfs ls --state $A .",
                "echo '{}' | recordfs put --state $A JP.json",
                "recordfs import -q --state $A ~/rows.ndjson .",
                "recordfs draft discard --state=$A JP.json",
                "recordfs mv JP.json ~/RecordFS/$P/NP.json",
                "recordfs mv ~/RecordFS/$P/JP.json ~/Other/$P/NP.json",
                "cd; recordfs unmount --state $A Other", "cd; recordfs mount --state $A Other",
                "cd; recordfs mount --state ~/b",
            ])
        func contradictions(script: String) throws {
            let result = try inOther(script)
            #expect(result.status == 1, "\(result)")
            #expect(result.errors.contains("\(home.folder)/b"), "\(result)")
            #expect(result.errors.contains("\(home.folder)/.local/share/recordfs"), "\(result)")
            try expectDefaultUntouched()
            #expect(try inOther("cat *.json").output == "{\"in\": \"b\"}{\"in\": \"b\"}")
        }

        @Test("unmounting a store that is not mounted leaves the mount of another one")
        func unmountOther() throws {
            let result = try home.shell(
                "recordfs unmount --state ~/b; recordfs unmount --state ~/b; echo $?; "
                    + "RECORDFS_STATE=~/b recordfs unmount; echo $?")
            #expect(result.output == "3\n3\n", "\(result)")
            try expectDefaultUntouched()
        }

        @Test("a record path means the mount in which one stands, and --state comes first")
        func recordPaths() throws {
            let result = try inOther(
                """
                recordfs get $P/JP; recordfs --state $A get $P/JP
                RECORDFS_STATE=$A recordfs get $P/JP; cd; recordfs get $P/JP
                """)
            #expect(result.output == "{\"in\": \"b\"}{\"in\": \"a\"}{\"in\": \"b\"}{\"in\": \"a\"}")
        }

        @Test("messages name a store that is not the default one")
        func messages() throws {
            for script in ["recordfs get none.json", "recordfs rm none.json", "recordfs mv none x"]
            {
                let result = try inOther(script)
                #expect(result.status == 3 && result.errors.contains("(store \(home.folder)/b)"))
            }
            let plain = try home.shell("recordfs get RecordFS/private/World/Country/none.json")
            #expect(plain.status == 3 && !plain.errors.contains("store "), "\(plain)")
        }

        @Test("symbolic links and bind mounts lead to the store that is behind them")
        func links() throws {
            let bound = "\(home.folder)/bound"
            try SystemCall.makeDirectory(bound)
            try succeed("mount", "--bind", "\(home.folder)/Other/private/World", bound)
            let result = try home.shell(
                """
                ln -s Other/private/World/Country link; ln -s ~/b statelink
                recordfs get link/JP.json; recordfs get bound/Country/JP.json
                cd bound; recordfs query Country in=b; cd ~/link; recordfs get ../Country/JP.json
                recordfs --state ~/statelink get JP.json
                """)
            #expect(
                result.output
                    == "{\"in\": \"b\"}{\"in\": \"b\"}Country/JP.json\nCountry/OnlyB.json\n"
                    + "{\"in\": \"b\"}{\"in\": \"b\"}", "\(result)")
        }

        @Test("`..` leads out of one mount and into another, as in the kernel")
        func upAndAcross() throws {
            let result = try inOther(
                """
                recordfs get ../../../../RecordFS/private/World/Country/JP.json | grep -c a
                cd ~; recordfs get Other/../RecordFS/private/World/Country/JP.json | grep -c a
                recordfs get ~/Other/private/../../RecordFS/private/World/Country/JP.json | grep -c a
                recordfs get ~/RecordFS/private/World/Other/../Country/JP.json | grep -c a
                """)
            #expect(result.errors == "", "\(result)")
            #expect(result.output == "1\n1\n1\n1\n", "\(result)")
        }

        @Test("rm takes files of several mounts, each from its own store")
        func severalStores() throws {
            let result = try inOther(
                "recordfs rm JP.json ~/RecordFS/$P/JP.json OnlyB.json; ls . ~/RecordFS/$P | wc -w")
            #expect(result.output == "2\n" && result.errors == "", "\(result)")
        }

        @Test("a path on no mount is no record, and a detached directory belongs to no store")
        func noMount() throws {
            let result = try inOther(
                """
                recordfs unmount --lazy ~/Other
                recordfs rm private/World/Country/JP; recordfs rm JP.json
                recordfs rm ~/Other/$P/JP.json; recordfs rm /private/World/Country/JP
                echo 'DEFINE SCHEMA RECORD TYPE Wrong (q STRING);' > ~/wrong.ckdb
                recordfs status; recordfs schema apply ~/wrong.ckdb; recordfs fsck; recordfs doctor
                recordfs schema show; recordfs draft list; recordfs unmount
                cd; recordfs status | head -n 1; recordfs schema show | grep -c Wrong
                """)
            let errors = result.errors.split(separator: "\n")
            #expect(errors.count == 11, "\(result)")
            #expect(errors.dropFirst(4).allSatisfy { $0.contains("working directory is gone") })
            #expect(result.output.hasSuffix("\n0\n"), "\(result)")
            #expect(result.output.hasPrefix("Mounted at \(home.folder)/RecordFS"), "\(result)")
            try expectDefaultUntouched()
        }
    }
}
