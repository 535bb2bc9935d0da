import TestSupport
import Testing

extension MountTests {
    /// Real processes: a server, and the mounts of two users of one machine, each under a uid of its own.
    /// Alice shares a zone by its file, and a record by command.
    @Suite struct SeparateUserTests: TestsOfTwoUsers {
        let users: TwoUsers

        private let soup = "Kitchen/Recipe/soup.json"
        private let rose = "Garden/Plant/rose.json"
        private let own = "RecordFS/private"
        private let shared = "RecordFS/shared/admin@localhost"

        init() async throws {
            users = try await TwoUsers(of: OtherUsers())
            try alice.ok(
                """
                mkdir -p \(own)/Kitchen/Recipe \(own)/Garden/Plant
                echo '{"n": 1}' > \(own)/\(soup); echo '{"n": 1}' > \(own)/\(rose)
                echo '{"n": 1}' > \(own)/Garden/Plant/secret.json
                echo '{"participants": [{"address": "bob@localhost"}]}' > \(own)/Kitchen/.share.json
                """)
            let links = try alice.ok(
                """
                jq -r .url \(own)/Kitchen/.share.json
                recordfs share create private/Garden/Plant/rose --with bob@localhost
                """)
            for link in links.split(separator: "\n") { try bob.ok("recordfs accept '\(link)'") }
        }

        /// Prints of each call how it ends: `done` or the name of its error.
        private static let writes = """
            import errno, os, sys
            def tell(what, call):
                try:
                    call()
                    print(what, "done")
                except OSError as error:
                    print(what, errno.errorcode[error.errno])
            for path in sys.argv[1:]:
                folder = os.path.dirname(path)
                tell("open", lambda: os.open(path, os.O_WRONLY))
                tell("empty", lambda: os.open(path, os.O_RDWR | os.O_TRUNC))
                tell("truncate", lambda: os.truncate(path, 0))
                tell("create", lambda: os.open(folder + "/new.json", os.O_CREAT | os.O_WRONLY))
                tell("mkdir", lambda: os.mkdir(os.path.dirname(folder) + "/Other"))
                tell("rename", lambda: os.rename(path, folder + "/away.json"))
                tell("unlink", lambda: os.unlink(path))
            """

        @Test(
            "users of one machine share what each has under a uid of its own, until it is revoked")
        func life() throws {
            let tree = "find \(shared) -name '*.json' ! -name '.*' -printf '%P %m\\n' | sort"
            #expect(try bob.ok(tree) == "\(rose) 444\n\(soup) 444")
            let writes = try bob.file("writes.py", Self.writes)
            let tried = try bob.ok("python3 \(writes) \(shared)/\(soup) \(shared)/\(rose)")
            let calls = ["open", "empty", "truncate", "create", "mkdir", "rename", "unlink"]
            let refused = calls.map { "\($0) EACCES" }
            #expect(tried.split(separator: "\n").map(String.init) == refused + refused)
            let status = "jq -r '.participants[0].status' \(own)/Kitchen/.share.json"
            #expect(try alice.eventually(status, "ACCEPTED"))
            try alice.ok(
                """
                cd \(own)/Kitchen && sed s/READ_ONLY/READ_WRITE/ .share.json > .new && mv .new .share.json
                recordfs share permit private/Garden/Plant/rose bob@localhost read-write
                """)
            #expect(try bob.eventually(tree, "\(rose) 644\n\(soup) 644"))
            for file in [soup, rose] {
                try bob.ok("sed -i 's/\"n\": 1/\"n\": 2/' \(shared)/\(file)")
                #expect(try alice.eventually("jq .n \(own)/\(file)", "2"))
                try alice.ok("sed -i 's/\"n\": 2/\"n\": 3/' \(own)/\(file)")
                #expect(try bob.eventually("jq .n \(shared)/\(file)", "3"))
            }
            try expectOwners()
            try alice.ok(
                """
                rm \(own)/Kitchen/.share.json; recordfs share stop private/Garden/Plant/rose
                recordfs sync
                """)
            #expect(try bob.eventually("ls -A RecordFS/shared", ""))
            #expect(try alice.ok("cat \(own)/\(soup) \(own)/\(rose) | jq .n") == "3\n3")
            try end()
        }

        /// All on a mount belongs to who has mounted it; a new file has the mode of that user's umask.
        private func expectOwners() throws {
            for (home, folder, mode) in [(alice, own, "644"), (bob, shared, "666")] {
                let id = try #require(home.user).id
                let owners = "find RecordFS RecordFS/.recordfs -printf '%U %G\\n' | sort -u"
                #expect(try home.ok(owners) == "\(id) \(id)")
                let note = "\(folder)/Kitchen/Recipe/note.txt"
                #expect(try home.ok("touch \(note) && stat -c '%a %u' \(note)") == "\(mode) \(id)")
            }
        }

        /// Prints how many of the paths of a list were tried, and each call that did not end with EACCES:
        /// of the names that are there, and of new ones in the directories.
        private static let access = """
            import errno, os, socket, sys
            count = 0
            def tell(what, path, call):
                try:
                    call()
                    print(what, path, "done")
                except OSError as error:
                    if error.errno != errno.EACCES:
                        print(what, path, errno.errorcode[error.errno])
            for line in open(sys.argv[1]):
                kind, path = line.rstrip("\\n").split(" ", 1)
                count += 1
                if kind == "s":
                    tell("connect", path, lambda: socket.socket(socket.AF_UNIX).connect(path))
                elif kind == "d":
                    tell("list", path, lambda: os.listdir(path))
                    tell("create", path, lambda: os.open(path + "/intruder", os.O_CREAT | os.O_WRONLY))
                else:
                    tell("read", path, lambda: os.open(path, os.O_RDONLY))
                    tell("write", path, lambda: os.open(path, os.O_WRONLY))
            print(count)
            """

        @Test(
            "a user of the machine reads nothing of another's mount, store, log and control socket")
        func isolation() throws {
            for (home, other) in [(alice, bob), (bob, alice)] {
                // What is above them can be walked, so that nothing else protects them.
                try home.ok("chmod 755 . .local .local/share .local/state")
                let list = "\(home.folder)/list"
                let folders = [
                    "RecordFS", "RecordFS/.recordfs", ".local/share/recordfs",
                    ".local/state/recordfs/recordfs.log",
                ].map { "\(home.folder)/\($0)" }
                let all = folders.joined(separator: " ")
                let count = try home.ok(
                    "find \(all) -printf '%y %p\\n' > \(list); wc -l < \(list)")
                let known = "control.sock|store.sqlite|account.json|Recipe/soup.json"
                #expect(try home.ok("grep -cE '/(\(known))$' \(list)") == "5")
                let access = try other.file("access.py", Self.access)
                #expect(try other.ok("python3 \(access) \(list)") == count)
                let asked = try other.shell("recordfs status --state \(folders[2])")
                #expect(asked.status == 1 && asked.output == "", "\(asked)")
                // The names are right: their owner may read each but what is for writing alone.
                let unread =
                    "while read -r kind path; do test -r \"$path\" || echo \"$path\"; done"
                #expect(
                    try home.ok("\(unread) < \(list)") == "\(folders[1])/ctl")
            }
            try end()
        }
    }
}
