import TestSupport
import Testing

extension MountTests {
    /// Real processes: a server, and the mounts of two users, one of whom shares with the other.
    @Suite struct SharingTests {
        private let account: Account
        private let alice: CommandLineHome
        private let bob: CommandLineHome

        init() async throws {
            account = try await Account()
            alice = try account.machine()
            try await account.addUser("bob@localhost", password: "a password of bob")
            bob = try account.machine(as: "bob@localhost", password: "a password of bob")
            try alice.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe
                echo '{"n": 1}' > RecordFS/private/Kitchen/Recipe/soup.json
                head -c 100000 /dev/urandom > RecordFS/private/Kitchen/Recipe/soup@photo.jpg
                """)
        }

        private func end() throws {
            for home in [alice, bob] { try home.ok("recordfs unmount && recordfs fsck") }
        }

        /// The directory of the owner, as `ls shared` has it at Bob's.
        private let kitchen = "RecordFS/shared/*/Kitchen/Recipe"

        @Test("a zone that is shared is at the other's mount, and edits go both ways")
        func bothWays() async throws {
            let link = try alice.ok(
                "recordfs share create private/Kitchen --with bob@localhost --write")
            #expect(link.hasPrefix("http://127.0.0.1:"))
            let place = try bob.ok("recordfs accept '\(link)'")
            #expect(place.hasPrefix("shared/") && place.hasSuffix("/Kitchen"))
            try bob.ok(
                """
                cmp RecordFS/\(place)/Recipe/soup.json \
                    \(alice.folder)/RecordFS/private/Kitchen/Recipe/soup.json
                cmp RecordFS/\(place)/Recipe/soup@photo.jpg \
                    \(alice.folder)/RecordFS/private/Kitchen/Recipe/soup@photo.jpg
                sed -i 's/"n": 1/"n": 2/' RecordFS/\(place)/Recipe/soup.json
                echo '{"n": 3}' > RecordFS/\(place)/Recipe/stew.json
                """)
            let recipes = "RecordFS/private/Kitchen/Recipe"
            #expect(try alice.eventually("jq .n \(recipes)/soup.json", "2"))
            #expect(try alice.eventually("jq .n \(recipes)/stew.json", "3"))
            try alice.ok("rm \(recipes)/stew.json")
            #expect(try bob.eventually("ls \(kitchen)", "soup.json\nsoup@photo.jpg"))
            try end()
        }
    }
}
