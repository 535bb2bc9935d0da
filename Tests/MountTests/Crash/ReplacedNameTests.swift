import Glibc
import Testing

extension MountTests {
    /// A record is removed, its name is made anew, and the daemon dies before the first save.
    @Suite struct ReplacedNameTests {
        private static let old = "{\"n\": 1}\n"

        private func expectGone(
            _ how: String, _ replace: (_ folder: String, _ path: String) throws -> Int32
        ) throws {
            let mounted = try MountedStore()
            var folder = try mounted.makeType()
            try SystemCall.writeFile("\(folder)/A.json", Self.old, sync: true)
            let file = try replace(folder, "\(folder)/A.json")
            try mounted.kill()
            close(file)
            try mounted.mount()
            folder = "\(mounted.mountPoint)/private/Kitchen/Recipe"
            let shown = try FailpointTests.shown("\(folder)/A.json")
            #expect(shown == .absent, "\(how)")
            try FailpointTests.checkWhole(mounted, folder)
        }

        @Test("rm and an open for writing, then a kill: the old text does not come back")
        func removed() throws {
            try expectGone("rm, create") { _, path in
                try SystemCall.unlink(path)
                return try SystemCall.open(path, O_WRONLY | O_CREAT | O_TRUNC)
            }
        }

        @Test("a record renamed to a backup and made anew, then a kill: the backup has the text")
        func backedUp() throws {
            try expectGone("mv, create") { _, path in
                try SystemCall.rename(path, path + "~")
                return try SystemCall.open(path, O_WRONLY | O_CREAT | O_TRUNC)
            }
        }

        @Test("rm and text that no close has saved, then a kill: the old text does not come back")
        func written() throws {
            try expectGone("rm, create, write") { _, path in
                try SystemCall.unlink(path)
                let file = try SystemCall.open(path, O_WRONLY | O_CREAT | O_TRUNC)
                try SystemCall.write(file, Array("{\"n\": 2}".utf8))
                return file
            }
        }
    }
}
