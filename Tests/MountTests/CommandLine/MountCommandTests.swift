import Glibc
import RecordModel
import Testing

extension MountTests {
    @Suite struct MountCommandTests {
        private let home: CommandLineHome
        private var place: String { "\(home.folder)/RecordFS" }

        init() throws { home = try CommandLineHome() }

        @Test("mount and unmount need no arguments; status and the log say what is")
        func defaults() throws {
            let mount = try home.recordfs("mount")
            #expect(mount.status == 0 && mount.output.contains(place), "\(mount)")
            #expect(MountTable.isMounted(place))
            #expect(try home.recordfs("status").output.hasPrefix("Mounted at \(place)"))
            #expect(try home.recordfs("mount").status == 1)
            #expect(try home.recordfs("unmount").status == 0)
            #expect(!MountTable.isMounted(place))
            #expect(try home.recordfs("unmount").status == 3)
            let log = try SystemCall.readText("\(home.folder)/.local/state/recordfs/recordfs.log")
            #expect(log.contains("Mounted") && log.contains("Unmounted"))
            var status = stat()
            #expect(stat("\(home.folder)/.local/share/recordfs", &status) == 0)
            #expect(status.st_mode & 0o777 == 0o700)
        }

        @Test("status counts what is scratch, and says nothing of it where there is none")
        func scratch() throws {
            let result = try home.shell(
                """
                recordfs mount > /dev/null
                mkdir -p RecordFS/private/Kitchen/Recipe/.git; cd RecordFS/private/Kitchen/Recipe
                echo '{"n": 1}' > a.json
                recordfs status | grep -ci scratch
                printf 12345 > notes.md; printf 123 > .git/config; ln notes.md C.JSON
                recordfs status | grep -i scratch
                recordfs status --json | jq -c '.scratch, .scratchTrash'
                cd; recordfs unmount; recordfs status --json | jq -c .scratch
                """)
            #expect(
                result.output.split(separator: "\n") == [
                    "0", "Scratch: 2 files, 8 B, on this machine only",
                    "1 of their names looks like a mistake. recordfs scratch --problems shows it.",
                    #"{"files":2,"size":8}"#, #"{"files":0,"size":0}"#,
                    #"{"files":2,"size":8}"#,
                ], "\(result)")
        }

        @Test("commands see and change the same records beside the mount, by paths on it too")
        func beside() throws {
            try home.recordfs("mount")
            let result = try home.shell(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe && cd RecordFS/private/Kitchen/Recipe
                echo '{"n": 1}' > soup.json
                recordfs get private/Kitchen/Recipe/soup
                echo '{"n": 2}' | recordfs put soup.json
                cat soup.json
                recordfs history ./soup.json | wc -l
                recordfs ls .
                recordfs mv ~/RecordFS/private/Kitchen/Recipe/soup.json stew
                ls
                recordfs rm stew.json; ls
                recordfs restore stew.json; cat stew.json
                """)
            #expect(
                result.output.split(separator: "\n") == [
                    "{\"n\": 1}", "{\"n\": 2}", "3", "soup.json", "stew.json", "{\"n\": 2}",
                ], "\(result)")
            #expect(result.errors == "")
            #expect(try home.recordfs("unmount").status == 0)
        }

        @Test("the reason of a refused save outlives vim's backup in .error, errors/ and the log")
        func refusedSave() throws {
            let result = try home.shell(
                """
                recordfs mount > /dev/null
                mkdir -p RecordFS/private/Kitchen/Recipe; cd RecordFS/private/Kitchen/Recipe
                echo '{"n": 1}' > a.json
                mv a.json a.json~; echo '{bad' > a.json; rm a.json; mv a.json~ a.json
                cat a.json; grep -o 'line 1, column 2' .error ~/RecordFS/.recordfs/errors/*-a.txt
                echo '{"n": 2}' > a.json; ls -A . ~/RecordFS/.recordfs/errors
                cd; recordfs unmount
                grep -c 'error=line 1, column 2.*record=a .*refused' .local/state/recordfs/recordfs.log
                """)
            let lines = result.output.split(separator: "\n").map(String.init)
            try #require(lines.count == 7, "\(result)")
            #expect(lines[0] == "{\"n\": 1}" && lines[1] == ".error:line 1, column 2")
            #expect(lines[2].hasSuffix("-a.txt:line 1, column 2"))
            #expect(lines[3...5] == [".:", "a.json", "\(place)/.recordfs/errors:"], "\(result)")
            #expect(lines[6] != "0", "\(result)")
        }

        @Test("a mount in use is not ended but detached when asked")
        func busy() throws {
            try home.recordfs("mount")
            let held = try SystemCall.open("\(place)/README.md", O_RDONLY)
            let refused = try home.recordfs("unmount")
            #expect(refused.status == 1 && refused.errors.contains("--lazy"), "\(refused)")
            #expect(MountTable.isMounted(place))
            #expect(try home.recordfs("unmount", "--lazy").status == 0)
            #expect(!MountTable.isMounted(place))
            close(held)
        }

        @Test("a command that makes a record type leaves those in peace who stand in its zone")
        func standingInZone() throws {
            let result = try home.shell(
                """
                recordfs mount > /dev/null; mkdir -p RecordFS/private/A/B; cd RecordFS/private/A
                for type in C D E; do
                    echo '{}' | recordfs put private/A/$type/x
                    python3 -c 'import os; print(os.getcwd())' | tail -c 4
                done
                ls; cd; recordfs unmount
                """)
            #expect(result.output == "e/A\ne/A\ne/A\nB\nC\nD\nE\n", "\(result)")
        }

        @Test("mount waits for a daemon that is about to end")
        func mountAfterLazy() throws {
            let result = try home.shell(
                """
                recordfs mount > /dev/null; exec 9< RecordFS/README.md
                for i in 1 2 3; do
                    fusermount3 -uz RecordFS; recordfs mount > /dev/null || exit
                    exec 9< RecordFS/README.md
                done
                exec 9<&-; recordfs unmount
                """)
            #expect(result.status == 0 && result.errors == "", "\(result)")
        }

        @Test("a directory with files is not hidden by a mount, but when asked to")
        func nonEmpty() throws {
            try SystemCall.makeDirectory(place)
            _ = try home.file("RecordFS/mine", "x")
            let refused = try home.recordfs("mount")
            #expect(refused.status == 1 && refused.errors.contains(place), "\(refused)")
            #expect(refused.errors.contains("-o nonempty"))
            #expect(!MountTable.isMounted(place))
            let file = try home.recordfs("mount", "\(place)/mine")
            #expect(file.status == 1 && file.errors.contains("not a directory"), "\(file)")
            #expect(try home.recordfs("mount", "-o", "ro,nonempty").status == 0)
            #expect(try !SystemCall.list(place).contains("mine"))
            #expect(try home.recordfs("unmount").status == 0)
            #expect(try SystemCall.readText("\(place)/mine") == "x")
        }

        @Test(
            "a mount neither hides records nor its own store",
            arguments: [
                "RecordFS/private/A/B", "RecordFS/private/A", "RecordFS/new", ".", ".local",
            ])
        func hiding(directory: String) throws {
            try home.recordfs("mount")
            try SystemCall.makeDirectories("\(place)/private/A/B")
            let place = "\(home.folder)/\(directory)"
            let other = ["--state", "\(home.folder)/.local/other"]
            for options in [other, other + ["-o", "nonempty"]] {
                let result = try finish(
                    [try Executable.recordfs(), "mount"] + options + [place],
                    environment: home.environment)
                #expect(result.status == 1, "\(result)")
            }
            #expect(MountTable.points(below: home.folder) == [self.place])
        }

        @Test("a store cannot be on a mount")
        func storeOnMount() throws {
            try home.recordfs("mount")
            try SystemCall.makeDirectories("\(place)/private/A/B/.state")
            let result = try home.recordfs(
                "mount", "--state", "\(place)/private/A/B/.state", "\(home.folder)/other")
            #expect(result.status == 1 && result.errors.contains("the mount \(place)"), "\(result)")
        }

        @Test("the source of a mount is not to be changed, for it says which store it is")
        func source() throws {
            #expect(try home.recordfs("mount", "-o", "fsname=x").status == 2)
            #expect(try home.recordfs("mount", "-o", "ro,subtype=y").status == 2)
        }

        @Test(
            "an option that cannot be had is refused with its reason, and nothing is mounted",
            arguments: [
                "auto_unmount", "max_read=4096", "suid", "ro,dev", "state=", "grace=soon",
            ])
        func refusedOption(option: String) throws {
            let result = try home.recordfs("mount", "-o", option)
            #expect(result.status == 2 && result.errors.hasPrefix("recordfs: "), "\(result)")
            #expect(result.errors.split(separator: "\n").count == 1, "\(result)")
            #expect(!MountTable.isMounted(place))
        }

        /// Options of a mount, and what the kernel says of it then.
        struct KernelOptions: Sendable {
            let given: String
            let present: Set<String>
            let absent: Set<String>
        }

        @Test(
            "what the kernel does for any file system reaches it, and the last of two holds",
            arguments: [
                KernelOptions(
                    given: "noexec,noatime",
                    present: ["rw", "nosuid", "nodev", "noexec", "noatime"], absent: ["ro"]),
                KernelOptions(
                    given: "ro,rw,max_read=0", present: ["rw", "nosuid", "nodev"],
                    absent: ["ro", "noexec", "noatime"]),
                KernelOptions(
                    given: "rw,ro,noexec,exec,noatime,relatime", present: ["ro"],
                    absent: ["rw", "noexec", "noatime"]),
                KernelOptions(
                    given: "defaults,user,nodev,nosuid", present: ["rw", "nosuid", "nodev"],
                    absent: ["ro", "noexec"]),
            ])
        func kernelOptions(_ options: KernelOptions) throws {
            let mount = try home.recordfs("mount", "-o", options.given)
            #expect(mount.status == 0, "\(mount)")
            let shown = try succeed("findmnt", "-n", "-o", "OPTIONS", "--mountpoint", place)
            let words = Set(shown.split { $0 == "," || $0.isWhitespace }.map(String.init))
            #expect(words.isSuperset(of: options.present), "\(shown)")
            #expect(words.isDisjoint(with: options.absent), "\(shown)")
            #expect(try home.recordfs("unmount").status == 0)
        }

        @Test("a read-only setting holds against the rw that mount(8) says by itself")
        func readOnlySetting() throws {
            try home.recordfs("put", "private/A/B/c", input: "{}")
            try SystemCall.makeDirectories("\(home.folder)/.config/recordfs")
            _ = try home.file(".config/recordfs/config.json", #"{"readOnly": true}"#)
            #expect(try home.recordfs("mount", "-o", "rw").status == 0)
            let file = "\(place)/private/A/B/c.json"
            #expect(SystemCall.code { try SystemCall.writeFile(file, "{}") } == EROFS)
            #expect(try home.recordfs("unmount").status == 0)
        }

        @Test(
            "what is no socket in the place of the control socket is named and stays",
            arguments: ["install -D /dev/null", "touch", "mkfifo", "ln -s /dev/null"])
        func controlSocket(make: String) throws {
            let state = "\(home.folder)/.local/share/recordfs"
            try home.recordfs("put", "private/A/B/c", input: "{}")
            try #require(
                try home.shell(
                    "\(make) \(state)/control.sock\(make.hasPrefix("install") ? "/file" : "")"
                ).status == 0)
            let mount = try home.recordfs("mount")
            #expect(mount.status == 1 && mount.errors.contains("is no socket"), "\(mount)")
            #expect(SystemCall.exists("\(state)/control.sock"))
            #expect(!MountTable.isMounted(place))
            #expect(try home.recordfs("put", "private/A/B/c", input: "{\"n\": 1}").status == 0)
            #expect(try home.recordfs("get", "private/A/B/c").output == "{\"n\": 1}")
        }

        @Test("a socket that a dead process left is replaced")
        func staleSocket() throws {
            try home.recordfs("put", "private/A/B/c", input: "{}")
            let script = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
            try succeed(
                "python3", "-c", script, "\(home.folder)/.local/share/recordfs/control.sock")
            #expect(try home.recordfs("status").output.hasPrefix("Not mounted"))
            #expect(try home.recordfs("mount").status == 0)
            #expect(try home.recordfs("put", "private/A/B/c", input: "{\"n\": 1}").status == 0)
            #expect(try home.recordfs("unmount").status == 0)
        }

        @Test("the reason why a background mount failed comes back to who asked")
        func failure() throws {
            try home.recordfs("mount")
            let other = try home.recordfs("mount", "\(home.folder)/other")
            #expect(other.status == 1 && other.errors.contains("Process"), "\(other)")
            try home.recordfs("unmount")
            try SystemCall.makeDirectories("\(home.folder)/broken")
            _ = try home.file("broken/store.sqlite", String(repeating: "no database ", count: 100))
            let broken = try home.recordfs("mount", "--state", "\(home.folder)/broken")
            #expect(broken.status == 1 && broken.errors.hasPrefix("recordfs: "), "\(broken)")
            #expect(broken.errors.split(separator: "\n").count == 1)
            #expect(!MountTable.isMounted(place))
        }

        @Test("as mount.recordfs it takes the arguments of mount(8)")
        func helper() throws {
            let helper = "\(home.folder)/mount.recordfs"
            try SystemCall.symlink(to: try Executable.recordfs(), at: helper)
            let state = "\(home.folder)/state"
            let result = try finish(
                [helper, state, place, "-s", "-o", "rw,nofail,x-systemd.automount,grace=1"],
                environment: home.environment)
            #expect(result.status == 0, "\(result)")
            #expect(MountTable.isMounted(place))
            let status = try home.recordfs("--state", state, "status", "--json")
            let daemon = try JSONParser.parse(Array(status.output.utf8))["daemon"]
            #expect(daemon?["mountpoint"]?.string?.string == place)
            #expect(try home.recordfs("--state", state, "unmount").status == 0)
        }

        @Test(
            "mount.recordfs mounts no other store than the one that is named",
            arguments: [["relative/x"], ["./x"], ["x"], ["none", "-o", "rw,state=relative/x"]])
        func helperRefuses(words: [String]) throws {
            let helper = "\(home.folder)/mount.recordfs"
            try SystemCall.symlink(to: try Executable.recordfs(), at: helper)
            let result = try finish(
                [helper, words[0], place] + words.dropFirst(), environment: home.environment)
            #expect(result.status == 2 && result.errors.contains("absolute path"), "\(result)")
            #expect(!MountTable.isMounted(place))
            #expect(!SystemCall.exists("\(home.folder)/.local/share/recordfs"))
        }

        @Test("a directory that is no store is not taken for one, and keeps its mode")
        func foreignDirectory() throws {
            let other = "\(home.folder)/other"
            try SystemCall.makeDirectory(other)
            _ = try home.file("other/mine", "x")
            #expect(chmod(other, 0o755) == 0)
            let mount = try home.recordfs("mount", "--state", other)
            #expect(mount.status == 1 && mount.errors.contains("is no store"), "\(mount)")
            #expect(!MountTable.isMounted(place))
            let empty = "\(home.folder)/empty"
            try SystemCall.makeDirectory(empty)
            #expect(chmod(empty, 0o755) == 0)
            #expect(try home.recordfs("mount", "--state", empty).status == 0)
            #expect(try home.recordfs("unmount", "--state", empty).status == 0)
            for directory in [other, empty] {
                var status = stat()
                #expect(stat(directory, &status) == 0 && status.st_mode & 0o7777 == 0o755)
            }
            #expect(try SystemCall.list(other) == ["mine"])
        }

        @Test("doctor names a mount that has lost its process, and mount heals it")
        func doctor() throws {
            try home.recordfs("mount")
            let status = try home.recordfs("status", "--json")
            let daemon = try JSONParser.parse(Array(status.output.utf8))["daemon"]
            let pid = try #require(daemon?["pid"]?.int64)
            kill(pid_t(pid), SIGKILL)
            let place = place
            #expect(
                MountTable.wait(
                    seconds: 10,
                    until: { SystemCall.code { _ = try SystemCall.list(place) } == ENOTCONN },
                    orUntil: { false }))
            let doctor = try home.recordfs("doctor")
            #expect(doctor.status == 1, "\(doctor)")
            #expect(doctor.output.contains("recordfs mount \(place)\n"))
            let other = "\(home.folder)/other"
            try home.recordfs("put", "--state", other, "private/A/B/c", input: "{}")
            let elsewhere = try home.recordfs("doctor", "--state", other)
            #expect(elsewhere.status == 0, "\(elsewhere)")
            #expect(elsewhere.output.contains("warning mount: \(place) has lost its process"))
            #expect(try home.recordfs("status").output.contains("has lost its process"))
            #expect(try home.recordfs("mount").status == 0)
            #expect(try SystemCall.list(place).contains("private"))
            #expect(try home.recordfs("unmount").status == 0)
        }

        @Test("a read-only mount refuses changes of both ways")
        func readOnly() throws {
            try home.recordfs("put", "private/A/B/c", input: "{\"n\": 1}")
            try home.recordfs("mount", "--read-only")
            let file = "\(place)/private/A/B/c.json"
            #expect(SystemCall.code { try SystemCall.writeFile(file, "{}") } == EROFS)
            #expect(try home.recordfs("put", "private/A/B/c", input: "{}").status == 1)
            #expect(try home.recordfs("get", "private/A/B/c").output == "{\"n\": 1}")
            #expect(try home.recordfs("unmount").status == 0)
        }
    }
}
