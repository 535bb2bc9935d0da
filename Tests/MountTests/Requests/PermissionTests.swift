import Glibc
import Testing

extension MountTests {
    /// On a mount for its owner alone the daemon answers who may do what, as ext4 would.
    @Suite struct PermissionTests {
        /// Prints a line for each call that does not end as on ext4 next to it, for a user who is
        /// not root.
        private static let script = """
            set -u
            cd "$1"
            check() {  # a shell line: its status and message on the mount and on the disk
                ours=$(cd "$1/dir" && bash -c "$3" 2>&1; echo "exit $?")
                theirs=$(cd "$2/dir" && bash -c "$3" 2>&1; echo "exit $?")
                [ "$ours" = "$theirs" ] || printf '%s: mount [%s], disk [%s]\\n' "$3" "$ours" "$theirs"
            }
            for place in "$1" "$2"; do
                cd "$place"; mkdir dir; cd dir
                for mode in 0000 0200 0400 0500 0600 0700; do
                    echo text > f$mode; mkdir d$mode; echo inner > d$mode/file; mkdir d$mode/sub
                    chmod $mode f$mode d$mode
                done
            done
            for mode in 0000 0200 0400 0500 0600 0700; do
                for test in r w x; do
                    check "$1" "$2" "test -$test f$mode"; check "$1" "$2" "test -$test d$mode"
                done
                check "$1" "$2" "cat f$mode"; check "$1" "$2" "echo more >> f$mode"
                check "$1" "$2" "echo new > f$mode"; check "$1" "$2" "truncate -s 2 f$mode"
                check "$1" "$2" "./f$mode"; check "$1" "$2" "cd d$mode"
                check "$1" "$2" "ls d$mode"; check "$1" "$2" "cat d$mode/file"
                check "$1" "$2" "cat d$mode/none"; check "$1" "$2" "touch d$mode/new"
                check "$1" "$2" "mkdir d$mode/made"; check "$1" "$2" "mv d$mode/file d$mode/moved"
                check "$1" "$2" "ln -s x d$mode/link"; check "$1" "$2" "rmdir d$mode/sub"
                check "$1" "$2" "rm -f d$mode/moved"; check "$1" "$2" "touch -d 2001-02-03 f$mode"
                check "$1" "$2" "chmod 600 f$mode; stat -c %a f$mode"
                check "$1" "$2" "chmod 700 d$mode; ls d$mode; cat d$mode/file"
                check "$1" "$2" "chmod 600 d$mode; cat d$mode/file; chmod 700 d$mode; cat d$mode/file"
            done
            check "$1" "$2" "chown 0 f0600"
            for change in "echo more >> f0700" "truncate -s 1 f0700" "chown 65534:65534 f0700" ": > f0700"; do
                check "$1" "$2" "chmod 6755 f0700; $change; stat -c %a f0700"
            done
            """

        @Test("another user than root meets the modes of scratch files as on a disk")
        func modes() throws {
            let home = CommandLineHome(
                of: try OtherUsers().add("somebody", id: 65_534, umask: "022"))
            try home.ok("mkdir disk; recordfs mount; mkdir -p RecordFS/private/Kitchen/Recipe")
            let script = try home.file("compare.sh", Self.script)
            let result = try home.shell(
                "bash \(script) ~/RecordFS/private/Kitchen/Recipe ~/disk")
            #expect(result.status == 0 && result.errors == "", "\(result)")
            #expect(result.output == "", "\(result)")
            try home.ok("recordfs unmount")
        }

        @Test("access says what a record and a directory allow")
        func access() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let file = "\(folder)/a.json"
            try SystemCall.writeFile(file, "{}")
            let code = { (path: String, mask: Int32) in Glibc.access(path, mask) == 0 ? 0 : errno }
            #expect(code(file, R_OK | W_OK) == 0)
            #expect(code(file, X_OK) == EACCES)
            #expect(code(file, F_OK) == 0)
            #expect(code("\(folder)/none.json", F_OK) == ENOENT)
            #expect(code(folder, R_OK | W_OK | X_OK) == 0)
            #expect(code("\(mounted.mountPoint)/README.md", R_OK) == 0)
            #expect(code("\(mounted.mountPoint)/README.md", W_OK) == EACCES)
            #expect(code("\(mounted.mountPoint)/.recordfs/status.json", W_OK) == EACCES)
            let readOnly = try MountedStore(options: ["--read-only"])
            #expect(code("\(readOnly.mountPoint)/private", W_OK) == EROFS)
            #expect(code("\(readOnly.mountPoint)/private", R_OK | X_OK) == 0)
        }
    }
}
