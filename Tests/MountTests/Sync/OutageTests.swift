import TestSupport
import Testing

extension MountTests {
    /// A daemon that cannot reach its server for a while, and what happens there meanwhile.
    @Suite struct OutageTests: TestsOfTwoUsers {
        let users: TwoUsers

        init() async throws { users = try await TwoUsers() }

        /// In a row, of one engine.
        private func failures() throws -> Int {
            let said = try bob.ok(
                "jq '[.sync.problems[].failures, 0] | max' RecordFS/.recordfs/status.json")
            return Int(said) ?? 0
        }

        @Test(
            "a share that was revoked during an outage goes when the server is back, however long it was"
        )
        func revoked() async throws {
            try alice.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe
                echo '{"n": 1}' > RecordFS/private/Kitchen/Recipe/soup.json; recordfs sync
                """)
            let link = try alice.ok("recordfs share create private/Kitchen --with bob@localhost")
            let place = try bob.ok("recordfs accept '\(link)'")
            #expect(try bob.eventually("ls RecordFS/\(place)/Recipe", "soup.json"))
            let other = try CommandLineHome()
            try await account.withServerElsewhere { address in
                try other.ok(
                    """
                    echo '\(account.password)' | recordfs login \(address) --api-token \(account.apiToken) \
                        --user admin@localhost --password-stdin
                    recordfs mount && recordfs sync
                    recordfs share remove private/Kitchen bob@localhost
                    recordfs unmount
                    """)
            }
            // Waits that double would be half a minute by then.
            let deadline = Deadline(seconds: 60)
            while try failures() < 7 { try #require(!deadline.isOver, "it does not try") }
            let wait = try bob.ok(
                """
                jq '(.sync.nextTry | sub("\\\\.[0-9]+Z"; "Z") | fromdate) - now | floor' \
                    RecordFS/.recordfs/status.json
                """)
            #expect(try #require(Int(wait)) <= 5, "the next try is in \(wait) seconds")
            #expect(try bob.ok("ls RecordFS/\(place)/Recipe") == "soup.json")
            try await account.startServer()
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            try end()
        }
    }
}
