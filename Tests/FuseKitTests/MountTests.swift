import FuseKit
import Glibc
import Testing

@Suite(.timeLimit(.minutes(2)))
struct MountLifeTests {
    private static let options = MountOptions(source: "fusekit-test", subtype: "memory")

    private func error(mounting path: String, says words: String = "") -> MountError.Code? {
        let session = Session(
            fileSystem: MemoryFileSystem(), mountpoint: path, options: Self.options)
        do {
            try session.mount()
            return nil
        } catch {
            #expect(error.message.contains(path) && error.message.hasSuffix(words))
            return error.code
        }
    }

    @Test("unmounting ends run, with any number of reading threads", arguments: [1, 2, 5])
    func unmountEndsRun(threads: Int) throws {
        let mount = try TestMount(MemoryFileSystem(["a": "1"]), threads: threads)
        #expect(try mount.cat("a").text == "1")
        #expect(MountPoint.isMounted(mount.path))
        try mount.session.unmount()
        #expect(mount.runEnded())
        #expect(mount.fileSystem.log.all.last == "destroy")
        #expect(!MountPoint.isMounted(mount.path))
    }

    @Test("an unmount by somebody else ends run")
    func unmountFromOutside() throws {
        let mount = try TestMount()
        #expect(try ChildProcess.run("fusermount3", "-u", mount.path).status == 0)
        #expect(mount.runEnded())
    }

    @Test("a mount in use is not unmounted but when asked to be lazy")
    func busy() throws {
        let mount = try TestMount(MemoryFileSystem(["stream": "1"]))
        let reader = try ChildProcess(["cat", mount.file("stream")])
        #expect(mount.fileSystem.log.waits(for: "read stream"))
        #expect(throws: MountError.self) { try mount.session.unmount() }
        try mount.session.unmount(lazy: true)
        #expect(!MountPoint.isMounted(mount.path))
        kill(reader.id, SIGKILL)
        _ = try reader.finish()
        #expect(mount.runEnded())
    }

    @Test("a stopped session ends although it is in use, and its users get errors")
    func stop() throws {
        let mount = try TestMount(MemoryFileSystem(["stream": "1"]))
        let reader = try ChildProcess(["cat", mount.file("stream")])
        #expect(mount.fileSystem.log.waits(for: "read stream"))
        mount.session.stop()
        #expect(mount.runEnded())
        #expect(!MountPoint.isMounted(mount.path))
        #expect(try reader.finish().status != 0)
    }

    @Test("a detached session that is stopped leaves what is mounted at its place by now")
    func stopBelowAnother() throws {
        let first = try TestMount()
        let held = open(first.path, O_RDONLY | O_DIRECTORY)
        defer { close(held) }
        try first.session.unmount(lazy: true)
        #expect(!first.session.isMounted)
        let second = Session(
            fileSystem: MemoryFileSystem(), mountpoint: first.path, options: Self.options)
        try second.mount()
        #expect(throws: MountError.self) { try first.session.unmount(lazy: true) }
        first.session.stop()
        #expect(first.runEnded())
        #expect(MountPoint.isMounted(first.path) && second.isMounted)
    }

    @Test("a session that never ran unmounts when it goes")
    func neverRun() throws {
        let path = try TestFolder.make()
        defer { rmdir(path) }
        do {
            let session = Session(
                fileSystem: MemoryFileSystem(), mountpoint: path, options: Self.options)
            try session.mount()
            #expect(MountPoint.isMounted(path))
        }
        #expect(!MountPoint.isMounted(path))
    }

    @Test("a session whose guard cannot be started says so, and leaves no mount")
    func noGuard() throws {
        let path = try TestFolder.make()
        defer { rmdir(path) }
        // The kernel takes no argument of a program that is so long.
        let session = Session(
            fileSystem: MemoryFileSystem(), mountpoint: path, options: Self.options,
            guardProgram: [String(repeating: "x", count: 1 << 20)])
        try session.mount()
        let error = #expect(throws: MountError.self) { try session.run() }
        #expect(error?.message.contains("could not start a process") == true)
        #expect(!MountPoint.isMounted(path))
    }

    @Test("what cannot be mounted on is refused with its reason")
    func refusedMountpoints() throws {
        let path = try TestFolder.make()
        defer { _ = try? ChildProcess.run("rm", "-r", path) }
        #expect(error(mounting: path + "/none", says: "make it first") == .mountpointMissing)
        #expect(try ChildProcess.run("touch", path + "/file").status == 0)
        #expect(error(mounting: path + "/file") == .notDirectory)
        #expect(error(mounting: path) == .notEmpty)
        let mount = try TestMount()
        #expect(error(mounting: mount.path) == .alreadyMounted)
    }

    @Test("unmounting what is not mounted says so")
    func notMounted() throws {
        let path = try TestFolder.make()
        defer { rmdir(path) }
        do {
            try MountPoint.unmount(path)
            Issue.record("nothing was mounted")
        } catch {
            #expect(error.code == .notMounted)
        }
    }

    @Test("a mount whose process has died is seen as stale, refused, and can be unmounted")
    func stale() throws {
        let path = try TestFolder.make()
        defer { rmdir(path) }
        // fusermount3 hands the connection to a program that ends at once.
        let script = """
            import os, socket, subprocess, sys
            ours, theirs = socket.socketpair()
            subprocess.run(['fusermount3', '-o', 'fsname=stale', '--', sys.argv[1]], check=True,
                pass_fds=[theirs.fileno()], env={**os.environ, '_FUSE_COMMFD': str(theirs.fileno())})
            socket.recv_fds(ours, 1, 1)
            """
        #expect(try ChildProcess.run("python3", "-c", script, path) == .init(status: 0, text: ""))
        #expect(MountPoint.isStale(path))
        #expect(error(mounting: path) == .stale)
        try MountPoint.unmount(path)
        #expect(!MountPoint.isStale(path))
        #expect(!MountPoint.isMounted(path))
    }

    @Test("options with commas reach the mount table whole")
    func escapedOptions() throws {
        let path = try TestFolder.make()
        defer { rmdir(path) }
        let session = Session(
            fileSystem: MemoryFileSystem(), mountpoint: path,
            options: MountOptions(source: "a,b", subtype: "memory"))
        try session.mount()
        let table = try ChildProcess.run("findmnt", "-n", "-o", "SOURCE,FSTYPE", path)
        #expect(table.text.split(separator: " ").first == "a,b")
        #expect(table.text.contains("fuse.memory"))
    }
}
