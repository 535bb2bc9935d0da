import Glibc
import Testing

extension MountTests {
    /// The kernel remembers which names are not there: whoever makes one otherwise takes it back.
    @Suite struct AbsenceTests {
        private func expectAbsent(_ path: String) {
            #expect(SystemCall.code { _ = try SystemCall.status(path) } == ENOENT)
            #expect(SystemCall.code { _ = try SystemCall.readText(path) } == ENOENT)
        }

        @Test("a record that comes beside the mount appears under a name that was looked for")
        func beside() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            for number in 0..<20 {
                expectAbsent("\(folder)/n\(number).json")
                try mounted.recordfs(
                    "put", "private/Kitchen/Recipe/n\(number)", input: "{\"n\": 1}")
                #expect(try SystemCall.readText("\(folder)/n\(number).json") == "{\"n\": 1}")
            }
            for number in 20..<40 { expectAbsent("\(folder)/n\(number).json") }
            let rows = (20..<40).map { "{\"$name\": \"n\($0)\", \"n\": 2}\n" }.joined()
            try SystemCall.writeFile("\(mounted.outside)/rows.ndjson", rows)
            try mounted.recordfs(
                "import", "\(mounted.outside)/rows.ndjson", "private/Kitchen/Recipe")
            for number in 20..<40 { #expect(SystemCall.exists("\(folder)/n\(number).json")) }
        }

        @Test("a record that was removed and is restored appears again")
        func restored() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let file = "\(folder)/a.json"
            try SystemCall.writeFile(file, "{\"n\": 1}")
            try SystemCall.unlink(file)
            expectAbsent(file)
            try mounted.recordfs("restore", "private/Kitchen/Recipe/a")
            #expect(try SystemCall.readText(file) == "{\"n\": 1}")
            try SystemCall.unlink(file)
            expectAbsent(file)
            try SystemCall.syncDirectory(folder)
            expectAbsent(file)
            try SystemCall.rename(
                "\(mounted.mountPoint)/.recordfs/trash/private/Kitchen/Recipe/a.json", file)
            #expect(try SystemCall.readText(file) == "{\"n\": 1}")
        }

        @Test("the draft of a refused rename appears under a name that was looked for")
        func refusedRename() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            for number in 0..<50 {
                let file = "\(folder)/n\(number).json"
                expectAbsent(file)
                try SystemCall.writeFile("\(folder)/tmp", "{bad")
                #expect(SystemCall.code { try SystemCall.rename("\(folder)/tmp", file) } == EPROTO)
                // The kernel hears of it when the rename, which holds the directory, is over.
                #expect(
                    MountTable.wait(
                        seconds: 10, until: { SystemCall.exists(file) },
                        orUntil: { !mounted.isAlive }))
                #expect(try SystemCall.readText(file) == "{bad")
            }
        }
    }
}
