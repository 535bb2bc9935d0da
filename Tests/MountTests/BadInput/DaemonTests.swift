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

        @Test("a mount command that waits for a daemon when that is killed mends the mount")
        func killedUnderQuestion() throws {
            let mounted = try MountedStore()
            let file = "\(try mounted.makeType())/a.json"
            try SystemCall.writeFile(file, "{\"n\": 1}")
            let control = try FuseControl(mounted)
            try mounted.suspend()
            let mount = try Child(
                [try Executable.recordfs(), "mount", mounted.mountPoint],
                environment: ["RECORDFS_STATE": mounted.state])
            // Its question is with the kernel, and the daemon does not take it.
            let isAsking = MountTable.wait(
                seconds: 20,
                until: {
                    do {
                        return try control.hasWaiting()
                    } catch {
                        return false
                    }
                }, orUntil: { !mount.isRunning })
            #expect(isAsking)
            try mounted.kill()
            let result = try mount.wait()
            #expect(result.status == 0, "\(result)")
            #expect(try SystemCall.readText(file) == "{\"n\": 1}")
            try mounted.recordfs("unmount", mounted.mountPoint)
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

        @Test("a daemon that was stopped goes on with what waited for it")
        func stopped() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let pid = try #require(mounted.pid)
            try mounted.suspend()
            let writer = try Child([
                "python3", "-c", "import sys; open(sys.argv[1], 'w').write('{\"n\": 1}')",
                "\(folder)/a.json",
            ])
            #expect(throws: ChildFailure.self, "nobody answers") {
                try Child(["stat", "-f", mounted.mountPoint]).wait(seconds: 0.3)
            }
            kill(pid, SIGCONT)
            #expect(try writer.wait(seconds: 20).status == 0)
            #expect(try SystemCall.readText("\(folder)/a.json") == "{\"n\": 1}")
        }

        @Test("a connection that the kernel aborts ends the daemon and loses nothing saved")
        func abort() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            try SystemCall.writeFile("\(folder)/a.json", "{\"n\": 1}")
            try FuseControl(mounted).abort()
            #expect(try mounted.waitForDeath() < 128)
            try mounted.mount()
            #expect(try SystemCall.readText("\(folder)/a.json") == "{\"n\": 1}")
            #expect(try mounted.store.integrity() == "ok")
        }

        @Test("of many that create one name with O_EXCL one wins")
        func exclusiveRace() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let script = """
                import os, sys
                won = 0
                for n in range(50):
                    try:
                        fd = os.open(f'{sys.argv[1]}/r{n}.json', os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                        os.write(fd, b'{"winner": %s}' % sys.argv[2].encode())
                        os.close(fd)
                        won += 1
                    except FileExistsError:
                        pass
                print(won)
                """
            let racers = try (0..<4).map { try Child(["python3", "-c", script, folder, "\($0)"]) }
            let results = try racers.map { try $0.wait() }
            let wins = results.compactMap { Int($0.output.filter(\.isNumber)) }
            #expect(wins.reduce(0, +) == 50, "\(results)")
            #expect(try mounted.store.stems().count == 50)
            #expect(try mounted.store.count("history") == 50)
        }
    }
}

/// The kernel's control files of FUSE, mounted for as long as this lives.
private final class FuseControl {
    private let directory: String
    /// Those of the mount's connection.
    private let connection: String

    init(_ mounted: MountedStore) throws {
        let device = try succeed("stat", "-c", "%d", mounted.mountPoint)
        let number = try #require(Int(device.filter(\.isNumber)))
        directory = "\(mounted.outside)/control"
        connection = "\(directory)/\(number & 0xff | number >> 12 & 0xfff00)"
        try SystemCall.makeDirectory(directory)
        try succeed("mount", "-t", "fusectl", "none", directory)
    }

    deinit { MountTable.detach(directory) }

    /// Whether a call is with the kernel that the daemon has not answered.
    func hasWaiting() throws -> Bool {
        // Not by a read at an offset, which these files refuse.
        try !succeed("cat", "\(connection)/waiting").hasPrefix("0")
    }

    func abort() throws { try SystemCall.writeFile("\(connection)/abort", "1") }
}
