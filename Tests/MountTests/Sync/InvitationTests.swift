import TestSupport
import Testing

extension MountTests {
    /// Real processes: a server, and the mounts of two users, one of whom invites the other.
    @Suite struct InvitationTests: TestsOfTwoUsers {
        let users: TwoUsers

        init() async throws {
            users = try await TwoUsers()
            try alice.ok("mkdir -p RecordFS/private/{Kitchen,Garden}/Plan")
        }

        @Test("who is invited sees it within a moment, and accepts what the line says")
        func told() async throws {
            #expect(try bob.ok("recordfs status --json | jq -c .invitations") == "[]")
            try bob.ok("cat RecordFS/.recordfs/events > events & echo $! > reader")
            let link = try alice.ok(
                "recordfs share create private/Kitchen --with bob@localhost --title 'Our kitchen'")
            let line =
                "admin@localhost invites you to read \"Our kitchen\": recordfs accept \(link)"
            #expect(try bob.eventually("recordfs status | tail -n 1", line))
            #expect(try bob.ok("recordfs shares") == line)
            #expect(
                try bob.ok(
                    "recordfs shares --json | jq -c '[.url, .title, .owner.address, .permission, .status]'"
                )
                    == #"["\#(link)","Our kitchen","admin@localhost","READ_ONLY","INVITED"]"#)
            #expect(
                try bob.ok("recordfs status --json | jq -c .invitations[0]")
                    == bob.ok("recordfs shares --json"))
            #expect(
                try bob.eventually(
                    "jq -rc 'select(.event == \"share\") | [.what, .who, .title, .url]' events",
                    #"["invited","admin@localhost","Our kitchen","\#(link)"]"#))
            // Also without a network, and after a restart.
            try await account.stopServer()
            try bob.ok("kill $(cat reader); recordfs unmount; recordfs mount")
            #expect(try bob.ok("recordfs status | tail -n 1") == line)
            try await account.startServer()
            try bob.ok("recordfs status | tail -n 1 | sed 's/.*: //' > command; . ./command")
            #expect(try bob.ok("recordfs shares").hasPrefix("shared/admin@localhost/Kitchen: "))
            #expect(try bob.ok("recordfs status --json | jq -c .invitations") == "[]")
            try end()
        }

        @Test("who declines has no invitation more, and who made it sees that")
        func declined() async throws {
            // What others write gives a terminal no orders.
            try alice.ok(
                "recordfs share create private/Garden --with bob@localhost --title $'a\\e[2Jb\\nc'")
            #expect(try bob.eventually("recordfs shares | wc -l", "1"))
            #expect(try bob.ok("recordfs shares").contains("\"a\\u{1b}[2Jb\\u{a}c\""))
            let link = try alice.ok("jq -r .url RecordFS/private/Garden/.share.json")
            #expect(
                try bob.ok("recordfs decline --json '\(link)' | jq -c .") == #"{"declined":true}"#)
            #expect(try bob.ok("recordfs shares") == "")
            let people = "jq -c .participants RecordFS/private/Garden/.share.json"
            #expect(try alice.eventually(people, "[]"))
            let again = try bob.shell("recordfs decline '\(link)'")
            #expect(again.status == 3 && again.errors.contains("has no invitation there"))
            // What is accepted is left, not declined.
            try alice.ok("recordfs share add private/Garden bob@localhost")
            try bob.ok("recordfs accept '\(link)'")
            #expect(try bob.shell("recordfs decline '\(link)'").status == 3)
            #expect(try bob.ok("ls RecordFS/shared/admin@localhost") == "Garden")
            try end()
        }
    }
}
