import TestSupport
import Testing

extension MountTests {
    /// Real processes: three users in three time zones, whose clocks are an hour apart.
    @Suite struct ShiftedClockTests {
        private let account: Account
        private let owner: CommandLineHome
        private let ahead: CommandLineHome
        private let behind: CommandLineHome

        private let own = "RecordFS/private/Kitchen"
        private let shared = "RecordFS/shared/admin@localhost/Kitchen"

        init() async throws {
            account = try await Account()
            owner = try Self.machine(account, "admin@localhost", account.password, "UTC", 0)
            for user in ["ahead", "behind"] {
                try await account.addUser("\(user)@localhost", password: "a password of \(user)")
            }
            ahead = try Self.machine(
                account, "ahead@localhost", "a password of ahead", "Pacific/Auckland", 3600)
            behind = try Self.machine(
                account, "behind@localhost", "a password of behind", "America/New_York", -3600)
            try owner.ok(
                """
                mkdir -p \(own)/Note && cd \(own)/Note
                echo '{"a": 0, "b": 0, "c": 0}' > n.json
                """)
            let link = try owner.ok(
                """
                recordfs share create private/Kitchen --write \
                    --with ahead@localhost --with behind@localhost
                """)
            for home in [ahead, behind] { try home.ok("recordfs accept '\(link)'") }
        }

        private static func machine(
            _ account: Account, _ user: String, _ password: String, _ zone: String, _ shift: Int
        ) throws -> CommandLineHome {
            let home = try CommandLineHome()
            let root = DataSet.repository
            try account.signIn(home, as: user, password: password)
            try home.ok(
                """
                clang -shared -fPIC -O1 -o shift.so \(root)/scripts/support/shifted-clock.c
                TZ=\(zone) SHIFT=\(shift) LD_PRELOAD=$PWD/shift.so recordfs mount
                """)
            return home
        }

        private func edit(_ home: CommandLineHome, _ zone: String, _ change: String) throws {
            try home.ok("cd \(zone)/Note && jq -c '\(change)' n.json > n.tmp && mv n.tmp n.json")
        }

        private func expectEqual(_ text: String) throws {
            for (home, zone) in [(owner, own), (ahead, shared), (behind, shared)] {
                #expect(try home.eventually("jq -c '[.a, .b, .c]' \(zone)/Note/n.json", text))
            }
        }

        @Test(
            "who edits after he has seen an edit wins, whatever the clocks say, and trees are equal"
        )
        func inTurn() throws {
            try edit(ahead, shared, ".a = 1")
            try expectEqual("[1,0,0]")
            // By his clock this was two hours before.
            try edit(behind, shared, ".a = 2")
            try expectEqual("[2,0,0]")
            try edit(owner, own, ".a = 3")
            try expectEqual("[3,0,0]")
            for home in [owner, ahead, behind] {
                #expect(try home.ok("recordfs conflicts list") == "")
            }
            // The server's times, which all have.
            let times = try [ahead, behind].map { home in
                try home.ok(
                    """
                    jq -r '.created, .modified' \
                        RecordFS/.recordfs/meta/shared/admin@localhost/Kitchen/Note/n.json
                    stat -c %y \(shared)/Note/n.json
                    """)
            }
            #expect(Set(times).count == 1, "\(times)")
            try end()
        }

        @Test(
            "of edits that know nothing of each other each field is kept; one field has one winner")
        func atOnce() throws {
            let all = [(owner, own, "b"), (ahead, shared, "a"), (behind, shared, "c")]
            for (home, _, _) in all { try home.ok("recordfs pause") }
            for (home, zone, field) in all { try edit(home, zone, ".\(field) = 5") }
            for (home, _, _) in all { try home.ok("recordfs resume") }
            try expectEqual("[5,5,5]")

            for (home, _, _) in all { try home.ok("recordfs pause") }
            for ((home, zone, _), value) in zip(all, 6...) { try edit(home, zone, ".a = \(value)") }
            for (home, _, _) in all { try home.ok("recordfs resume && recordfs sync") }
            for (home, _, _) in all.reversed() { try home.ok("recordfs sync") }
            let winner = try owner.ok("jq -c '[.a, .b, .c]' \(own)/Note/n.json")
            try expectEqual(winner)
            // What lost is kept by who has seen both.
            let kept = try all.map {
                try $0.0.ok("recordfs conflicts list --json | wc -l")
            }
            #expect(kept.compactMap(Int.init).reduce(0, +) >= 2, "\(kept)")
            try end()
        }

        @Test("whose clock is off by more than a minute is told so, by how much and which way")
        func told() throws {
            func warning(_ home: CommandLineHome) throws -> String {
                let lines = try home.ok("recordfs sync; recordfs status").split(separator: "\n")
                let line = lines.first { $0.contains("clock of this machine") }
                return line.map { $0.split(separator: ". ")[0] }.map(String.init) ?? ""
            }
            func expect(_ home: CommandLineHome, _ words: String) throws {
                let said = try warning(home).drop { $0 == " " }
                #expect(
                    said
                        == (words.isEmpty
                            ? "" : "The clock of this machine is \(words) the server's"))
            }
            func shift(_ seconds: Int) throws {
                try ahead.ok(
                    "recordfs unmount; SHIFT=\(seconds) LD_PRELOAD=$PWD/shift.so recordfs mount")
            }
            try expect(owner, "")
            try expect(ahead, "1 hour ahead of")
            try expect(behind, "1 hour behind")
            // Within a minute nothing is wrong. The server says whole seconds.
            try shift(50)
            try expect(ahead, "")
            try shift(80)
            try expect(ahead, "1 minute ahead of")
            try end()
        }

        private func end() throws {
            for home in [owner, ahead, behind] { try home.ok("recordfs unmount && recordfs fsck") }
        }
    }
}
