import TestSupport
import Testing

extension MountTests {
    /// Real processes: who was not invited asks for access, and one-time links.
    @Suite struct ShareAccessTests: TestsOfTwoUsers {
        let users: TwoUsers
        private let link: String

        /// Alice shares her kitchen with nobody.
        init() async throws {
            users = try await TwoUsers()
            try users.alice.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe
                echo '{"n": 1}' > RecordFS/private/Kitchen/Recipe/soup.json
                """)
            link = try users.alice.ok("recordfs share create private/Kitchen")
        }

        private func refused(
            _ home: CommandLineHome, _ command: String, _ words: String
        ) throws {
            let result = try home.shell(command)
            #expect(result.status != 0, "\(command)")
            #expect(result.errors.contains(words), "\(command): \(result.errors)")
        }

        @Test("who asks for access is let in by the owner, who sees since when")
        func approved() async throws {
            try refused(bob, "recordfs accept '\(link)'", "NOT_FOUND")
            #expect(try alice.ok("recordfs share requests private/Kitchen") == "")
            for address in [link, "\(link.prefix { $0 != "#" }.dropLast(3))xyz"] {
                #expect(try bob.ok("recordfs accept --request '\(address)'").hasPrefix("If there"))
            }
            #expect(
                try alice.ok("recordfs share requests private/Kitchen").contains("bob@localhost"))
            try refused(
                alice, "recordfs share approve private/Kitchen carol@localhost", "does not ask")
            try alice.ok("recordfs share approve private/Kitchen bob@localhost --write")
            #expect(try alice.ok("recordfs share requests --json private/Kitchen") == "[]")
            let place = try bob.ok("recordfs accept '\(link)'")
            try bob.ok("sed -i 's/\"n\": 1/\"n\": 2/' RecordFS/\(place)/Recipe/soup.json")
            #expect(
                try alice.eventually("jq .n RecordFS/private/Kitchen/Recipe/soup.json", "2"))
            let since =
                #"recordfs share show --json private/Kitchen | jq -r '.participants[0].since'"#
            let time = try alice.ok(since)
            #expect(
                time.wholeMatch(of: /2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(time)")
            try end()
        }

        @Test("who is denied may ask again, and who is blocked is not heard")
        func denied() async throws {
            try bob.ok("recordfs accept --request '\(link)'")
            try alice.ok("recordfs share deny private/Kitchen bob@localhost")
            #expect(try alice.ok("recordfs share requests private/Kitchen") == "")
            try bob.ok("recordfs accept --request '\(link)'")
            try alice.ok("recordfs share deny --block private/Kitchen bob@localhost")
            try bob.ok("recordfs accept --request '\(link)'")
            #expect(try alice.ok("recordfs share requests private/Kitchen") == "")
            try refused(bob, "recordfs accept '\(link)'", "NOT_FOUND")
            let takes = "recordfs share show --json private/Kitchen | jq .takesRequests"
            for (flag, told) in [("--refuse", "false"), ("--allow", "true")] {
                try alice.ok("recordfs share requests \(flag) private/Kitchen")
                #expect(try alice.ok(takes) == told)
            }
            try refused(bob, "recordfs accept --request nonsense/link", "no link of a share")
            try end()
        }

        @Test("a one-time link is one person's, and goes without an address")
        func oneTime() async throws {
            let once = try alice.ok("recordfs share link private/Kitchen --write")
            #expect(once.hasPrefix("http://127.0.0.1:") && once != link)
            let unused = "recordfs share show --json private/Kitchen | jq -r '.links[]?.url'"
            #expect(try alice.ok(unused) == once)
            let place = try bob.ok("recordfs accept '\(once)'")
            #expect(try bob.ok("stat -c %a RecordFS/\(place)/Recipe/soup.json") == "644")
            #expect(try bob.ok("recordfs accept '\(once)'") == place)
            #expect(try alice.ok(unused) == "")
            try await account.addUser("carol@localhost", password: "a password of carol")
            let carol = try account.machine(
                as: "carol@localhost", password: "a password of carol")
            try refused(carol, "recordfs accept '\(once)'", "NOT_FOUND")
            try carol.ok("recordfs unmount")
            try alice.ok("recordfs share permit private/Kitchen everyone read-only")
            try refused(alice, "recordfs share link private/Kitchen", "everyone none first")
            try end()
        }

        @Test(
            "one person is one participant, whatever he is called, and can be taken out; so can a link"
        )
        func onePerson() async throws {
            try refused(
                alice, "recordfs share permit private/Kitchen bob@localhost read-write",
                "no participant")
            try bob.ok("recordfs accept --request '\(link)'")
            #expect(
                try alice.eventually("recordfs status | grep -c 'asks for access'", "1"))
            try alice.ok(
                """
                recordfs share approve private/Kitchen bob@localhost
                recordfs share permit private/Kitchen bob@localhost read-write
                """)
            let count = "recordfs share show --json private/Kitchen | jq '.participants | length'"
            #expect(try alice.ok(count) == "1")
            let place = try bob.ok("recordfs accept '\(link)'")
            try alice.ok("recordfs share add --write private/Kitchen bob@localhost")
            #expect(try alice.ok(count) == "1")
            try alice.ok("recordfs share remove private/Kitchen bob@localhost")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            try refused(bob, "recordfs accept '\(link)'", "--request")
            #expect(place == "shared/admin@localhost/Kitchen")
            let once = try alice.ok("recordfs share link private/Kitchen")
            try alice.ok("recordfs share remove private/Kitchen '\(once)'")
            try refused(bob, "recordfs accept '\(once)'", "nothing is shared")
            // Who was blocked is let in by an invitation.
            try bob.ok("recordfs accept --request '\(link)'")
            #expect(
                try alice.eventually("recordfs status | grep -c 'asks for access'", "1"))
            try alice.ok(
                """
                recordfs share deny --block private/Kitchen bob@localhost
                recordfs share add private/Kitchen bob@localhost
                """)
            try bob.ok("recordfs accept '\(link)'")
            try end()
        }
    }
}
