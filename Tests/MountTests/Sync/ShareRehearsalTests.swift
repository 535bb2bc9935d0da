import TestSupport
import Testing

extension MountTests {
    /// Real processes: what cannot be undone is told before, and nothing is changed by telling it. Alice
    /// shares her kitchen with Bob, who may change it, with Carol, who has not come, and by a link for one.
    @Suite struct ShareRehearsalTests: TestsOfTwoUsers {
        let users: TwoUsers
        private let link: String
        private let once: String
        private let place = "shared/admin@localhost/Kitchen"

        init() async throws {
            users = try await TwoUsers()
            try users.alice.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe
                cd RecordFS/private/Kitchen/Recipe
                for n in 1 2 3; do echo '{"n": 1}' > soup$n.json; done
                head -c 100000 /dev/urandom > soup1@photo.jpg
                """)
            link = try users.alice.ok(
                """
                recordfs share create private/Kitchen --with bob@localhost --with carol@localhost --write
                """)
            once = try users.alice.ok("recordfs share link private/Kitchen")
            try bob.ok("recordfs accept '\(link)'")
            for home in [alice, bob] { try home.ok("recordfs sync") }
        }

        /// All that a command could have changed: trees, versions, what waits, and the share at the server.
        private func everything() throws -> String {
            let here = """
                find RecordFS -printf '%p %m %s %T@\\n' | sort; recordfs events; recordfs shares --json
                ls -R RecordFS/.recordfs/trash; recordfs status --json | jq -c .zones
                """
            return try alice.ok("recordfs share show --json private/Kitchen; \(here)")
                + bob.ok(here)
        }

        private func told(_ home: CommandLineHome, _ command: String, _ show: String) throws
            -> String
        {
            try home.ok("recordfs \(command) --dry-run --json | jq -c '\(show)'")
        }

        @Test("the end of a share is told with all who lose it and what stays, and nothing changes")
        func stop() async throws {
            let before = try everything()
            let words = try alice.ok("recordfs share stop --dry-run private/Kitchen")
            #expect(
                words.hasPrefix(
                    """
                    private/Kitchen would no longer be shared. 2 people would lose access:
                      bob@localhost, who may read and write
                      carol@localhost, who is invited
                      anybody with 1 link for one person: \(once)
                    """), "\(words)")
            let bytes = try alice.ok("cat RecordFS/private/Kitchen/Recipe/* | wc -c")
            #expect(words.contains("These stay here: 3 records, 97.8 KiB."), "\(words)")
            let loses =
                "[.dryRun, .path, [.loses[].address], .linkCloses, .linksEnd, .goes.records]"
            #expect(
                try told(alice, "share stop private/Kitchen", loses)
                    == #"[true,"private/Kitchen",["bob@localhost","carol@localhost"],false,["\#(once)"],0]"#
            )
            #expect(
                try told(alice, "share stop private/Kitchen", ".stays")
                    == #"{"records":3,"size":\#(bytes),"unsent":0,"drafts":0}"#)
            #expect(try everything() == before)
            // What was told is what happens, and is told again.
            let done = try alice.ok(
                "recordfs share stop --json private/Kitchen | jq -c '[.dryRun, [.loses[].address]]'"
            )
            #expect(done == #"[false,["bob@localhost","carol@localhost"]]"#)
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            #expect(try alice.ok("ls RecordFS/private/Kitchen/Recipe | wc -l") == "4")
            try end()
        }

        @Test("whom an edit of the share takes it from is told, and nothing changes")
        func edits() async throws {
            let before = try everything()
            let edits = [
                ("remove private/Kitchen bob@localhost", "[bob@localhost] false"),
                ("remove private/Kitchen '\(once)'", "[] false \(once)"),
                ("permit private/Kitchen bob@localhost none", "[bob@localhost] false"),
                ("permit private/Kitchen bob@localhost read-only", "[] false"),
                ("permit private/Kitchen everyone none", "[] false"),
                // Those who have not come can come by the link then.
                (
                    "permit private/Kitchen everyone read-only",
                    "[carol@localhost] false \(once)"
                ),
            ]
            let show =
                #"["[\([.loses[].address] | join(","))]", .linkCloses, .linksEnd[]] | join(" ")"#
            for (edit, expected) in edits {
                let said = try alice.ok("recordfs share \(edit) -n --json | jq -r '\(show)'")
                #expect(said == expected, "\(edit)")
            }
            let words = try alice.ok("recordfs share remove -n private/Kitchen bob@localhost")
            #expect(
                words.hasPrefix("private/Kitchen stays shared. 1 person would lose access:\n  bob@")
            )
            let none = "recordfs share permit -n private/Kitchen bob@localhost read-only"
            #expect(try alice.ok(none) == "private/Kitchen stays shared. Nobody would lose access.")
            let ends = try alice.ok("recordfs share remove -n private/Kitchen '\(once)'")
            #expect(
                ends.contains(
                    "would lose it, but:\n  anybody with 1 link for one person: \(once)"))
            #expect(try everything() == before)
            let opened = try alice.shell(
                "recordfs share permit private/Kitchen everyone read-only")
            #expect(opened.status == 0)
            #expect(opened.errors == "carol@localhost lost access, and is not invited.\n")
            let closing = "permit private/Kitchen everyone none"
            let said = try alice.ok("recordfs share \(closing) -n --json | jq -r '\(show)'")
            #expect(said == "[bob@localhost] true")
            #expect(
                try alice.ok("recordfs share \(closing) -n").contains(
                    "anybody else with the link"))
            #expect(try bob.ok("ls \("RecordFS/" + place)/Recipe | wc -l") == "4")
            try alice.ok("recordfs share \(closing)")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            try end()
        }

        @Test("who leaves is told what goes from the account, and which edits go into the trash")
        func leave() async throws {
            let recipes = "RecordFS/\(place)/Recipe"
            let goes = "[.goes.records, .goes.size, .goes.unsent, .goes.drafts, .stays.records]"
            let texts = try bob.ok("cat \(recipes)/*.json | wc -c")
            #expect(try told(bob, "leave \(place)", goes) == "[3,\(texts),0,0,0]")
            // A large field counts when its bytes are here.
            let all = try bob.ok("cat \(recipes)/* | wc -c")
            #expect(try told(bob, "leave \(place)", goes) == "[3,\(all),0,0,0]")
            try bob.ok(
                """
                recordfs pause; echo '{"n": 5}' > \(recipes)/soup1.json; rm \(recipes)/soup2.json; sync \(recipes)
                echo '{"n": 6}' > \(recipes)/mine.json
                echo 'no record' > \(recipes)/soup3.json
                """)
            let before = try everything()
            #expect(
                try told(bob, "leave \(place)", "[.goes.records, .goes.unsent, .goes.drafts]")
                    == "[3,2,1]")
            let words = try bob.ok("recordfs leave --dry-run \(place)")
            for line in [
                "You would lose access to \(place).\nThis account would lose: 3 records, ",
                "\n2 records with unsent edits: these edits move to the trash.",
                "\n1 text that could not be saved:", "<admin@localhost> keeps all records",
            ] { #expect(words.contains(line), "\(words)") }
            #expect(try everything() == before)
            // The exchange is paused still.
            try bob.ok("recordfs leave \(place)")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            #expect(try bob.ok("recordfs status").contains(": paused"))
            try bob.ok("recordfs resume")
            let trash = "ls RecordFS/.recordfs/trash/\(place)/Recipe"
            let kept = try bob.ok(trash)
            #expect(kept == "mine.json\nsoup1.json\nsoup3.json")
            try end()
        }

        @Test("of a record that is shared, what hangs on it is counted and nothing else")
        func record() async throws {
            try alice.ok(
                """
                mkdir -p RecordFS/private/Garden/Plant; cd RecordFS/private/Garden/Plant
                echo '{"n": 1}' > rose.json; echo '{"n": 1}' > tulip.json
                echo '{"n": 1, "$parent": "rose"}' > leaf.json
                echo '{"n": 1, "$parent": "leaf"}' > vein.json
                recordfs share create rose.json --with bob@localhost
                """)
            let stays = try told(alice, "share stop private/Garden/Plant/rose", ".stays.records")
            #expect(stays == "3")
            let alone = try alice.ok(
                """
                echo '{"n": 1}' > RecordFS/private/Garden/Plant/moss.json
                recordfs share create private/Garden/Plant/moss > /dev/null
                recordfs share stop -n private/Garden/Plant/moss
                """)
            let path = "private/Garden/Plant/moss"
            let words =
                "\(path) would no longer be shared. Nobody would lose access.\nThese stay here: 1 record"
            #expect(alone.hasPrefix(words), "\(alone)")
            try end()
        }

        @Test("each command of shares has JSON, and an exit status that says what was wrong")
        func forPrograms() async throws {
            let asked = [
                ("share show private/Kitchen --json", ".title", "Kitchen"),
                (
                    "share url private/Kitchen --json", ".path + \" \" + .url",
                    "private/Kitchen \(link)"
                ),
                (
                    "share add private/Kitchen dave@localhost --json",
                    "[.participants[].address] | join(\" \")",
                    "bob@localhost carol@localhost dave@localhost"
                ),
                (
                    "share permit private/Kitchen bob@localhost read-only --json",
                    ".participants[0].permission", "READ_ONLY"
                ),
                (
                    "share remove private/Kitchen dave@localhost --json",
                    "[.participants[].address] | join(\" \")", "bob@localhost carol@localhost"
                ),
                ("shares --json", ".path", "private/Kitchen"),
                ("can edit private/Kitchen/Recipe/soup1 --json", ".can", "true"),
            ]
            for (command, show, expected) in asked {
                #expect(
                    try alice.ok("recordfs \(command) | jq -r '\(show)'") == expected, "\(command)")
            }
            let missing = try alice.shell(
                "recordfs can edit shared/nobody/Kitchen/Recipe/none --json")
            #expect(missing.output.contains("\"can\": false") && missing.status == 1, "\(missing)")
            #expect(try bob.ok("recordfs accept --json '\(link)' | jq -r .path") == place)
            #expect(
                try bob.ok("recordfs accept --request --json '\(link)' | jq -c .")
                    == #"{"requested":true}"#)
            let left = try bob.ok(
                "recordfs leave --json \(place) | jq -c '[.dryRun, .path, .owner.address]'")
            #expect(left == #"[false,"\#(place)","admin@localhost"]"#)
            #expect(
                try alice.ok("recordfs share create --json private/New 2>&1 || echo $?").hasSuffix(
                    "3"))
            for (command, status) in Self.failures {
                let result = try alice.shell("recordfs \(command)")
                #expect(result.status == status && result.output == "", "\(command): \(result)")
            }
            try end()
        }

        /// 1 for what is refused, 2 for wrong usage, 3 for what is not there.
        private static let failures: [(String, Int32)] = [
            ("share create private/Kitchen", 1), ("share create private", 1),
            ("share show private/None", 3), ("share url private/Kitchen/Recipe/soup1", 3),
            ("share add private/Kitchen nonsense", 1), ("share add private/Kitchen", 2),
            ("share remove private/Kitchen nobody@localhost", 3),
            ("share remove -n private/Kitchen nobody@localhost", 3),
            ("share remove -n private/Kitchen admin@localhost", 1),
            ("share permit -n private/Kitchen nobody@localhost none", 3),
            ("share permit private/Kitchen everyone sometimes", 2),
            ("share stop private/Kitchen/Recipe/soup1", 3),
            ("share stop -n private/Kitchen/Recipe/soup1", 3),
            ("share stop -n shared/somebody/Kitchen", 1), ("leave private/Kitchen", 1),
            ("leave -n shared/somebody/Kitchen", 3), ("accept nonsense/link", 1),
            ("accept unknown", 3),
            ("share create --json --qr private/Kitchen", 2),
        ]
    }
}
