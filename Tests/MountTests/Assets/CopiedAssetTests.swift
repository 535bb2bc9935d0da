import Testing

extension MountTests {
    /// Tools bring records and their files in the order in which a directory was read.
    @Suite struct CopiedAssetTests {
        @Test(
            "an archive with a file before its record is unpacked, also over what is there",
            arguments: ["tar x", "tar x --overwrite"])
        func tar(_ command: String) throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            try SystemCall.writeFile(
                "\(mounted.outside)/a.json",
                "{\"t\": 1, \"p\": {\"$asset\": \"a@p.txt\"}}\n")
            try SystemCall.writeFile("\(mounted.outside)/a@p.txt", "one")
            try succeed(
                "tar", "cf", "t.tar", "a@p.txt", "a.json", directory: mounted.outside)
            for _ in 1...2 {
                try succeed(
                    "bash", "-c", "\(command) -f \(mounted.outside)/t.tar", directory: folder,
                    seconds: 60)
                #expect(try SystemCall.list(folder).sorted() == ["a.json", "a@p.txt"])
                #expect(try SystemCall.readText("\(folder)/a@p.txt") == "one")
                #expect(try SystemCall.readText("\(folder)/a.json").contains("\"t\": 1"))
                #expect(try mounted.store.drafts() == 0)
            }
        }
    }
}
