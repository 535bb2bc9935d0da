import Glibc
import Testing

extension MountTests {
    /// A store on a disk that cannot be written.
    @Suite struct ReadOnlyMediaTests {
        private static let text = "{\"n\": 1}\n"

        /// A store on a disk of its own, unmounted in good order or killed, and the disk read-only.
        private func store(killed: Bool) throws -> (LoopFileSystem, String) {
            let disk = try LoopFileSystem(kind: "ext4", megabytes: 40)
            let state = "\(disk.directory)/state"
            let mounted = try MountedStore(state: state)
            let folder = try mounted.makeType()
            try SystemCall.writeFile("\(folder)/a.json", Self.text, sync: true)
            try SystemCall.writeFile("\(folder)/a@photo.jpg", "bytes of it", sync: true)
            if killed {
                try mounted.kill()
                MountTable.detach(mounted.mountPoint)
            } else {
                try mounted.unmount()
            }
            try succeed("mount", "-o", "remount,ro", disk.directory)
            return (disk, state)
        }

        private func expectReadable(_ state: String) throws {
            let home = try CommandLineHome()
            let name = "private/Kitchen/Recipe/a"
            let got = try home.recordfs("get", "--state", state, name)
            #expect(got.status == 0 && got.output.contains("\"n\": 1"), "\(got)")
            let asset = try home.recordfs("get", "--state", state, "\(name)@photo")
            #expect(asset.output == "bytes of it", "\(asset)")
            let listed = try home.recordfs("ls", "--state", state, "private/Kitchen/Recipe")
            #expect(listed.output.contains("a"), "\(listed)")
            for command in [["status"], ["fsck"], ["fsck", "--deep"]] {
                let result = try finish(
                    [try Executable.recordfs()] + command + ["--state", state],
                    environment: home.environment)
                #expect(result.status == 0, "\(command): \(result)")
            }
        }

        @Test("get, ls, status, fsck and a read-only mount work where nothing can be written")
        func readable() throws {
            let (disk, state) = try store(killed: false)
            try expectReadable(state)
            let mounted = try MountedStore(options: ["--read-only"], state: state)
            let folder = "\(mounted.mountPoint)/private/Kitchen/Recipe"
            #expect(try SystemCall.readText("\(folder)/a.json").contains("\"n\": 1"))
            #expect(try SystemCall.readText("\(folder)/a@photo.jpg") == "bytes of it")
            #expect(SystemCall.code { try SystemCall.writeFile("\(folder)/b.json", "{}") } == EROFS)
            #expect(SystemCall.code { try SystemCall.unlink("\(folder)/a.json") } == EROFS)
            try mounted.unmount()
            #expect(disk.freeBytes > 0)
        }

        @Test("what a killed daemon has left in the log is read too")
        func killed() throws {
            let (disk, state) = try store(killed: true)
            try expectReadable(state)
            #expect(disk.freeBytes > 0)
        }

        @Test("a log that cannot be read there is refused with advice, never passed over")
        func logAlone() throws {
            let (disk, state) = try store(killed: true)
            try succeed("mount", "-o", "remount,rw", disk.directory)
            try SystemCall.unlink("\(state)/store.sqlite-shm")
            try succeed("mount", "-o", "remount,ro", disk.directory)
            let home = try CommandLineHome()
            let got = try home.recordfs("get", "--state", state, "private/Kitchen/Recipe/a")
            #expect(got.status != 0)
            #expect(got.errors.contains("Copy \(state)"), "\(got)")
        }

        @Test("a mount that would write is refused and names --read-only")
        func writable() throws {
            let (disk, state) = try store(killed: false)
            let home = try CommandLineHome()
            let result = try home.recordfs("mount", "--state", state, "\(home.folder)/mnt")
            #expect(result.status != 0)
            #expect(result.errors.contains("--read-only"), "\(result)")
            #expect(disk.freeBytes > 0)
        }
    }
}
