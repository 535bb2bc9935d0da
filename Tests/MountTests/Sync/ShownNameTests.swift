import Testing

extension MountTests {
    /// Real machines of one account whose types have records of the same name.
    @Suite struct ShownNameTests {
        private static let files = "cd RecordFS/private/K && find . -name '*.json' | sort"

        @Test(
            "two types that made one name apart show it as that on all machines, and nothing is made under a name that only spells it otherwise"
        )
        func sameOnAll() async throws {
            let account = try await Account()
            let a = try account.machine()
            let (b, c) = (try account.machine(), try account.machine())
            for machine in [a, b] {
                try machine.ok("mkdir -p RecordFS/private/K/X RecordFS/private/K/Y")
            }
            for machine in [a, b] { try machine.ok("recordfs pause") }
            try a.ok("echo '{\"a\": 1}' > RecordFS/private/K/X/r.json")
            try b.ok("echo '{\"b\": 1}' > RecordFS/private/K/Y/r.json")
            try a.ok("recordfs resume && recordfs sync")
            try b.ok("recordfs resume && recordfs sync")
            try a.ok("recordfs sync")
            for machine in [a, b, c] {
                #expect(try machine.eventually(Self.files, "./X/r.json\n./Y/r.json"))
            }
            let refused = try a.shell("echo '{\"k\": 1}' > 'RecordFS/private/K/Y/r:Y.json'")
            #expect(refused.status != 0)
            try a.ok("! test -e 'RecordFS/private/K/Y/r:Y.json'")
            try a.ok("grep -q 'its file is r.json' RecordFS/private/K/Y/.error")
            try a.ok("! echo '{}' | recordfs put 'private/K/Y/r:Y'")
            #expect(try a.ok("recordfs get private/K/Y/r | jq -c .") == "{\"b\":1}")
            #expect(try a.ok("recordfs export private/K/Y | jq -r '.[0][\"$name\"]'") == "r")
            #expect(try a.ok("recordfs history --json private/K/Y/r | wc -l") == "1")
            #expect(try a.ok("ls RecordFS/.recordfs/history/private/K/Y") == "r")
            // What names it has does not hang on what was there before.
            try c.ok(
                "rm RecordFS/private/K/X/r.json && sync RecordFS/private/K/X; recordfs sync")
            try c.ok("recordfs unmount && recordfs mount")
            let fresh = try account.machine()
            for machine in [a, b, c, fresh] {
                #expect(try machine.eventually(Self.files, "./Y/r.json"))
                #expect(try machine.ok("jq -c . RecordFS/private/K/Y/r.json") == "{\"b\":1}")
            }
            for machine in [a, b, c, fresh] {
                try machine.ok("recordfs unmount && recordfs fsck")
            }
        }

        @Test("a record whose type was renamed keeps its name, in its file and in an export")
        func renamedType() async throws {
            let account = try await Account()
            let (a, b) = (try account.machine(), try account.machine())
            try a.ok("mkdir -p RecordFS/private/K/T && echo '{}' > RecordFS/private/K/T/r.json")
            try a.ok("recordfs sync && mv RecordFS/private/K/T RecordFS/private/K/U")
            let names = "recordfs export private/K/U | jq -r '.[][\"$name\"]'"
            #expect(try a.ok(names) == "r")
            try a.ok("recordfs sync")
            for machine in [a, b] {
                #expect(try machine.eventually(Self.files, "./U/r.json"))
                #expect(try machine.ok(names) == "r")
            }
        }
    }
}
