import TestSupport
import Testing

extension MountTests {
    /// Real processes: a server, and the mounts of two users, who share by files alone.
    @Suite struct ShareFileTests: TestsOfTwoUsers {
        let users: TwoUsers

        init() async throws {
            users = try await TwoUsers()
            try alice.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe
                echo '{"n": 1}' > RecordFS/private/Kitchen/Recipe/soup.json
                """)
        }

        private let zone = "RecordFS/private/Kitchen"
        private let invitation = #"{"participants": [{"address": "bob@localhost"}]}"#

        @Test("a copy of what is shared is shared with nobody, and has no draft of the share")
        func copied() async throws {
            for share in [".share.json", "Recipe/.soup.share.json"] {
                try alice.ok("echo '\(invitation)' > \(zone)/\(share)")
                try alice.ok("cp -r \(zone) RecordFS/private/Copy")
                #expect(try alice.ok("ls -A RecordFS/private/Copy") == "Recipe")
                #expect(try alice.ok("ls -A RecordFS/private/Copy/Recipe") == "soup.json")
                #expect(try alice.ok("recordfs daemon-log").contains("is not shared"))
                let path = share == ".share.json" ? "" : "/Recipe/soup"
                try alice.ok("rm -r RecordFS/private/Copy")
                try alice.ok("recordfs share stop private/Kitchen\(path)")
            }
            try end()
        }

        @Test("mv of what is shared fails before anything is copied, and .error says why")
        func moved() async throws {
            try alice.ok("echo '\(invitation)' > \(zone)/Recipe/.soup.share.json")
            for (from, to) in [(zone, "RecordFS/private/Moved"), ("\(zone)/Recipe", "\(zone)/M")] {
                let result = try alice.shell("mv \(from) \(to)")
                #expect(result.status == 1 && result.errors.contains("not permitted"))
                #expect(try alice.shell("ls \(to)").status != 0)
                let reason = try alice.ok("cat $(dirname \(from))/.error")
                #expect(reason.contains("soup") && reason.contains("recordfs share stop"))
            }
            #expect(try alice.ok("ls -A \(zone)/Recipe") == ".soup.share.json\nsoup.json")
            try end()
        }

        @Test(
            "writing the file shares, editing it manages, removing it stops; it is listed meanwhile"
        )
        func life() async throws {
            #expect(try alice.ok("ls -A \(zone)") == "Recipe")
            try alice.ok("echo '\(invitation)' > \(zone)/.share.json")
            #expect(try alice.ok("ls -A \(zone)") == ".share.json\nRecipe")
            #expect(try alice.ok("jq -r .title \(zone)/.share.json") == "Kitchen")
            #expect(try alice.ok("stat -c '%a %F' \(zone)/.share.json") == "644 regular file")
            #expect(
                try alice.ok("stat -c %s \(zone)/.share.json")
                    == alice.ok("wc -c < \(zone)/.share.json"))
            let place = try bob.ok(
                "recordfs accept \"$(jq -r .url \(alice.folder)/\(zone)/.share.json)\"")
            let his = "RecordFS/\(place)/.share.json"
            #expect(try bob.ok("stat -c %a \(his)") == "444")
            #expect(try bob.ok("jq -r .permission \(his)") == "READ_ONLY")
            let refused = try bob.shell("echo '{}' > \(his)")
            #expect(refused.status != 0 && refused.errors.contains("Permission denied"))
            let touched = try bob.shell("touch \(his)")
            #expect(touched.errors.contains("Permission denied"))
            // Who has accepted is told without anything being done.
            let status = "jq -r '.participants[0].status' \(zone)/.share.json"
            #expect(try alice.eventually(status, "ACCEPTED"))
            // As an editor writes it: a file beside it, and a rename.
            try alice.ok(
                """
                cd \(zone) && sed s/READ_ONLY/READ_WRITE/ .share.json > .new && mv .new .share.json
                ls -A
                """)
            #expect(try alice.ok("ls -A \(zone)") == ".share.json\nRecipe")
            #expect(
                try alice.ok("jq -r '.participants[0].permission' \(zone)/.share.json")
                    == "READ_WRITE")
            #expect(try bob.eventually("stat -c %a RecordFS/\(place)/Recipe/soup.json", "644"))
            #expect(try bob.ok("jq -r .permission \(his)") == "READ_WRITE")
            // In place.
            try alice.ok(
                "jq '.title = \"Our kitchen\"' \(zone)/.share.json > x; cat x > \(zone)/.share.json"
            )
            #expect(try bob.eventually("jq -r .title \(his)", "Our kitchen"))
            try alice.ok("rm \(zone)/.share.json")
            #expect(try alice.ok("ls -A \(zone)") == "Recipe")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            try end()
        }

        @Test("one record is shared by a file beside it; who removes his file leaves")
        func record() async throws {
            let type = "\(zone)/Recipe"
            try alice.ok("echo '{\"step\": 1, \"$parent\": \"soup\"}' > \(type)/step.json")
            try alice.ok("echo '{\"n\": 2}' > \(type)/tea.json")
            try alice.ok("echo '\(invitation)' > \(type)/.soup.share.json")
            #expect(
                try alice.ok("ls -A \(type)") == ".soup.share.json\nsoup.json\nstep.json\ntea.json")
            #expect(try alice.ok("ls -A \(zone)") == "Recipe")
            let link = try alice.ok("jq -r .url \(type)/.soup.share.json")
            let place = try bob.ok("recordfs accept '\(link)'")
            let his = "RecordFS/\(place)/Recipe"
            #expect(
                try bob.eventually("ls -A \(his)", ".soup.share.json\nsoup.json\nstep.json"))
            // Everything is removed that can be: the share comes first, and nothing of the owner's goes.
            _ = try bob.shell("rm -r RecordFS/\(place)")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            try bob.ok("recordfs sync")
            try alice.ok("recordfs sync")
            #expect(
                try alice.ok("ls -A \(type)") == ".soup.share.json\nsoup.json\nstep.json\ntea.json")
            #expect(try alice.ok("jq -c .participants \(type)/.soup.share.json") == "[]")
            try end()
        }

        /// By a program that hears what close answers, unlike a shell's own commands.
        private func save(_ text: String, as path: String) throws -> ChildResult {
            try alice.shell("echo '\(text)' > text && cp text \(path)")
        }

        @Test("a text that is no share is a draft with its reason, and shares nothing")
        func drafts() async throws {
            let bad = [
                (#"{"participants": ["bob"]}"#, "a participant is"), ("{", "expected a key"),
                (#"{"participants": [{"address": "no one"}]}"#, "an address"),
            ]
            for (text, words) in bad {
                let tried = try save(text, as: "\(zone)/.share.json")
                #expect(tried.status != 0, "\(text)")
                #expect(try alice.ok("cat \(zone)/.share.error").contains(words))
                #expect(try alice.ok("cat \(zone)/.share.json") == text)
                #expect(try alice.ok("recordfs shares") == "")
            }
            let renamed = try alice.shell("cd \(zone) && echo '[' > .x && mv .x .share.json")
            #expect(renamed.status != 0)
            try alice.ok("rm \(zone)/.x")
            #expect(try alice.ok("cat \(zone)/.share.json") == "[")
            // Corrected, it is the share; the reason goes.
            try alice.ok("echo '{}' > \(zone)/.share.json")
            #expect(try alice.ok("ls -A \(zone)") == ".share.json\nRecipe")
            // A draft of a share that is there hides it until it is dropped.
            #expect(try save("{\"a\": 1}", as: "\(zone)/.share.json").status != 0)
            #expect(try alice.ok("cat \(zone)/.share.error").contains("\"a\" is no member"))
            try alice.ok("rm \(zone)/.share.json")
            #expect(try alice.ok("ls -A \(zone)") == ".share.json\nRecipe")
            #expect(try alice.ok("jq -r .title \(zone)/.share.json") == "Kitchen")
            // A copy of the zone is not shared with the same people.
            try alice.ok("cp -r \(zone) RecordFS/private/Copy")
            #expect(try alice.ok("ls -A RecordFS/private/Copy") == "Recipe")
            #expect(try alice.ok("recordfs shares").hasPrefix("private/Kitchen:"))
            try alice.ok("rm -r RecordFS/private/Copy")
            for (path, words) in [
                ("RecordFS/local/Own/.share.json", "only zones and records of private"),
                ("\(zone)/Recipe/.tea.share.json", "no record of this name"),
                ("\(zone)/Recipe/.soup.share.json", "in a share"),
            ] {
                try alice.ok("mkdir -p RecordFS/local/Own")
                #expect(try save("{}", as: path).status != 0)
                let report = path.replacing("json", with: "error")
                #expect(try alice.ok("cat \(report)").contains(words), "\(path)")
                try alice.ok("rm \(path); [ ! -e \(report) ]")
            }
            try await account.stopServer()
            #expect(try save("{\"title\": \"T\"}", as: "\(zone)/.share.json").status != 0)
            #expect(try alice.ok("cat \(zone)/.share.error").contains("does not answer"))
            try alice.ok("rm \(zone)/.share.json; jq -e .url \(zone)/.share.json")
            #expect(try alice.shell("rm \(zone)/.share.json").status != 0)
            #expect(try alice.ok("jq -r .title \(zone)/.share.json") == "Kitchen")
            try await account.startServer()
            try end()
        }

        @Test("editors write it as any other file")
        func editors() async throws {
            try alice.ok("echo '\(invitation)' > \(zone)/.share.json")
            for (place, name) in [(zone, ".share.json"), ("\(zone)/Recipe", ".soup.share.json")] {
                if place != zone {
                    try alice.ok(
                        "rm \(zone)/.share.json; echo '\(invitation)' > \(place)/\(name)")
                }
                for (backup, title) in [("auto", "A"), ("yes", "B"), ("no", "C")] {
                    try alice.ok(
                        """
                        cd \(place) && vim -u NONE -i NONE -es -c 'set nocp backupcopy=\(backup)' \
                            -c '%s/"title" *: *"[^"]*"/"title": "\(title)"/' -c 'wq' \(name)
                        """)
                    let saved = try alice.ok("jq -r .title \(place)/\(name)")
                    #expect(saved == title, "\(name) \(backup)")
                    #expect(
                        try alice.ok("ls -A \(place) | grep -c '~$\\|error\\|swp'; true") == "0")
                }
            }
            try alice.ok("cd \(zone)/Recipe && sed -i 's/\"C\"/\"D\"/' .soup.share.json")
            #expect(try alice.ok("jq -r .title \(zone)/Recipe/.soup.share.json") == "D")
            // A rename away does not end it, and nothing is shared twice.
            try alice.ok("cd \(zone)/Recipe && mv .soup.share.json .away && rm .away")
            #expect(
                try alice.eventually("jq -r .title \(zone)/Recipe/.soup.share.json", "D"))
            try end()
        }

        @Test("what others do with a share is told: by events, in status, and by a command")
        func news() async throws {
            for home in [alice, bob] {
                try home.ok(
                    """
                    recordfs unmount
                    mkdir -p .config/recordfs
                    echo '{"notify": "echo \\"$RECORDFS_EVENT $RECORDFS_WHO $RECORDFS_PATH$RECORDFS_LINK\\" >> ~/told"}' \
                        > .config/recordfs/config.json
                    recordfs mount
                    """)
            }
            try alice.ok(
                "cat RecordFS/.recordfs/events > events & echo $! > reader; echo '\(invitation)' > \(zone)/.share.json"
            )
            let link = try alice.ok("jq -r .url \(zone)/.share.json")
            let invited = "invited admin@localhost \(link)"
            #expect(try bob.eventually("cat told", invited))
            let place = try bob.ok("recordfs accept '\(link)'")
            var told = "accepted bob@localhost private/Kitchen"
            #expect(try alice.eventually("cat told", told))
            try bob.ok("recordfs leave \(place)")
            told += "\nleft bob@localhost private/Kitchen"
            #expect(try alice.eventually("cat told", told))
            #expect(try bob.eventually("cat told", "\(invited)\nended  \(place)"))
            try alice.ok(
                "jq '.participants = []' \(zone)/.share.json > x; cat x > \(zone)/.share.json")
            try bob.ok("recordfs accept --request '\(link)'")
            told += "\nrequested bob@localhost private/Kitchen"
            #expect(try alice.eventually("cat told", told))
            #expect(
                try alice.ok("recordfs status | tail -n 1")
                    == "1 person asks for access: recordfs share requests private/Kitchen")
            #expect(
                try alice.ok("recordfs status --json | jq -c .accessRequests")
                    == #"[{"path":"private/Kitchen","requests":1}]"#)
            #expect(
                try alice.eventually(
                    "jq -r 'select(.event == \"share\") | .what + \" \" + .who + \" \" + .zone' events",
                    told.replacing("private/", with: "")))
            try alice.ok("recordfs share approve private/Kitchen bob@localhost")
            #expect(try alice.eventually("recordfs status --json | jq -c .accessRequests", "[]"))
            try alice.ok("kill $(cat reader)")
            try end()
        }

        @Test("who cannot leave a share removes nothing that is its owner's")
        func failedLeave() async throws {
            try alice.ok(
                "recordfs share create private/Kitchen --with bob@localhost --write --admin")
            let place = try bob.ok(
                "recordfs accept \"$(jq -r .url \(alice.folder)/\(zone)/.share.json)\"")
            // A draft that goes leaves the share.
            #expect(
                try bob.shell("echo '{\"a\": 1}' > t; cp t RecordFS/\(place)/.share.json").status
                    != 0)
            #expect(try bob.shell("rm -r RecordFS/\(place)").status != 0)
            try await account.stopServer()
            #expect(try bob.shell("rm -r RecordFS/\(place)").status != 0)
            #expect(
                try bob.shell("rm -rf RecordFS/\(place)/Recipe/*; ls RecordFS/\(place)/Recipe")
                    .output == "")
            try bob.ok("recordfs restore \(place)/Recipe/soup")
            try await account.startServer()
            #expect(
                try bob.eventually(
                    "recordfs sync > /dev/null; ls RecordFS/\(place)/Recipe", "soup.json"))
            try alice.ok("recordfs sync")
            #expect(
                try alice.ok("ls -A \(zone) \(zone)/Recipe | grep -c 'share.json\\|soup.json'")
                    == "2")
            // Of a directory that is sorted by inode numbers the share goes first.
            #expect(
                try alice.ok(
                    "[ $(stat -c %i \(zone)/.share.json) -lt $(stat -c %i \(zone)/Recipe/soup.json) ]"
                ) == "")
            try end()
        }

        @Test("programs that remove a file to write it anew do not end the share")
        func replaced() async throws {
            try alice.ok("echo '\(invitation)' > \(zone)/.share.json")
            let link = try alice.ok("jq -r .url \(zone)/.share.json")
            let place = try bob.ok("recordfs accept '\(link)'")
            #expect(
                try alice.eventually(
                    "jq -r '.participants[0].status' \(zone)/.share.json", "ACCEPTED"))
            try alice.ok(
                """
                cp \(zone)/.share.json kept
                cp --remove-destination kept \(zone)/.share.json
                install -m644 kept \(zone)/.share.json
                (cd \(zone) && tar cf ~/t.tar .share.json && tar xf ~/t.tar)
                sed s/READ_ONLY/READ_WRITE/ \(zone)/.share.json > \(zone)/.new
                mv \(zone)/.new \(zone)/.share.json
                """)
            // Longer than a removed name waits.
            try alice.ok("recordfs sync")
            #expect(try alice.ok("jq -r .url \(zone)/.share.json") == link)
            #expect(try bob.eventually("stat -c %a RecordFS/\(place)/Recipe/soup.json", "644"))
            #expect(try alice.ok("ls -A \(zone)") == ".share.json\nRecipe")
            try alice.ok("rm \(zone)/.share.json && recordfs sync")
            #expect(try alice.ok("ls -A \(zone); recordfs shares") == "Recipe")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            try end()
        }

        @Test(
            "a participant who replaces the file saves it or is refused, and has the share still",
            arguments: [false, true])
        func replacedByParticipant(_ mayWrite: Bool) async throws {
            let permission = mayWrite ? "READ_WRITE" : "READ_ONLY"
            try alice.ok(
                """
                echo '{"participants": [{"address": "bob@localhost", "permission": "\(permission)"}]}' \
                    > \(zone)/.share.json
                """)
            let link = try alice.ok("jq -r .url \(zone)/.share.json")
            let place = try bob.ok("recordfs accept '\(link)'")
            let file = "RecordFS/\(place)/.share.json"
            try bob.ok("recordfs sync; cp \(file) kept; sed 's/Kitchen/Mine/' kept > other")
            for text in ["kept", "other"] {
                for tool in [
                    "cp --remove-destination \(text) \(file)",
                    "install -m644 \(text) \(file)",
                    "cp \(text) .share.json && tar cf t.tar .share.json && tar xf t.tar -C RecordFS/\(place)",
                    "cp \(text) moved && mv -f moved \(file)",
                    "vim -u NONE -i NONE -n -es -c 'set nocp' -c '%s/Kitchen/\(text)/e' -c 'w!' -c 'q!' \(file)",
                ] {
                    let tried = try bob.shell(tool)
                    if text == "other" { #expect(tried.status != 0, "\(tool)") }
                    // A draft of what was refused.
                    _ = try bob.shell("rm -f \(file.replacing("json", with: "error"))")
                    if try bob.shell("cmp -s kept \(file)").status != 0 {
                        _ = try bob.shell("[ -e \(file) ] && rm -f \(file); true")
                    }
                    #expect(
                        try bob.eventually("cmp kept \(file) && echo same", "same"), "\(tool)")
                }
            }
            // Longer than a removed name waits.
            try bob.ok("recordfs sync")
            #expect(try bob.ok("jq -r .role \(file)") == "USER")
            #expect(
                try alice.ok("jq -r '.participants[0].status' \(zone)/.share.json") == "ACCEPTED")
            // Only what stays removed leaves, and takes nothing of the owner's along.
            _ = try bob.shell("rm -rf RecordFS/\(place)")
            try bob.ok("recordfs sync")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            try alice.ok("recordfs sync")
            #expect(try alice.ok("ls \(zone)/Recipe") == "soup.json")
            try end()
        }

        @Test("a share that was removed ends, also when the daemon is killed before")
        func removedAndKilled() async throws {
            try alice.ok("echo '\(invitation)' > \(zone)/.share.json")
            let link = try alice.ok("jq -r .url \(zone)/.share.json")
            try bob.ok("recordfs accept '\(link)'")
            try alice.ok(
                """
                pid=$(recordfs status --json | jq .daemon.pid)
                rm \(zone)/.share.json; kill -9 $pid
                recordfs mount
                ls -A \(zone) && recordfs sync
                """)
            #expect(try alice.ok("ls -A \(zone); recordfs shares") == "Recipe")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            // Written anew in time, it goes on.
            try alice.ok(
                """
                echo '\(invitation)' > \(zone)/.share.json
                cp --remove-destination \(zone)/.share.json kept
                rm \(zone)/.share.json; cp kept \(zone)/.share.json
                kill -9 $(recordfs status --json | jq .daemon.pid)
                recordfs mount && recordfs sync
                """)
            #expect(try alice.ok("ls -A \(zone)") == ".share.json\nRecipe")
            try end()
        }

        @Test("a share that was removed ends when the server can be reached again")
        func removedAndServerAway() async throws {
            try alice.ok("echo '\(invitation)' > \(zone)/.share.json")
            let link = try alice.ok("jq -r .url \(zone)/.share.json")
            try bob.ok("recordfs accept '\(link)'")
            try alice.ok("rm \(zone)/.share.json")
            try await account.stopServer()
            #expect(try alice.ok("ls -A \(zone)") == "Recipe")
            try alice.ok("recordfs unmount && recordfs mount")
            #expect(try alice.ok("ls -A \(zone)") == "Recipe")
            try await account.startServer()
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            #expect(try alice.ok("ls -A \(zone); recordfs shares") == "Recipe")
            try end()
        }

        @Test("what others write into a title gives the terminal no orders")
        func terminalOrders() async throws {
            try alice.ok(
                """
                recordfs share create private/Kitchen --title $'a\\e]0;b\\a\\nc' > link
                recordfs share show private/Kitchen > shown; recordfs shares >> shown
                """)
            #expect(try alice.shell("grep -q $'[\\a\\e]' shown").status == 1)
            #expect(try alice.ok("grep -c 'u{1b}.*u{a}c' shown") == "2")
            try end()
        }

        @Test("a name that is no share's is no share, and says so")
        func names() async throws {
            for directory in [zone, "\(zone)/Recipe"] {
                let name = directory == zone ? ".share.json" : ".soup.share.json"
                for command in ["mkdir", "mkfifo", "ln -s /etc/passwd", "ln \(zone)/.x"] {
                    #expect(
                        try alice.shell("touch \(zone)/.x; \(command) \(directory)/\(name)").status
                            != 0, "\(command)")
                }
            }
            for (place, words) in [
                ("\(zone)/Recipe", "directory above"), ("RecordFS/private", "ZONE/.share.json"),
            ] {
                #expect(try save("{}", as: "\(place)/.share.json").status != 0)
                #expect(try alice.ok("cat \(place)/.share.error").contains(words))
                try alice.ok("rm \(place)/.share.json")
            }
            // What is said is said at once, however often it was looked for before.
            for _ in 0..<10 {
                #expect(try alice.shell("cat \(zone)/.share.error").status != 0)
                #expect(try save("{\"role\": 1}", as: "\(zone)/.share.json").status != 0)
                try alice.ok("cat \(zone)/.share.error; rm \(zone)/.share.json")
            }
            try end()
        }

        @Test("only a small regular file of one name becomes a share")
        func files() async throws {
            let before = try alice.ok("ls -A \(zone)")
            try alice.ok("echo '\(invitation)' > own")
            let tries = [
                ("ln -s \"$HOME/own\" .x", "Operation not permitted"),
                ("echo '\(invitation)' > .x && ln .x .y", "Invalid cross-device link"),
                ("truncate -s 65M .x", "File too large"), ("mkdir .x", "Operation not permitted"),
            ]
            for (make, words) in tries {
                let tried = try alice.shell(
                    "cd \(zone) && \(make) && exec perl -e "
                        + "'rename(q(.x), q(.share.json)) or die $!'")
                #expect(tried.status != 0, "\(make)")
                #expect(tried.errors.contains(words), "\(make): \(tried.errors)")
                #expect(try alice.ok("recordfs shares") == "", "\(make)")
                try alice.ok("cd \(zone) && rm -rf .x .y")
                #expect(try alice.ok("ls -A \(zone)") == before, "\(make)")
            }
            let large = try alice.shell("truncate -s 65M large && cp large \(zone)/.share.json")
            #expect(large.status != 0)
            #expect(try alice.ok("cat \(zone)/.share.error").contains("67108864"))
            #expect(try alice.ok("recordfs shares") == "")
            try alice.ok("rm \(zone)/.share.json")
            #expect(try alice.ok("ls -A \(zone)") == before)
            try end()
        }

        @Test("an administrator who may only read keeps his refused texts and hears why")
        func readOnlyAdministrator() async throws {
            try alice.ok(
                """
                recordfs share create private/Kitchen --with bob@localhost --admin
                recordfs share link --write private/Kitchen
                """)
            let place = try bob.ok(
                "recordfs accept \"$(jq -r .url \(alice.folder)/\(zone)/.share.json)\"")
            let his = "RecordFS/\(place)/.share.json"
            try bob.ok(
                "jq '.participants += [{\"address\": \"carol@localhost\"}]' \(his) > t; cp t \(his)"
            )
            #expect(
                try alice.eventually(
                    "jq -r '.participants[].address' \(zone)/.share.json",
                    "bob@localhost\ncarol@localhost"))
            #expect(try bob.shell("echo '{' > t; cp t \(his)").status != 0)
            #expect(
                try bob.ok("cat \(his) RecordFS/\(place)/.share.error").contains("expected a key"))
            try bob.ok("rm \(his); jq -e .url \(his)")
            try end()
        }
    }
}
