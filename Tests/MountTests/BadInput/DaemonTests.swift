import Glibc
import Testing

extension MountTests {
    /// What happens to the daemon from outside.
    @Suite struct DaemonTests {
        @Test("mount returns when the mount answers, and unmount leaves nothing")
        func background() throws {
            let mounted = try MountedStore()
            try mounted.unmount()
            try mounted.recordfs("mount", mounted.mountPoint)
            #expect(SystemCall.exists("\(mounted.mountPoint)/private"))
            try mounted.recordfs("unmount", mounted.mountPoint)
            #expect(!MountTable.isMounted(mounted.mountPoint))
            #expect(try SystemCall.list(mounted.mountPoint) == [])
        }

        @Test("a second daemon on the same store is refused with the first one's process id")
        func locked() throws {
            let mounted = try MountedStore()
            let other = "\(mounted.folder)/other"
            try SystemCall.makeDirectory(other)
            let result = try mounted.recordfsResult([
                "mount", "--foreground", "--state", mounted.state, other,
            ])
            #expect(result.status != 0)
            #expect(result.errors.contains("\(mounted.pid ?? 0)"), "\(result)")
        }

        @Test(
            "SIGTERM and SIGINT unmount and finish what waits", arguments: [SIGTERM, SIGINT])
        func terminate(signal: Int32) throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            try SystemCall.writeFile("\(folder)/a.json", "{\"n\": 1}")
            try SystemCall.writeFile("\(folder)/b.json", "{\"n\": 1}")
            try SystemCall.unlink("\(folder)/b.json")
            let pid = try #require(mounted.pid)
            kill(pid, signal)
            #expect(try mounted.waitForDeath() == 0)
            #expect(!MountTable.isMounted(mounted.mountPoint))
            #expect(try mounted.store.stems() == ["a"])
            #expect(try mounted.store.trash() == 1)
            #expect(try mounted.store.count("record WHERE waiting_since IS NOT NULL") == 0)
        }

        @Test("a stale mount of a killed daemon is healed by the next one")
        func stale() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            try SystemCall.writeFile("\(folder)/a.json", "{\"n\": 1}")
            try mounted.kill()
            #expect(SystemCall.code { _ = try SystemCall.status(folder) } == ENOTCONN)
            try mounted.mount()
            #expect(try SystemCall.readText("\(folder)/a.json") == "{\"n\": 1}")
            #expect(MountTable.points(below: mounted.folder) == [mounted.mountPoint])
        }

        @Test("a lazy unmount from outside ends the daemon in good order")
        func lazyUnmount() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            try SystemCall.writeFile("\(folder)/a.json", "{\"n\": 1}")
            try succeed("fusermount3", "-uz", mounted.mountPoint)
            #expect(try mounted.waitForDeath() == 0)
            try mounted.mount()
            #expect(try SystemCall.readText("\(folder)/a.json") == "{\"n\": 1}")
        }

        @Test("inode numbers are stable over remounts")
        func inodes() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            for number in 0..<20 {
                try SystemCall.writeFile("\(folder)/r\(number).json", "{\"n\": \(number)}")
            }
            let paths = [folder] + (0..<20).map { "\(folder)/r\($0).json" }
            let before = try paths.map { try SystemCall.status($0).inode }
            try mounted.remount()
            #expect(try paths.map { try SystemCall.status($0).inode } == before)
            #expect(Set(before).count == before.count)
        }

        @Test("few descriptors are enough to go on")
        func descriptors() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let pid = try #require(mounted.pid)
            try succeed("prlimit", "--pid", "\(pid)", "--nofile=64:64")
            for number in 0..<200 {
                let file = "\(folder)/r\(number).json"
                try SystemCall.writeFile(file, "{\"n\": \(number)}")
                try SystemCall.writeFile("\(folder)/scratch\(number)", "x")
            }
            #expect(mounted.isAlive)
            #expect(try mounted.store.stems().count == 200)
        }
    }
}
