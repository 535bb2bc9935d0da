import TestSupport
import Testing

extension MountTests {
    /// What `df` and `stat -f` show of the room that a server has.
    @Suite struct QuotaTests {
        /// Bytes in all, free, and to be had.
        private func room(_ home: CommandLineHome, _ path: String) throws -> [Int64] {
            let shown = try home.ok("stat -f -c '%S %b %f %a' RecordFS/\(path)")
            let numbers = try shown.split(separator: " ").map { try #require(Int64($0)) }
            return numbers.dropFirst().map { $0 * numbers[0] }
        }

        private static let total: Int64 = 64 << 20

        private func limited() async throws -> TwoUsers {
            try await TwoUsers(server: ["--set", "quota-bytes=\(Self.total)"])
        }

        @Test("private shows the account's own quota, elsewhere it is the disk's, also offline")
        func own() async throws {
            let users = try await limited()
            let alice = users.alice
            try alice.ok(
                "mkdir -p RecordFS/{private,local}/Kitchen/Recipe; recordfs sync")
            #expect(try alice.eventually(Self.blocks("private/Kitchen"), "\(Self.total)"))
            let disk = try alice.ok("stat -f -c '%b %S' .local/share/recordfs")
            for path in ["", "local/Kitchen", "shared", "public"] {
                #expect(try alice.ok("stat -f -c '%b %S' RecordFS/\(path)") == disk)
            }
            try alice.ok(
                """
                echo '{"n": 1}' > RecordFS/private/Kitchen/Recipe/soup.json
                head -c 8000000 /dev/urandom > RecordFS/private/Kitchen/Recipe/soup@photo.jpg
                recordfs sync
                """)
            let used = "df --output=used -B1 RecordFS/private | tail -1 | xargs"
            #expect(
                try alice.eventually("test $(\(used)) -gt 8000000 && echo more", "more"))
            for path in ["private", "private/Kitchen/Recipe/soup@photo.jpg"] {
                let room = try room(alice, path)
                #expect(room[0] == Self.total)
                #expect(room[1] < Self.total - 8_000_000 && room[2] <= room[1])
            }
            let before = try room(alice, "private")
            try await users.account.stopServer()
            try alice.ok("recordfs unmount && recordfs mount")
            #expect(try room(alice, "private/Kitchen") == before)
            #expect(
                try alice.ok("df --output=size -B1 RecordFS/private | tail -1 | xargs")
                    == "\(Self.total)")
        }

        @Test("a zone of others shows what its owner has left; what does not fit waits as before")
        func ofOthers() async throws {
            let users = try await limited()
            let (alice, bob) = (users.alice, users.bob)
            try alice.ok("mkdir -p RecordFS/private/{Kitchen,Cellar}/Recipe; recordfs sync")
            var places: [String] = []
            for (zone, flag) in [("Kitchen", "--write"), ("Cellar", "")] {
                let link = try alice.ok(
                    "recordfs share create private/\(zone) --with bob@localhost \(flag)")
                places.append(try bob.ok("recordfs accept '\(link)'"))
            }
            // An owner has one quota, whatever one may do where.
            let left: Int64 = 56 << 20
            #expect(try bob.eventually(Self.blocks(places[0]), "\(left)"))
            #expect(try room(bob, places[0])[1] == left)
            #expect(try room(bob, "private")[0] == Self.total)
            let disk = try bob.ok("stat -f -c '%b %S' .local/share/recordfs")
            #expect(try bob.ok("stat -f -c '%b %S' RecordFS/shared") == disk)
            try bob.ok(
                """
                mkdir -p RecordFS/\(places[0])/Recipe
                echo '{"n": 1}' > RecordFS/\(places[0])/Recipe/soup.json
                head -c 60000000 /dev/zero > RecordFS/\(places[0])/Recipe/soup@photo.jpg
                """)
            #expect(try bob.eventually(Self.blocks(places[0]), "\(6 << 20)"))
            try bob.ok(
                """
                echo '{"n": 1}' > RecordFS/\(places[0])/Recipe/stew.json
                head -c 9000000 /dev/urandom > RecordFS/\(places[0])/Recipe/stew@photo.jpg
                """)
            // A refusal that comes while the bytes are on their way may get lost with the connection.
            #expect(try bob.eventually("recordfs sync 2>&1 | grep -c QUOTA_EXCEEDED", "1"))
            try await users.account.stopServer()
            try bob.ok("recordfs unmount && recordfs mount")
            #expect(try room(bob, places[0])[1] == 6 << 20)
        }

        @Test("without a word of the server everything is the disk's")
        func unknown() async throws {
            let account = try await Account(login: ["--profile", "cloudkit"])
            let alice = try account.machine()
            try alice.ok("mkdir -p RecordFS/private/Kitchen/Recipe; recordfs sync")
            let disk = try alice.ok("stat -f -c '%b %S' .local/share/recordfs")
            #expect(try alice.ok("stat -f -c '%b %S' RecordFS/private/Kitchen") == disk)
        }

        /// Prints how many bytes there are in all.
        private static func blocks(_ path: String) -> String {
            "stat -f -c '%b %S' RecordFS/\(path) | { read b s; echo $((b * s)); }"
        }
    }
}
