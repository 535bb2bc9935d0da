import Glibc
import TestSupport
import Testing

extension MountTests {
    /// Readers of what never comes, and the signals that end them.
    @Suite struct InterruptTests {
        @Test(
            "a reader of the events ends with its signal though no event comes",
            arguments: [SIGINT, SIGTERM, SIGKILL, SIGHUP])
        func cat(signal: Int32) throws {
            let mounted = try MountedStore()
            let events = "\(mounted.mountPoint)/.recordfs/events"
            let child = try Child(["cat", events])
            try waitForRead(of: child, events)
            child.signal(signal)
            #expect(try child.wait(seconds: 20).status == 128 + signal)
            try checkIsWhole(mounted)
        }

        @Test("a reader that handles its signal gets EINTR and can go on reading")
        func handler() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let events = "\(mounted.mountPoint)/.recordfs/events"
            let script = """
                import os, signal, sys
                class Rung(Exception): pass
                def ring(*_): raise Rung()
                signal.signal(signal.SIGUSR1, ring)
                file = os.open(sys.argv[1], os.O_RDONLY)
                try:
                    os.read(file, 65536)
                    print("no signal")
                except Rung:
                    print("interrupted", flush=True)
                print(os.read(file, 65536).decode())
                """
            let child = try Child(["python3", "-c", script, events])
            try waitForRead(of: child, events)
            child.signal(SIGUSR1)
            try wait(until: { child.outputSoFar.hasPrefix("interrupted\n") })
            try SystemCall.writeFile("\(folder)/news.json", "{\"n\": 1}")
            let result = try child.wait(seconds: 20)
            #expect(result.status == 0, "\(result)")
            #expect(result.output.contains("\"news\""), "\(result)")
        }

        @Test("a reader behind select or poll ends with its signal", arguments: ["select", "poll"])
        func waiting(call: String) throws {
            let mounted = try MountedStore()
            let events = "\(mounted.mountPoint)/.recordfs/events"
            let script = """
                import os, select, sys
                file = os.open(sys.argv[1], os.O_RDONLY)
                print("open", flush=True)
                while True:
                    if sys.argv[2] == "select":
                        select.select([file], [], [])
                    else:
                        poller = select.poll()
                        poller.register(file, select.POLLIN)
                        poller.poll()
                    os.read(file, 65536)
                """
            let child = try Child(["python3", "-c", script, events, call])
            try wait(until: { child.outputSoFar == "open\n" })
            child.signal(SIGTERM)
            #expect(try child.wait(seconds: 20).status == 128 + SIGTERM)
            try checkIsWhole(mounted)
        }

        @Test("a hundred readers that are killed leave the daemon as it was")
        func many() throws {
            let mounted = try MountedStore()
            let events = "\(mounted.mountPoint)/.recordfs/events"
            let readers = try (0..<100).map { _ in try Child(["cat", events]) }
            for reader in readers { try waitForRead(of: reader, events) }
            for reader in readers { reader.signal(SIGKILL) }
            for reader in readers { #expect(try reader.wait(seconds: 20).status == 128 + SIGKILL) }
            let metrics = try SystemCall.readText("\(mounted.mountPoint)/.recordfs/metrics")
            // The one handle is that of this very file.
            #expect(metrics.contains("recordfs_open_handles 0\n"), "\(metrics)")
            try checkIsWhole(mounted)
        }

        /// Until the child stands in read(2), or in poll(2), of the file.
        private func waitForRead(of child: Child, _ path: String) throws {
            try wait(until: {
                let stack = try? SystemCall.readText("/proc/\(child.pid)/syscall")
                return stack?.hasPrefix("0 ") == true
                    && (try? succeed("ls", "-l", "/proc/\(child.pid)/fd"))?.contains(path) == true
            })
        }

        private func wait(until isDone: () -> Bool) throws {
            let deadline = Deadline(seconds: 30)
            while !isDone() {
                guard !deadline.isOver else {
                    throw ChildFailure(description: "it did not come to that")
                }
                sched_yield()
            }
        }

        private func checkIsWhole(_ mounted: MountedStore) throws {
            let folder = try mounted.makeType()
            try SystemCall.writeFile("\(folder)/after.json", "{\"n\": 1}")
            #expect(try SystemCall.readText("\(folder)/after.json") == "{\"n\": 1}")
            try mounted.unmount()
        }
    }
}
