import TestSupport
import Testing

extension MountTests {
    /// Real processes: Alice shares records with what hangs on them, which is in two types, and Bob may change it. `rm -r`
    /// of his leaves, and takes nothing that is hers.
    @Suite struct RemovedShareTests: TestsOfTwoUsers {
        let users: TwoUsers
        private let zone = "RecordFS/private/Kitchen"
        private let place = "RecordFS/shared/admin@localhost/Kitchen"

        init() async throws {
            users = try await TwoUsers()
            try users.alice.ok(
                """
                mkdir -p \(zone)/Recipe \(zone)/Aside
                cd \(zone)/Recipe
                echo '{"n": 1}' > soup.json; echo '{"n": 1}' > tea.json; echo '{"n": 1}' > own.json
                for n in 1 2 3; do
                    echo '{"s": '$n', "$parent": "soup"}' > step$n.json
                    echo '{"s": '$n', "$parent": "soup"}' > ../Aside/note$n.json
                done
                """)
        }

        @Test(
            "the directory, a type of it, or all files of the type",
            arguments: ["", "/Recipe", "/Recipe/*"], [["soup"], ["soup", "tea"]])
        func removed(_ path: String, _ shared: [String]) async throws {
            for name in shared {
                let link = try alice.ok(
                    "recordfs share create private/Kitchen/Recipe/\(name) --with bob@localhost --write"
                )
                try bob.ok("recordfs accept '\(link)'")
            }
            #expect(
                try bob.eventually("ls \(place)/Recipe | wc -l", "\(shared.count + 3)"))
            let all = try alice.ok("cd \(zone) && ls -R")
            _ = try bob.shell("rm -r \(place)\(path)")
            #expect(try bob.eventually("ls RecordFS/shared; recordfs shares", ""))
            try bob.ok("recordfs sync")
            #expect(try bob.ok("recordfs status --json | jq '[.zones[].pending] | add'") == "0")
            try alice.ok("recordfs sync")
            #expect(try alice.ok("cd \(zone) && ls -R") == all)
            try end()
        }

        @Test("what was not sent of what is removed with its share is in the trash")
        func unsent() async throws {
            let link = try alice.ok(
                "recordfs share create private/Kitchen/Recipe/soup --with bob@localhost --write")
            try bob.ok("recordfs accept '\(link)'")
            #expect(try bob.eventually("ls \(place)/Recipe | wc -l", "4"))
            try bob.ok(
                """
                recordfs pause
                echo '{"n": 1, "own": "my words"}' > \(place)/Recipe/soup.json
                echo '{"own": "mine alone", "$parent": "soup"}' > \(place)/Recipe/new.json
                """)
            _ = try bob.shell("rm -r \(place)")
            try bob.ok("recordfs resume")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            let trash = try bob.ok(
                "cat RecordFS/.recordfs/trash/shared/admin@localhost/Kitchen/Recipe/*.json")
            #expect(trash.contains("my words"), "\(trash)")
            #expect(trash.contains("mine alone"), "\(trash)")
            #expect(!trash.contains("\"n\""), "\(trash)")
            try end()
        }
    }
}
