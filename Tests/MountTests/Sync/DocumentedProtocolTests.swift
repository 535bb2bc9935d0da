import TestSupport
import Testing

extension MountTests {
    /// Real processes: a server that takes and answers only what Apple's reference has, and takes each
    /// web auth token once; the daemons of two machines with `--profile cloudkit`.
    @Suite struct DocumentedProtocolTests {
        private let account: Account
        private static let note = "RecordFS/private/Box/Note"

        init() async throws {
            account = try await Account(
                server: ["--set", "strict=true"], login: ["--profile", "cloudkit"])
        }

        @Test("what two machines make, edit, attach and remove, both have in the end")
        func travels() throws {
            let (a, b) = (try account.machine(), try account.machine())
            let note = Self.note
            try a.ok(
                """
                mkdir -p \(note) && cd \(note)
                for n in 1 2 3 4 5; do echo "{\\"title\\": \\"one\\", \\"n\\": $n}" > r$n.json; done
                head -c 700000 /dev/urandom > r1@film
                printf small > r2@pages.0; printf more > r2@pages.1
                recordfs sync
                """)
            #expect(try b.eventually("ls \(note) | wc -l", "8"))
            try b.ok("cmp \(note)/r1@film \(a.folder)/\(note)/r1@film")
            try b.ok(
                """
                cd \(note) && sed -i s/one/two/ r2.json r3.json && rm r4.json
                printf third > r2@pages.2 && mv r1.json moved.json
                recordfs sync
                """)
            try expectEqual(a, b)
            #expect(try a.shell("cat \(note)/r2@pages.*").output == "smallmorethird")
            // Both at once, of different fields and of the same.
            for (machine, edit) in [(a, "s/two/mine/"), (b, "s/two/theirs/; s/3/33/")] {
                try machine.ok("recordfs pause && sed -i '\(edit)' \(note)/r3.json")
            }
            for machine in [a, b, a, b] { try machine.ok("recordfs resume && recordfs sync") }
            try expectEqual(a, b)
            #expect(try a.shell("jq .n \(note)/r3.json").output == "33\n")
            #expect(
                try b.shell("cat RecordFS/.recordfs/conflicts/private/Box/Note/r3/*").output
                    .contains("theirs")
                    || a.shell("cat RecordFS/.recordfs/conflicts/private/Box/Note/r3/*").output
                        .contains("theirs")
            )
            for machine in [a, b] { try machine.ok("recordfs unmount && recordfs fsck") }
        }

        @Test("nested JSON stays here with the reason, and the rest goes up")
        func nested() throws {
            let (a, b) = (try account.machine(), try account.machine())
            try a.ok(
                """
                mkdir -p \(Self.note) && cd \(Self.note)
                echo '{"v": {"a": 1}}' > x.json; echo '{"w": 1}' > y.json
                """)
            let refused = try a.shell("recordfs sync")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("Field v is nested JSON"), "\(refused)")
            #expect(try b.eventually("ls \(Self.note)", "y.json"))
            try a.ok("echo '{\"v\": \"{a}\"}' > \(Self.note)/x.json; recordfs sync")
            try expectEqual(a, b)
            for machine in [a, b] { try machine.ok("recordfs unmount") }
        }

        @Test(
            "the profile is shown, and a store keeps it; a server that is strict refuses the other")
        func shown() throws {
            let a = try account.machine()
            let profile =
                "jq -r 'select(.server == \"http://127.0.0.1:\(account.port)\") | .profile'"
            #expect(try a.shell("recordfs accounts --json | \(profile)").output == "cloudkit\n")
            #expect(try a.shell("recordfs accounts").output.contains("cloudkit"))
            #expect(
                try a.shell("recordfs sync --json | jq -r .profile").output == "cloudkit\n")
            #expect(try a.shell("recordfs status").output.contains("cloudkit"))
            // Again, as the same and as another one.
            try account.signIn(a)
            try a.ok("recordfs sync")
            let other = try account.signInResult(
                a, password: account.password, login: ["--profile", "recordfs"])
            #expect(other.status == 1)
            #expect(other.errors.contains("profile cloudkit"), "\(other)")
            let b = try CommandLineHome()
            let own = try account.signInResult(b, password: account.password, login: [])
            #expect(own.status == 0, "\(own)")
            try b.ok("recordfs mount && mkdir -p \(Self.note) && echo '{}' > \(Self.note)/x.json")
            let refused = try b.shell("recordfs sync")
            #expect(refused.status == 1, "\(refused)")
            for machine in [a, b] { try machine.ok("recordfs unmount") }
        }

        @Test("many requests at a time are one at a time: nobody is signed out")
        func oneAtATime() throws {
            let (a, b) = (try account.machine(), try account.machine())
            try a.ok(
                """
                for zone in 1 2 3 4 5 6; do
                    mkdir -p RecordFS/private/Z$zone/Note
                    for n in 1 2 3 4 5 6 7 8; do
                        echo "{\\"n\\": $n}" > RecordFS/private/Z$zone/Note/r$n.json
                        echo $zone $n > RecordFS/private/Z$zone/Note/r$n@file
                    done &
                done
                for n in 1 2 3 4 5 6; do recordfs sync & done
                wait; recordfs sync
                """)
            try b.ok("for n in 1 2 3 4 5 6; do recordfs sync & done; wait; recordfs sync")
            try expectEqual(a, b)
            for machine in [a, b] {
                #expect(
                    try machine.shell("recordfs sync --json | jq .needsSignIn").output == "false\n")
                // The token on the disk is the good one.
                try machine.ok("recordfs unmount && recordfs mount && recordfs sync")
                try machine.ok("recordfs unmount && recordfs fsck")
            }
        }

        private func expectEqual(_ a: CommandLineHome, _ b: CommandLineHome) throws {
            // How a record's file is written, a server without extensions does not keep.
            let tree = """
                tree() (
                    cd $1/RecordFS/private && find . -type f | LC_ALL=C sort | while read -r file; do
                        echo $file
                        case $file in
                            *.json) jq -cS . $file ;;
                            *) sha256sum < $file ;;
                        esac
                    done
                )
                """
            #expect(
                try b.eventually(
                    "\(tree)\ndiff <(tree .) <(tree \(a.folder)) 2>&1; echo $?", "0"))
        }
    }
}
