import TestSupport
import Testing

extension MountTests {
    /// Real processes: a machine whose database is damaged, and a server that has most of it.
    @Suite struct DamagedStoreTests {
        private let note = "RecordFS/private/Box/Note"

        /// Fills the first page of a table with zeros.
        private func damage(_ table: String, _ home: CommandLineHome) throws {
            _ = try home.file(
                "damage.py",
                """
                import sqlite3, sys
                path, table = sys.argv[1:]
                base = sqlite3.connect(path)
                base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                page, = base.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()
                size, = base.execute("PRAGMA page_size").fetchone()
                base.close()
                with open(path, "r+b") as file:
                    file.seek((page - 1) * size)
                    file.write(bytes(size))
                """)
            try home.ok("python3 damage.py .local/share/recordfs/store.sqlite \(table)")
        }

        @Test(
            "a damaged store says what to do; fsck --recover keeps the unsent, the server has the rest"
        )
        func recovered() async throws {
            let account = try await Account()
            let (a, b) = (try account.machine(), try account.machine())
            try a.ok(
                """
                mkdir -p \(note)
                for n in $(seq 50); do echo '{"n": '$n'}' > \(note)/r$n.json; done
                printf photo > \(note)/r1@photo.jpg
                recordfs sync; recordfs pause
                echo '{"n": 200}' > \(note)/r2.json; echo '{"n": 300}' > \(note)/own.json
                recordfs unmount
                """)
            try damage("meta", a)
            for command in ["mount", "fsck"] {
                let told = try a.shell("recordfs \(command)")
                #expect(told.status != 0, "\(told)")
                #expect(told.errors.contains("recordfs fsck --recover"), "\(told)")
                #expect((told.output + told.errors).contains("is damaged. Keep a copy"), "\(told)")
                // Many checks meet the same page.
                let lines = told.output.split(separator: "\n")
                #expect(Set(lines).count == lines.count, "\(told)")
            }
            #expect(try a.shell("ls RecordFS").output == "")

            let said = try a.ok("recordfs fsck --recover").split(separator: "\n").map(String.init)
            let state = "\(a.folder)/.local/share/recordfs"
            #expect(said.contains { $0.hasPrefix("The damaged database is in \(state)/damaged-") })
            #expect(
                said.contains {
                    $0.hasPrefix("2 records that no server is known to have: \(state)/unsent-")
                })
            #expect(said.last?.hasPrefix("\(state): an empty store. ") == true)
            try a.ok("recordfs mount; recordfs resume || true; recordfs sync")
            let all = "cd \(note) && ls | wc -l && cat r1@photo.jpg && jq -c .n r1.json r2.json"
            #expect(try a.eventually(all, "51\nphoto1\n2"))
            // What was not sent is beside, and goes up when it is copied in.
            try a.ok("cp .local/share/recordfs/unsent-*/private/Box/Note/{r2,own}.json \(note)/")
            try a.ok("recordfs sync")
            #expect(try b.eventually("jq .n \(note)/{r2,own}.json", "200\n300"))
            for home in [a, b] { try home.ok("recordfs unmount && recordfs fsck --deep") }
        }
    }
}
