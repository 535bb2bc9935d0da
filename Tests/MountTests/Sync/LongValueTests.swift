import TestSupport
import Testing

extension MountTests {
    /// Long texts, and what is over a limit of the server, with real files, daemons and a server.
    @Suite struct LongValueTests {
        private static let note = "RecordFS/private/Box/Note"

        @Test(
            "a text of 3 MB arrives, is printed by recordfs get, and what can never go up is refused"
        )
        func travels() async throws {
            let account = try await Account()
            let (a, b) = (try account.machine(), try account.machine())
            try a.ok(
                """
                mkdir -p \(Self.note) && cd \(Self.note)
                head -c 2250000 /dev/urandom | base64 -w 76 > ../../../../text
                jq -Rs '{body: ., n: 1}' ../../../../text > big.json
                recordfs sync
                """)
            let sum = try a.shell("jq -j .body \(Self.note)/big.json | sha256sum").output
            #expect(try b.eventually("jq -j .body \(Self.note)/big.json | sha256sum", sum))
            for home in [a, b] {
                #expect(
                    try home.shell("recordfs get private/Box/Note/big@body | sha256sum").output
                        == sum)
            }
            try b.ok("echo more >> \(Self.note)/big@body && recordfs sync")
            #expect(
                try a.eventually("tail -n 1 \(Self.note)/big@body", "more"))
            let refused = try a.shell(
                """
                cd \(Self.note)
                { printf '{"list": ['; yes 1 | head -n 125001 | paste -sd,; printf ']}'; } > ../../../../list
                cp ../../../../list list.json
                """)
            #expect(refused.status != 0 && refused.errors.contains("File too large"), "\(refused)")
            #expect(try a.shell("cat \(Self.note)/.error").output.contains("125000"))
            try a.ok("rm -f \(Self.note)/list.json")
            try a.ok(
                "mkdir -p RecordFS/local/Box/Note && cp list RecordFS/local/Box/Note/list.json")
            try a.ok("recordfs unmount && recordfs fsck")
            try b.ok("recordfs unmount && recordfs fsck")
        }
    }
}
