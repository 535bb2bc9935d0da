import Glibc
import TestSupport
import Testing

extension MountTests {
    /// Shares on machines whose disk has no room.
    @Suite struct FullDiskShareTests {
        private let account: Account
        private let disk: LoopFileSystem

        init() async throws {
            account = try await Account()
            disk = try LoopFileSystem(kind: "ext4", megabytes: 64)
        }

        /// A machine that has its store on the disk, and its log not.
        private func machine(as user: String, password: String) throws -> CommandLineHome {
            let home = try CommandLineHome()
            try home.ok("mkdir -p .local && ln -s \(disk.directory) .local/share")
            return try account.machine(as: user, password: password, at: home)
        }

        /// Bob's machine, which has nothing of anybody yet.
        private func bob() async throws -> CommandLineHome {
            try await account.addUser("bob@localhost", password: "a password of bob")
            return try machine(as: "bob@localhost", password: "a password of bob")
        }

        /// A word that no other file has.
        private let word = "quixotry\(UInt32.random(in: 0...UInt32.max))"

        private var fill: String {
            "for size in 64K 512 1; do dd if=/dev/zero bs=$size status=none >> \(disk.directory)/ballast; done"
        }

        @Test(
            "what is shared no longer goes at once from a disk without a free byte, but for own words",
            arguments: [false, true])
        func revoked(_ meetsReserve: Bool) async throws {
            let alice = try account.machine()
            try alice.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe && cd RecordFS/private/Kitchen/Recipe
                pad=$(head -c 3000 /dev/zero | tr '\\0' x)
                for n in $(seq 60); do echo "{\\"text\\": \\"\(word) $pad $n\\"}" > r$n.json; done
                recordfs sync
                """)
            let bob = try await bob()
            let link = try alice.ok(
                "recordfs share create private/Kitchen --with bob@localhost --write")
            let place = try bob.ok("recordfs accept '\(link)'")
            try bob.ok(
                """
                recordfs sync; cat RecordFS/\(place)/Recipe/* > /dev/null
                recordfs search \(place) \(word) > /dev/null
                recordfs pause; echo '{"own": 1}' > RecordFS/\(place)/Recipe/own.json
                \(fill) 2> /dev/null; true
                """)
            if meetsReserve {
                // What the log and the database have free takes some more, and the reserve then is all.
                try bob.ok(
                    """
                    mkdir -p RecordFS/local/Own/Note; head -c 300000 /dev/zero | tr '\\0' y > pad
                    for n in $(seq 400); do
                        { echo -n '{"p": "'; cat pad; echo '"}'; } > text
                        cp text RecordFS/local/Own/Note/n$n.json 2> /dev/null || break
                    done
                    [ $n -lt 400 ]; \(fill) 2> /dev/null; true
                    """)
            }
            // The store may give some back after it was filled.
            for _ in 0..<5 where disk.freeBytes >= 1 << 16 {
                try bob.ok("\(fill) 2> /dev/null; true")
            }
            #expect(disk.freeBytes < 1 << 16, "\(disk.freeBytes) bytes are free")
            try alice.ok("recordfs share remove private/Kitchen bob@localhost")
            try bob.ok("recordfs resume")
            #expect(try bob.eventually("ls RecordFS/shared", ""))
            // Others would wait longer each time; of the shared database the log names codes alone. The upload of the own
            // words may meet the full disk first, once.
            let log = try bob.ok("sed '/not shared with you any more/q' .local/state/recordfs/*")
            let tries = log.ranges(of: "why=noSpace").count
            #expect(log.hasSuffix("any more") && tries <= 1, "\(log)")
            #expect(
                try bob.ok("cat RecordFS/.recordfs/trash/\(place)/Recipe/*.json")
                    .contains("\"own\": 1"))
            try bob.ok(
                "rm \(disk.directory)/ballast; recordfs unmount; recordfs mount; recordfs sync")
            #expect(try bob.ok("grep -rla \(word) .local/share/recordfs/; true") == "")
            for home in [alice, bob] { try home.ok("recordfs unmount && recordfs fsck") }
        }

        @Test("what one of two shares had goes from a full disk, though the other one has news")
        func oneOfTwo() async throws {
            let alice = try account.machine()
            try alice.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe && cd RecordFS/private/Kitchen/Recipe
                echo '{"text": "\(word)"}' > soup.json; echo '{"n": 1}' > cake.json; recordfs sync
                """)
            let bob = try await bob()
            for name in ["soup", "cake"] {
                let link = try alice.ok(
                    "recordfs share create private/Kitchen/Recipe/\(name).json --with bob@localhost"
                )
                _ = try bob.ok("recordfs accept '\(link)'")
            }
            let place = "RecordFS/shared/*/Kitchen/Recipe"
            #expect(try bob.eventually("ls \(place)", "cake.json\nsoup.json"))
            try bob.ok("recordfs pause")
            try alice.ok(
                """
                recordfs share remove private/Kitchen/Recipe/soup.json bob@localhost
                pad=$(head -c 3000000 /dev/zero | tr '\\0' x)
                echo '{"n": 2, "pad": "'$pad'"}' > RecordFS/private/Kitchen/Recipe/cake.json && recordfs sync
                """)
            try bob.ok("\(fill) 2> /dev/null; true")
            try bob.ok("recordfs resume")
            #expect(try bob.eventually("ls \(place)", "cake.json"))
            #expect(try bob.ok("cat \(place)/cake.json") == #"{"n": 1}"#)
            try bob.ok("rm \(disk.directory)/ballast; recordfs sync")
            #expect(try bob.ok("grep -c '\"n\": 2' \(place)/cake.json") == "1")
            try bob.ok("recordfs unmount; recordfs mount; recordfs sync")
            #expect(try bob.ok("grep -rla \(word) .local/share/recordfs/; true") == "")
            for home in [alice, bob] { try home.ok("recordfs unmount && recordfs fsck") }
        }

        /// Writes a text in two parts, hears of no error, and closes when there is room again.
        private static let careless = """
            import os, sys
            path, text, ballast = sys.argv[1:]
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            failed = 0
            for part in (b" " * (16 << 20), text.encode()):
                try: os.write(file, part)
                except OSError: failed += 1
            os.unlink(ballast)
            try: os.close(file); print("closed", failed)
            except OSError as error: print(error.strerror, failed)
            """

        @Test(
            "a share's text of which the disk could not take a part shares nothing, whatever room comes"
        )
        func partlyWritten() async throws {
            let alice = try machine(as: "admin@localhost", password: account.password)
            try alice.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe
                echo '{"n": 1}' > RecordFS/private/Kitchen/Recipe/soup.json; recordfs sync
                """)
            _ = try alice.file("careless.py", Self.careless)
            for name in [".share.json", "Recipe/.soup.share.json", ".new"] {
                let said = try alice.ok(
                    """
                    \(fill) 2> /dev/null; rm -f RecordFS/private/Kitchen/.new
                    truncate -s -40K \(disk.directory)/ballast; sync -f \(disk.directory)
                    python3 careless.py RecordFS/private/Kitchen/\(name) '{}' \(disk.directory)/ballast
                    """)
                if name == ".new" {
                    let moved = try alice.shell(
                        "cd RecordFS/private/Kitchen && mv .new .share.json")
                    #expect(moved.status != 0, "\(moved)")
                } else {
                    #expect(said == "No space left on device 1", "\(name)")
                }
                #expect(try alice.ok("recordfs sync; recordfs shares") == "", "\(name)")
                _ = try alice.shell("rm RecordFS/private/Kitchen/\(name)")
            }
            try alice.ok("recordfs unmount && recordfs fsck")
        }
    }
}
