import Testing

extension MountTests {
    @Suite struct TopTests {
        @Test("top shows what changes while it runs, and leaves a pipe after one look")
        func follows() throws {
            let home = try CommandLineHome()
            try home.ok(
                """
                recordfs mount > /dev/null
                mkdir -p RecordFS/private/Box/Note
                echo '{"n": 1}' > RecordFS/private/Box/Note/first.json
                """)
            let once = try home.shell("recordfs top")
            #expect(once.output.contains("Mounted at \(home.folder)/RecordFS"), "\(once)")
            #expect(once.output.contains("created   private/Box/Note/first.json"), "\(once)")
            #expect(!once.output.contains("\u{1B}"))
            let top = try Terminal(
                [try Executable.recordfs(), "top"], environment: home.environment,
                directory: home.folder)
            try top.expect("first.json")
            try home.ok("echo '{\"n\": 1}' > RecordFS/private/Box/Note/second.json")
            try top.expect("second.json")
            try home.ok("echo '{\"n\": ' > RecordFS/private/Box/Note/first.json; true")
            try home.ok("rm RecordFS/private/Box/Note/second.json; recordfs unmount")
            try top.expect("Not mounted")
            try top.expect("deleted   private/Box/Note/second.json")
            try top.send("\u{3}")
            #expect(try top.finish().status != 0)
        }
    }
}
