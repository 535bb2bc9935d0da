import FuseKit
import Glibc
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2)))
struct ReplyTests {
    @Test("a file shows the bytes that the file system answers")
    func readsContent() throws {
        let mount = try TestMount(MemoryFileSystem(["hello": "world\n"]))
        #expect(try mount.cat("hello") == .init(status: 0, text: "world\n"))
    }

    @Test("a reply dropped without an answer gives the caller EIO")
    func droppedReply() throws {
        let mount = try TestMount(MemoryFileSystem(["dropped": "never"]))
        let output = try mount.cat("dropped")
        #expect(output.status == 1)
        #expect(output.text.hasSuffix("Input/output error\n"))
    }

    @Test("a kept reply that is dropped gives the caller EIO")
    func droppedPendingReply() throws {
        let mount = try TestMount(MemoryFileSystem(["stream": "never"]))
        let cat = try ChildProcess(["cat", mount.file("stream")])
        #expect(mount.fileSystem.log.waits(for: "read stream"))
        mount.fileSystem.waiting.withLock { $0 = [] }
        #expect(try cat.finish().text.hasSuffix("Input/output error\n"))
    }

    @Test(
        "a kept read is answered by another thread, and the only reading thread goes on meanwhile")
    func deferredRead() throws {
        let mount = try TestMount(
            MemoryFileSystem(["later": "slow", "other": "quick"]), threads: 1)
        let cat = try ChildProcess(["cat", mount.file("later")])
        #expect(mount.fileSystem.log.waits(for: "read later"))
        #expect(try mount.cat("other").text == "quick")
        let pending = try #require(mount.fileSystem.waiting.withLock { $0.popLast() })
        pending.take()?.send(Array("slow".utf8))
        #expect(pending.isTaken)
        #expect(try cat.finish() == .init(status: 0, text: "slow"))
    }

    @Test("a call that blocks its thread does not stop the others", arguments: ["cat", "sync"])
    func blockingCall(program: String) throws {
        let files = ["blocking": "slow", "other": "quick"]
        let mount = try TestMount(MemoryFileSystem(files), threads: 2)
        let child = try ChildProcess([program, mount.file("blocking")])
        let call = program == "cat" ? "read blocking" : "fsync false"
        #expect(mount.fileSystem.log.waits(for: call))
        #expect(try mount.cat("other").text == "quick")
        #expect(try mount.shell("ls | wc -l").text == "2\n")
        mount.fileSystem.gate.add("go")
        _ = try child.finish()
        #expect(try mount.cat("other").text == "quick")
    }

    @Test(
        "a caller that gets a signal while its read is kept is answered EINTR",
        arguments: [SIGTERM, SIGINT, SIGKILL])
    func interruptedRead(signal: Int32) throws {
        let mount = try TestMount(MemoryFileSystem(["stream": "never"]))
        let cat = try ChildProcess(["cat", mount.file("stream")])
        #expect(mount.fileSystem.log.waits(for: "read stream"))
        kill(cat.id, signal)
        #expect(mount.fileSystem.log.waits(for: "interrupted"))
        #expect(try cat.finish().status == -signal)
        let pending = try #require(mount.fileSystem.waiting.withLock { $0.popLast() })
        #expect(pending.isTaken)
    }

    @Test("an operation that is not implemented is answered, with ENOSYS or what stands for it")
    func notImplemented() throws {
        let mount = try TestMount(MemoryFileSystem(["a": ""]))
        let output = try mount.shell("mkdir folder; ln a b")
        #expect(output.text.contains("cannot create directory 'folder': Function not implemented"))
        #expect(output.text.contains("hard link 'b' => 'a': Operation not permitted"))
    }

    @Test("who waits in poll is woken when the file becomes ready")
    func pollWakesUp() throws {
        let mount = try TestMount(MemoryFileSystem(["events": ""]))
        let script = """
            import select, sys
            file = open(sys.argv[1])
            poller = select.poll()
            poller.register(file, select.POLLIN)
            print(len(poller.poll(20000)))
            """
        let child = try ChildProcess(["python3", "-c", script, mount.file("events")])
        #expect(mount.fileSystem.log.waits(for: "poll"))
        mount.fileSystem.set("events", "news")
        let pollers = mount.fileSystem.pollers.withLock { $0 }
        #expect(pollers.count == 1)
        for poller in pollers { poller.notify() }
        #expect(try child.finish() == .init(status: 0, text: "1\n"))
    }

    @Test("an error describes itself in the words of the system")
    func errorDescription() {
        #expect(Errno.ENOSPC.description == "No space left on device")
        #expect(Errno(99_999).description == "Unknown error 99999")
    }
}

extension PendingReply {
    /// Whether somebody else has answered; answers EIO otherwise.
    fileprivate var isTaken: Bool {
        guard let reply = take() else { return true }
        reply.fail(.EIO)
        return false
    }
}
