import FuseKit
import Testing

/// Every answer holds for an hour, so what changes without the kernel shows only by notification.
@Suite(.timeLimit(.minutes(2)))
struct CacheTests {
    @Test("invalidating a node makes its new content and size visible")
    func invalidateInode() throws {
        let mount = try TestMount(MemoryFileSystem(["a": "old"]))
        #expect(try mount.cat("a").text == "old")
        // The same length: a getattr, which the kernel sends for the access time, drops no pages.
        mount.fileSystem.set("a", "new")
        #expect(try mount.cat("a").text == "old")
        mount.session.notifier.invalidateInode(mount.fileSystem.node("a"))
        #expect(mount.drainNotifier())
        #expect(try mount.cat("a").text == "new")
        mount.fileSystem.set("a", "brand new")
        mount.session.notifier.invalidateInode(mount.fileSystem.node("a"))
        #expect(mount.drainNotifier())
        #expect(try mount.cat("a").text == "brand new")
    }

    @Test("invalidating a name makes a file visible that was believed not to exist")
    func invalidateEntry() throws {
        let mount = try TestMount()
        #expect(try mount.cat("a").status == 1)
        mount.fileSystem.set("a", "here")
        #expect(try mount.cat("a").status == 1)
        #expect(mount.fileSystem.log.count("lookup a") == 1)
        mount.session.notifier.invalidateEntry(parent: .root, name: FileName("a"))
        #expect(mount.drainNotifier())
        #expect(try mount.cat("a").text == "here")
    }

    @Test("a name notified as deleted is gone")
    func delete() throws {
        let mount = try TestMount(MemoryFileSystem(["a": "here"]))
        #expect(try mount.shell("test -e a").status == 0)
        let node = mount.fileSystem.node("a")
        mount.fileSystem.remove("a")
        #expect(try mount.shell("test -e a").status == 0)
        mount.session.notifier.delete(parent: .root, child: node, name: FileName("a"))
        #expect(mount.drainNotifier())
        #expect(try mount.shell("test -e a").status == 1)
    }

    @Test("notifications and work keep their order")
    func order() throws {
        let mount = try TestMount()
        let log = CallLog()
        for number in 0..<200 {
            mount.session.notifier.invalidateInode(NodeID(UInt64(number + 2)))
            mount.session.notifier.perform { log.add("\(number)") }
        }
        #expect(log.waits(for: "199"))
        #expect(log.all == (0..<200).map { "\($0)" })
    }

    @Test("the notifier may make calls through its own mount")
    func touchFromNotifier() throws {
        let mount = try TestMount(MemoryFileSystem(["a": "here"]))
        let path = mount.file("a")
        let log = CallLog()
        mount.session.notifier.perform {
            do { log.add(try ChildProcess.run("cat", path).text) } catch { log.add("\(error)") }
        }
        #expect(log.waits(for: "here"))
    }

    @Test("a directory of 5 000 files is listed whole, once each")
    func longListing() throws {
        let fileSystem = MemoryFileSystem(files: 5000)
        let mount = try TestMount(fileSystem)
        #expect(try mount.shell("ls -U | sort -u | wc -l; ls -U | wc -l").text == "5000\n5000\n")
        #expect(try mount.shell("find . -type f | wc -l").text == "5000\n")
    }

    @Test("ls, and then ls -l, look up no file: a listing brings their attributes along")
    func listingThenAttributes() throws {
        let fileSystem = MemoryFileSystem(files: 500)
        let mount = try TestMount(fileSystem)
        #expect(try mount.shell("ls | wc -l; ls -l | grep -c file-").text == "500\n500\n")
        #expect(fileSystem.log.count("readdirplus") > 0)
        #expect(fileSystem.log.count("lookup") == 0)
    }

    @Test("a listing continues after its cursor while the entries before it go")
    func stableCursor() throws {
        let fileSystem = MemoryFileSystem(files: 3000)
        let mount = try TestMount(fileSystem)
        let script = """
            names = []
            with os.scandir('.') as listing:
                for entry in listing:
                    names.append(entry.name)
                    os.unlink(entry.name)
            print(len(names), len(set(names)), len(os.listdir('.')))
            """
        #expect(try mount.python(script).text == "3000 3000 0\n")
    }

    @Test("a kept listing is not asked for again until an entry changes")
    func cachedListing() throws {
        let mount = try TestMount(MemoryFileSystem(["a": "", "b": ""]))
        #expect(try mount.shell("ls").text == "a\nb\n")
        mount.fileSystem.log.clear()
        #expect(try mount.shell("ls").text == "a\nb\n")
        #expect(mount.fileSystem.log.count("readdir") == 0)
        mount.fileSystem.set("c", "")
        mount.session.notifier.invalidateInode(.root)
        #expect(mount.drainNotifier())
        #expect(try mount.shell("ls").text == "a\nb\nc\n")
    }
}
