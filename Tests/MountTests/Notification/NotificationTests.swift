import Testing

extension MountTests {
    /// Changes that do not come through the mount reach those who watch it.
    @Suite struct NotificationTests {
        private static let path = "private/Kitchen/Recipe/x"

        /// A way to change a record behind the mount's back.
        enum Way: String, CaseIterable, Sendable {
            case commandLine, remote

            func save(_ mounted: MountedStore, _ number: Int) throws {
                let record = "{\"n\": \(number)}"
                switch self {
                case .commandLine:
                    try mounted.recordfs("put", NotificationTests.path, input: record)
                case .remote:
                    try mounted.recordfs(
                        "debug", "apply-remote",
                        input: """
                            {"path": "\(NotificationTests.path)", "record": \(record),
                             "changeTag": "t\(number)"}
                            """)
                }
            }

            func delete(_ mounted: MountedStore) throws {
                switch self {
                case .commandLine: try mounted.recordfs("rm", NotificationTests.path)
                case .remote:
                    try mounted.recordfs(
                        "debug", "apply-remote",
                        input: "{\"path\": \"\(NotificationTests.path)\", \"delete\": true}")
                }
            }
        }

        @Test("inotifywait sees records come, change and go", arguments: Way.allCases)
        func inotify(way: Way) throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let watcher = try Watcher(folder)
            try way.save(mounted, 1)
            try watcher.expect("CREATE x.json", "CLOSE_WRITE,CLOSE x.json")
            #expect(try number("\(folder)/x.json") == 1)
            try way.save(mounted, 2)
            try watcher.expect("CLOSE_WRITE,CLOSE x.json")
            #expect(try number("\(folder)/x.json") == 2)
            try way.delete(mounted)
            try watcher.expect("DELETE x.json")
            #expect(!SystemCall.exists("\(folder)/x.json"))
            #expect(try mounted.store.drafts() == 0)
        }

        @Test("inotifywait sees changes below a mountpoint with a space, too")
        func inotifyBelowSpace() throws {
            let mounted = try MountedStore(name: "my records")
            let watcher = try Watcher(try mounted.makeType())
            try Way.remote.save(mounted, 1)
            try watcher.expect("CREATE x.json", "CLOSE_WRITE,CLOSE x.json")
        }

        @Test("the notifier's own calls make no version and no upload")
        func touches() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let watcher = try Watcher(folder)
            try Way.remote.save(mounted, 1)
            try watcher.expect("CREATE x.json", "CLOSE_WRITE,CLOSE x.json")
            try Way.remote.save(mounted, 2)
            try watcher.expect("CLOSE_WRITE,CLOSE x.json")
            try SystemCall.syncDirectory(folder)
            #expect(try mounted.store.history("x").count == 2)
            #expect(try mounted.store.outbox("x") == 0)
        }

        @Test("recordfs mv and a rename through the mount are seen under both names")
        func move() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            try SystemCall.writeFile("\(folder)/x.json", "{\"n\": 1}")
            let watcher = try Watcher(folder)
            try mounted.recordfs("mv", Self.path, "private/Kitchen/Recipe/y")
            try watcher.expect("CREATE y.json", "DELETE x.json")
            #expect(try number("\(folder)/y.json") == 1)
            #expect(!SystemCall.exists("\(folder)/x.json"))
            try SystemCall.rename("\(folder)/y.json", "\(folder)/z.json")
            try watcher.expect("MOVED_FROM y.json", "MOVED_TO z.json")
        }

        @Test(
            "a reader keeps the version that it has opened, the next open has the new one",
            arguments: Way.allCases)
        func openFile(way: Way) throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let path = "\(folder)/x.json"
            try way.save(mounted, 1)
            let old = try SystemCall.readFile(path)
            let reader = try SystemCall.open(path, 0)
            defer { try? SystemCall.close(reader) }
            try way.save(mounted, 42)
            #expect(try SystemCall.read(reader, count: 100, at: 0) == old)
            let new = try SystemCall.readFile(path)
            #expect(String(decoding: new, as: UTF8.self).contains("42"))
            #expect(try SystemCall.status(path).size == new.count)
            #expect(try SystemCall.read(reader, count: 100, at: 0) == old)
        }

        @Test("tail -F shows what another writer appends")
        func tail() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            try Way.commandLine.save(mounted, 1)
            let tail = try Terminal(["tail", "-n", "+1", "-F", "\(folder)/x.json"])
            try tail.expect("1")
            try mounted.recordfs("put", Self.path, input: "{\"n\": 1,\n \"fresh\": 77}")
            try tail.expect("fresh", "77")
        }

        @Test("an open vim notices and reads the new text")
        func vim() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let file = "\(folder)/x.json"
            try SystemCall.writeFile(file, "{\"word\": \"early\"}\n")
            let vim = try Terminal(["vim", "-u", "NONE", "-c", "set nocp autoread", file])
            try vim.expect("early")
            try mounted.recordfs("put", Self.path, input: "{\"word\": \"later-text\"}\n")
            try vim.send(":checktime\r")
            try vim.expect("later-text")
            try vim.send(":qall!\r")
            _ = try vim.finish()
        }

        private func number(_ path: String) throws -> Int {
            let digits = try SystemCall.readText(path).filter(\.isNumber)
            return Int(digits) ?? -1
        }
    }
}
