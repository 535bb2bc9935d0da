import Testing

extension MountTests {
    /// Real machines of one account, one of which moves what the other edits.
    @Suite struct MovedRecordTests {
        private static let files =
            "cd RecordFS/private && find . -name '*.json' -o -name '*@*' | sort"

        @Test("mv to another type or zone and an edit elsewhere end in one record, with its photo")
        func moved() async throws {
            let account = try await Account()
            let a = try account.machine()
            try a.ok(
                """
                mkdir -p RecordFS/private/K/X RecordFS/private/K/Y RecordFS/private/Z/X
                for name in t z n; do
                    echo "{\\"name\\": \\"$name\\", \\"n\\": 0, \\"m\\": 0}" > RecordFS/private/K/X/$name.json
                done
                head -c 70000 /dev/urandom > RecordFS/private/K/X/z@photo.jpg
                recordfs sync
                """)
            let b = try account.machine()
            #expect(try b.eventually("jq .n RecordFS/private/K/X/z.json", "0"))
            try b.ok("recordfs sync && recordfs pause")
            try a.ok(
                """
                cd RecordFS/private
                mv K/X/t.json K/Y/
                mv K/X/z.json Z/X/
                mv K/X/n.json K/X/m.json
                sync K/X; recordfs sync
                """)
            for name in ["t", "z", "n"] {
                try b.ok(
                    "cd RecordFS/private/K/X && sed -i 's/\"n\": 0/\"n\": 7/' \(name).json")
            }
            try b.ok("recordfs resume && recordfs sync && recordfs sync")
            let expected = """
                ./K/X/m.json
                ./K/Y/t.json
                ./Z/X/z.json
                ./Z/X/z@photo.jpg
                """
            for machine in [a, b] {
                #expect(try machine.eventually(Self.files, expected))
                #expect(
                    try machine.eventually(
                        "cd RecordFS/private && jq .n K/X/m.json K/Y/t.json Z/X/z.json",
                        "7\n7\n7"))
            }
            try a.ok(
                "cmp RecordFS/private/Z/X/z@photo.jpg \(b.folder)/RecordFS/private/Z/X/z@photo.jpg")
            for machine in [a, b] {
                let conflicts = try machine.ok(
                    "find RecordFS/.recordfs/conflicts -name report.txt -print -exec cat {} +")
                #expect(conflicts == "", "\(conflicts)")
                try machine.ok("recordfs unmount && recordfs fsck")
            }
        }

        @Test("a record that another machine renames back while both deletions wait is there, once")
        func renamedBack() async throws {
            let account = try await Account()
            let a = try account.machine()
            let folder = "RecordFS/private/K/X"
            try a.ok(
                """
                mkdir -p \(folder); cd \(folder)
                for n in 1 2 3; do echo '{"n": '$n'}' > s$n.json; done; recordfs sync
                """)
            let b = try account.machine()
            #expect(try b.eventually("ls \(folder)", "s1.json\ns2.json\ns3.json"))
            for number in 1...3 {
                let (old, new) = ("\(folder)/s\(number).json", "\(folder)/t\(number).json")
                try a.ok("mv \(old) \(new)")
                // The old name is still shown there, too.
                #expect(try b.eventually("[ -e \(new) ] && echo there", "there"))
                try b.ok("mv \(new) \(old)")
            }
            // What waits is final when nobody is there to take it back.
            for machine in [a, b] {
                try machine.ok("recordfs unmount; recordfs mount; recordfs sync")
            }
            for machine in [a, b, a, b] { try machine.ok("recordfs sync") }
            for machine in [a, b] {
                #expect(try machine.eventually("cat \(folder)/*.json | jq .n | sort", "1\n2\n3"))
            }
            #expect(try a.ok("ls \(folder)") == b.ok("ls \(folder)"))
            for machine in [a, b] { try machine.ok("recordfs unmount && recordfs fsck") }
        }

        @Test(
            "who has a record open goes on with it after a move by a command, or by another machine",
            arguments: ["X/v", "Y/u"], [true, false])
        func openFile(target: String, isRemote: Bool) async throws {
            let account = try await Account()
            let a = try account.machine()
            try a.ok(
                """
                mkdir -p RecordFS/private/K/X RecordFS/private/K/Y
                echo '{"a": 1, "b": 1}' > RecordFS/private/K/X/u.json
                echo '{}' > RecordFS/private/K/Y/other.json
                recordfs sync
                """)
            let b = isRemote ? try account.machine() : nil
            let move =
                if let b {
                    """
                    recordfs --state \(b.folder)/.local/share/recordfs mv private/K/X/u private/K/\(target)
                    recordfs --state \(b.folder)/.local/share/recordfs sync
                    recordfs sync
                    """
                } else { "recordfs mv private/K/X/u private/K/\(target)" }
            if let b { #expect(try b.eventually("jq .a RecordFS/private/K/X/u.json", "1")) }
            // As a program does that keeps its file open.
            try a.ok(
                """
                exec 3<> RecordFS/private/K/X/u.json
                \(move)
                printf '{"a": 9,' >&3
                exec 3>&-
                """)
            let all = "cd RecordFS/private/K && cat X/[uv].json Y/u.json 2> /dev/null"
            #expect(try a.eventually(all, #"{"a": 9, "b": 1}"#))
            try a.ok("recordfs sync")
            if let b { #expect(try b.eventually(all, #"{"a": 9, "b": 1}"#)) }
        }
    }
}
