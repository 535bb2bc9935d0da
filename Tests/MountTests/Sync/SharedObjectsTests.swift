import TestSupport
import Testing

extension MountTests {
    /// Objects of an attached model are shared with all that relationships connect with them.
    @Suite struct SharedObjectsTests: TestsOfTwoUsers {
        let users: TwoUsers

        private static let zone = "private/com.apple.coredata.cloudkit.zone"
        private static let shares = "private/com.apple.coredata.cloudkit.share.*"

        init() async throws {
            users = try await TwoUsers()
            for home in [alice, bob] { try Self.attach(home) }
            try alice.ok(
                """
                mkdir -p RecordFS/\(Self.zone) && cd RecordFS/\(Self.zone)
                mkdir Author Book Card Note Tag
                echo '{"name": "Ada"}' > Author/A1.json; echo '{"name": "Eve"}' > Author/A9.json
                echo '{"name": "red"}' > Tag/T1.json
                echo '{"title": "One", "author": "A1", "tags": ["T1"]}' > Book/B1.json
                head -c 100000 /dev/urandom > ~/cover.jpg; cp ~/cover.jpg Book/B1@CD_cover
                echo '{"title": "Two", "author": "A1"}' > Book/B2.json
                echo '{"code": "c", "book": "B2"}' > Card/C1.json
                echo '{"text": "mine", "book": "B1"}' > Note/N1.json
                echo '{"title": "Nine", "author": "A9"}' > Book/B9.json
                recordfs sync
                """)
        }

        private static func attach(_ home: CommandLineHome) throws {
            try home.ok(
                """
                recordfs unmount
                cat > library.json <<'END'
                {"entities": {
                    "Author": {"attributes": {"name": {"type": "String"}},
                               "relationships": {"books": {"to": "Book", "many": true,
                                                           "inverse": "author",
                                                           "onDelete": "Cascade"}}},
                    "Book": {"attributes": {"title": {"type": "String"},
                                            "cover": {"type": "Binary"}},
                             "relationships": {"author": {"to": "Author", "inverse": "books"},
                                               "tags": {"to": "Tag", "many": true,
                                                        "inverse": "books"},
                                               "card": {"to": "Card", "inverse": "book",
                                                        "onDelete": "Cascade"},
                                               "notes": {"to": "Note", "many": true,
                                                         "inverse": "book"}}},
                    "Card": {"attributes": {"code": {"type": "String"}},
                             "relationships": {"book": {"to": "Book", "inverse": "card"}}},
                    "Note": {"attributes": {"text": {"type": "String"}},
                             "relationships": {"book": {"to": "Book", "inverse": "notes"}},
                             "userInfo": {"recordfs.private": "true"}},
                    "Tag": {"attributes": {"name": {"type": "String"}},
                            "relationships": {"books": {"to": "Book", "many": true,
                                                        "inverse": "tags"}}}}}
                END
                recordfs model attach library.json
                recordfs mount
                """)
        }

        private static let files = "find . -name '*.json' -not -name '.*' | sort"
        private let before = """
            ./Author/A1.json
            ./Author/A9.json
            ./Book/B1.json
            ./Book/B2.json
            ./Book/B9.json
            ./Card/C1.json
            ./Note/N1.json
            ./Tag/T1.json
            """
        private let moved =
            "./Author/A1.json\n./Book/B1.json\n./Book/B2.json\n./Card/C1.json\n./Tag/T1.json"
        private let stayed = "./Author/A9.json\n./Book/B9.json\n./Note/N1.json"

        /// What the relationships of the shared objects are, in a directory of them.
        private let graph = """
            jq -c '[.author, .tags, .card]' Book/B1.json Book/B2.json
            jq -c .books Author/A1.json Tag/T1.json; jq -c .book Card/C1.json
            """
        private let wholeGraph = """
            ["A1",["T1"],null]
            ["A1",null,"C1"]
            ["B1","B2"]
            ["B1"]
            "B2"
            """

        @Test("an object is shared with its graph: keys, links and large values, and nothing else")
        func graphMoves() async throws {
            let second = try account.machine()
            try Self.attach(second)
            #expect(
                try second.eventually(
                    "cd RecordFS/\(Self.zone) && \(Self.files) | grep -v CDMR", before))
            let plan = try alice.ok("recordfs share create \(Self.zone)/Book/B1 --dry-run")
            let own = "private/com.apple.coredata.cloudkit.share.UUID"
            for name in ["Book/B1", "Author/A1", "Tag/T1", "Book/B2", "Card/C1"] {
                #expect(
                    plan.contains("\(Self.zone)/\(name).json -> \(own)/\(name).json\n"), "\(plan)")
            }
            #expect(plan.contains("\(Self.zone)/CDMR/"), "\(plan)")
            #expect(
                plan.hasSuffix(
                    "\(Self.zone)/Book/B1.json loses notes: \(Self.zone)/Note/N1.json stays"),
                "\(plan)")
            #expect(plan.split(separator: "\n").count == 7, "\(plan)")
            #expect(try alice.ok("ls RecordFS/private") == "com.apple.coredata.cloudkit.zone")

            let share = try alice.ok(
                """
                recordfs share create \(Self.zone)/Book/B1 --with bob@localhost --write --json
                """)
            try SystemCall.writeFile(alice.folder + "/share.json", share)
            #expect(try alice.ok("jq -r .title share.json") == "B1")
            for home in [alice, second] {
                #expect(
                    try home.eventually(
                        "cd RecordFS/\(Self.shares) && \(Self.files) | grep -v CDMR; \(graph)",
                        moved + "\n" + wholeGraph))
                #expect(
                    try home.eventually(
                        "cd RecordFS/\(Self.zone) && \(Self.files); jq -r .book Note/N1.json",
                        stayed + "\nB1"))
                try home.ok(
                    "cmp RecordFS/\(Self.shares)/Book/B1@CD_cover \(alice.folder)/cover.jpg")
            }
            let place = try bob.ok("recordfs accept '\(try alice.ok("jq -r .url share.json"))'")
            #expect(
                place.hasPrefix("shared/admin@localhost/com.apple.coredata.cloudkit.share."))
            #expect(
                try bob.ok(
                    "cd RecordFS/\(place) && \(Self.files) | grep -v CDMR; \(graph); ls CDMR | wc -l"
                )
                    == moved + "\n" + wholeGraph + "\n1")
            try bob.ok("cmp RecordFS/\(place)/Book/B1@CD_cover \(alice.folder)/cover.jpg")

            // What is made there belongs to it.
            try bob.ok(
                """
                cd RecordFS/\(place) && echo '{"title": "Three", "author": "A1", "tags": ["T1"]}' \
                    > Book/B3.json && recordfs sync
                """)
            for home in [alice, second] {
                #expect(
                    try home.eventually(
                        "cd RecordFS/\(Self.shares) && jq -c .books Author/A1.json Tag/T1.json",
                        #"["B1","B2","B3"]"# + "\n" + #"["B1","B3"]"#))
            }
            #expect(try alice.ok("recordfs status --json | jq '[.zones[].pending] | add'") == "0")
            try end(second)
        }

        @Test(
            "several objects go into one zone, and others into an existing share, with their graphs"
        )
        func several() async throws {
            let link = try alice.ok(
                """
                recordfs share create \(Self.zone)/Card/C1 \(Self.zone)/Tag/T1 --with bob@localhost \
                    --zone-name Library --title Books
                """)
            #expect(
                try alice.ok(
                    "cd RecordFS/private/Library && \(Self.files) | grep -v CDMR; \(graph)")
                    == moved + "\n" + wholeGraph)
            let plan = try alice.ok(
                "recordfs share create \(Self.zone)/Author/A9 --to private/Library --dry-run --json"
            )
            let lines = ["Author/A9", "Book/B9"].map { name in
                #"{"path":"\#(Self.zone)/\#(name).json","to":"private/Library/\#(name).json"}"#
            }
            #expect(plan == lines.joined(separator: "\n"))
            // Also without the server, like a save.
            try alice.ok("recordfs pause")
            let other = try alice.ok(
                "recordfs share create \(Self.zone)/Author/A9 --to private/Library")
            #expect(other == link)
            try alice.ok("recordfs resume")
            let place = try bob.ok("recordfs accept '\(link)'")
            #expect(
                try bob.eventually(
                    "cd RecordFS/\(place) && ls Author && jq -r .author Book/B9.json",
                    "A1.json\nA9.json\nA9"))
            #expect(try alice.ok("cd RecordFS/\(Self.zone) && \(Self.files)") == "./Note/N1.json")
            // The two graphs may be connected now, and go back as one.
            try alice.ok(
                """
                cd RecordFS/private/Library && jq -c '.tags = ["T1"]' Book/B9.json > Book/b.tmp &&
                    mv Book/b.tmp Book/B9.json
                recordfs share stop private/Library
                recordfs mv private/Library/Book/B9 \(Self.zone)/Book && recordfs sync
                """)
            #expect(
                try alice.ok("cd RecordFS/\(Self.zone) && \(Self.files) | grep -v CDMR") == before)
            #expect(try alice.ok("find RecordFS/private/Library -name '*.json'") == "")
            try end()
        }

        private func refused(_ command: String, _ words: String) throws {
            let result = try alice.shell("cd RecordFS/\(Self.zone) && \(command); cat */.error")
            #expect(
                (result.output + result.errors).contains(words), "\(command): \(result)")
            try alice.ok(
                "recordfs draft list --json | jq -r .path | while read p; do recordfs draft discard $p; done"
            )
        }

        @Test(
            "relationships end at the border of a zone: what would cross it is refused with names")
        func border() async throws {
            try alice.ok(
                "recordfs share create \(Self.zone)/Book/B1 --zone-name Library --with bob@localhost"
            )
            try refused(
                #"echo '{"title": "x", "author": "A1"}' > Book/B10.json"#,
                #""author" names A1, which is private/Library/Author/A1.json"#)
            try refused(
                #"echo '{"name": "Eve", "books": ["B9", "B2"]}' > Author/A9.json"#,
                #""books" names B2, which is private/Library/Book/B2.json"#)
            try refused(
                #"echo '{"name": "x", "books": ["B1"]}' > Tag/T2.json"#,
                #""books" names B1, which is private/Library/Book/B1.json"#)
            try refused("mv Book/B9.json ../Library/Book/", "Operation not permitted")
            try refused(
                """
                mkdir ../Library/Note; echo '{"text": "all see it"}' > ../Library/Note/N2.json
                cat ../Library/Note/.error
                """,
                "Note stays with you")
            #expect(
                try alice.ok(
                    """
                    cd RecordFS/\(Self.zone) && echo '{"text": "two", "book": "B2"}' > Note/N3.json
                    ls Book Author && jq -c .books Author/A9.json
                    recordfs get --meta \(Self.zone)/Note/N3 | jq -c .problems
                    """) == """
                        Author:
                        A9.json

                        Book:
                        B9.json
                        ["B9"]
                        null
                        """)
            // A whole copy is a graph of its own: the links are there before cp comes to them.
            try alice.ok(
                "cp -r RecordFS/private/Library RecordFS/private/Copy 2> /dev/null; recordfs sync")
            #expect(
                try alice.ok("cd RecordFS/private/Copy && \(Self.files) | grep -v CDMR; \(graph)")
                    == moved + "\n" + wholeGraph)
            try refused(
                "recordfs share create \(Self.zone)/Note/N1", "recordfs.private for Note")
            try refused(
                "recordfs share create \(Self.zone)/Book/B9 private/Library/Book/B1",
                "in another zone")
            try refused(
                "recordfs share create private/Library/Book/B1", "shared already, with the zone")
            try refused("recordfs share create \(Self.zone)", "stay with you")
            try end()
        }

        @Test(
            "a daemon that is killed in the middle leaves the graph whole, in one of the two places",
            arguments: [
                "zoneShared:1", "saveOutboxWritten:3", "finalDeleteTrashed:2",
                "finalDeleteCommitted:1",
            ])
        func killed(point: String) async throws {
            let second = try account.machine()
            try Self.attach(second)
            try alice.ok("recordfs unmount && RECORDFS_FAILPOINT=\(point) recordfs mount")
            let killed = try alice.shell(
                "recordfs share create \(Self.zone)/Book/B1 --zone-name Library --with bob@localhost"
            )
            #expect(killed.status != 0, "the daemon was killed")
            try alice.ok("recordfs mount && recordfs sync && recordfs sync")
            let isMoved = point.contains("Committed")
            let zones = "com.apple.coredata.cloudkit.zone"
            for home in [alice, second] {
                #expect(
                    try home.eventually(
                        "ls RecordFS/private", isMoved ? "Library\n\(zones)" : zones))
                #expect(
                    try home.eventually(
                        "cd RecordFS/\(Self.zone) && \(Self.files) | grep -v CDMR",
                        isMoved ? stayed : before))
                #expect(
                    try home.eventually(
                        """
                        cd RecordFS/\(isMoved ? "private/Library" : Self.zone) && \(graph)
                        ls CDMR | wc -l; cmp Book/B1@CD_cover \(alice.folder)/cover.jpg
                        """, wholeGraph + "\n1"))
                #expect(try home.ok("recordfs conflicts list") == "")
            }
            #expect(
                try bob.eventually(
                    "recordfs shares | { grep invites || true; } | wc -l", isMoved ? "1" : "0"),
                "nobody is invited into an empty zone")
            try end(second)
        }

        @Test("types that stay private are a setting of the store")
        func privateTypes() async throws {
            try alice.ok("recordfs unmount")
            #expect(try alice.ok("recordfs model private") == "Note")
            let unknown = try alice.shell("recordfs model private Nothing")
            #expect(unknown.status != 0 && unknown.errors.contains("no entity Nothing"))
            // A model that says nothing of it changes nothing.
            #expect(
                try alice.ok(
                    """
                    sed 's/"recordfs.private": "true"//' library.json > other.json
                    recordfs model private Card; recordfs model attach other.json
                    recordfs model private; recordfs model private Card --off
                    """) == "Card\nNote")
            #expect(
                try alice.ok(
                    """
                    recordfs model private Note --off; recordfs model private
                    recordfs model private Card; recordfs model private; recordfs mount > ~/mounted
                    """) == "Card")
            let plan = try alice.ok("recordfs share create \(Self.zone)/Author/A1 -n")
            #expect(plan.contains("Note/N1.json -> "), "\(plan)")
            #expect(
                plan.hasSuffix("Book/B2.json loses card: \(Self.zone)/Card/C1.json stays"),
                "\(plan)")
            // A name that waits for its object goes on waiting there.
            try alice.ok(
                """
                echo '{"name": "Ada", "books": ["B1", "B2", "B7"]}' > RecordFS/\(Self.zone)/Author/A1.json
                recordfs share create \(Self.zone)/Author/A1 --zone-name Library
                cd RecordFS/private/Library && echo '{"title": "Seven"}' > Book/B7.json
                """)
            #expect(
                try alice.ok(
                    "cd RecordFS/private/Library && jq -r .author Book/B7.json; jq -c .books Author/A1.json"
                ) == "A1\n" + #"["B1","B2","B7"]"#)
            #expect(
                try alice.ok(
                    """
                    jq -c .card RecordFS/private/Library/Book/B2.json
                    jq -c .book RecordFS/\(Self.zone)/Card/C1.json
                    """) == "null\n\"B2\"")
            try end()
        }
    }
}
