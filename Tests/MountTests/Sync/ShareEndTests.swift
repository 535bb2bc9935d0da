import TestSupport
import Testing

extension MountTests {
    /// Real processes: shares whose files are removed, while other shares are made.
    @Suite struct ShareEndTests: TestsOfTwoUsers {
        let users: TwoUsers

        init() async throws {
            users = try await TwoUsers()
            try alice.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe RecordFS/private/Plans
                echo '{"n": 1}' > RecordFS/private/Kitchen/Recipe/soup.json
                recordfs unmount
                recordfs mount -o grace=600
                """)
        }

        private let zone = "RecordFS/private/Kitchen"
        private let invitation = #"{"participants": [{"address": "bob@localhost"}]}"#

        /// Found by reading: the first share ended at once, and its participants lost it, when a
        /// program removed several files of shares before it wrote them again.
        @Test("a share whose file is removed waits its grace time, also when another one is made")
        func removedBesideAnother() throws {
            try alice.ok(
                """
                echo '\(invitation)' > \(zone)/.share.json
                """)
            let link = try alice.ok("jq -r .url \(zone)/.share.json")
            let place = try bob.ok("recordfs accept '\(link)'")
            // The acceptance is a change of the share: a text from before it is refused.
            let status = "jq -r '.participants[0].status' \(zone)/.share.json"
            #expect(try alice.eventually(status, "ACCEPTED"))
            try alice.ok(
                """
                cp \(zone)/.share.json kept
                rm \(zone)/.share.json
                echo '\(invitation)' > RecordFS/private/Plans/.share.json
                """)
            #expect(try bob.ok("recordfs sync; ls RecordFS/\(place)") == "Recipe")
            try alice.ok("cp kept \(zone)/.share.json")
            #expect(try alice.ok(status) == "ACCEPTED")
            #expect(try bob.ok("recordfs sync; ls RecordFS/\(place)") == "Recipe")
            try end()
        }

        /// A tester: a listing of these three seconds stayed until something else was saved.
        @Test("a share that an editor renames for its backup is listed again three seconds later")
        func setAside() throws {
            let folder = "\(zone)/Recipe"
            try alice.ok("echo '\(invitation)' > \(folder)/.soup.share.json")
            #expect(
                try alice.ok("cd \(folder) && mv .soup.share.json .soup.share.json~ && ls -A")
                    == ".soup.share.json~\nsoup.json")
            #expect(
                try alice.eventually(
                    "ls -A \(folder)", ".soup.share.json\n.soup.share.json~\nsoup.json"))
            try end()
        }

        @Test("the share of a zone takes the place of a removed share of one of its records")
        func removedInTheWay() throws {
            try alice.ok(
                """
                echo '\(invitation)' > \(zone)/Recipe/.soup.share.json
                rm \(zone)/Recipe/.soup.share.json
                echo '\(invitation)' > \(zone)/.share.json
                """)
            #expect(try alice.ok("recordfs shares --json | jq -r .path") == "private/Kitchen")
            try end()
        }
    }
}
