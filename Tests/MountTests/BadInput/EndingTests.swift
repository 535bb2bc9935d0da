import Glibc
import Testing

extension MountTests {
    /// A mount that is taken from its users: what they wrote is saved, the daemon ends, and the
    /// store can be mounted again.
    @Suite struct EndingTests {
        private static let text = "{\"n\": 1, \"s\": \"old\"}"

        private let mounted: MountedStore
        private let file: String

        init() throws {
            mounted = try MountedStore()
            file = "\(try mounted.makeType())/a.json"
            try SystemCall.writeFile(file, Self.text)
        }

        /// The daemon ends in good order in time, and a new one takes its place.
        private func expectEnd(by signal: Int32 = SIGTERM) throws {
            kill(try #require(mounted.pid), signal)
            #expect(try mounted.waitForDeath(seconds: 10) == 0)
            #expect(!MountTable.isMounted(mounted.mountPoint))
            try mounted.mount()
            #expect(try mounted.store.integrity() == "ok")
        }

        /// A program that has done the first part of its script and then stays as it is.
        private func user(_ script: String) throws -> Child {
            let child = try Child([
                "python3", "-u", "-c",
                "import mmap, os, signal, sys\n\(script)\nprint('ready')\nsignal.pause()", file,
            ])
            let isReady = MountTable.wait(
                seconds: 20, until: { child.outputSoFar.contains("ready") },
                orUntil: { !child.isRunning })
            try #require(isReady, "\(child.errorsSoFar)")
            return child
        }

        @Test(
            "SIGTERM, SIGINT and SIGHUP end a mount that has a file open",
            arguments: [SIGTERM, SIGINT, SIGHUP])
        func openFile(signal: Int32) throws {
            let held = try SystemCall.open(file, O_RDWR)
            defer { close(held) }
            try expectEnd(by: signal)
            #expect(SystemCall.code { try SystemCall.write(held, [0x20], at: 0) } != 0)
            #expect(try SystemCall.readText(file) == Self.text)
        }

        @Test("a working directory in the mount does not hold the daemon")
        func workingDirectory() throws {
            let child = try Child(["sleep", "600"], directory: "\(mounted.mountPoint)/private")
            try expectEnd()
            #expect(child.isRunning)
            #expect(try SystemCall.readText(file) == Self.text)
        }

        @Test("what an editor has written and not closed is saved")
        func dirtyRecord() throws {
            let held = try SystemCall.open(file, O_RDWR)
            defer { close(held) }
            try SystemCall.write(held, Array("{\"n\": 2, \"s\": \"new\"}".utf8), at: 0)
            try expectEnd()
            #expect(try mounted.store.savedText("a") == "{\"n\": 2, \"s\": \"new\"}")
            #expect(try mounted.store.drafts() == 0)
        }

        @Test("half of a text becomes a draft, and the record stays")
        func dirtyHalf() throws {
            let held = try SystemCall.open(file, O_WRONLY | O_TRUNC)
            defer { close(held) }
            try SystemCall.write(held, Array("{\"n\": ".utf8), at: 0)
            try expectEnd()
            #expect(try mounted.store.savedText("a") == Self.text)
            #expect(try mounted.store.draft("a")?.text == "{\"n\": ")
        }

        @Test("a large field that is being written is saved")
        func dirtyAsset() throws {
            let held = try SystemCall.open(
                file.replacing(".json", with: "@photo.jpg"), O_WRONLY | O_CREAT)
            defer { close(held) }
            try SystemCall.write(held, [UInt8](repeating: 7, count: 100_000), at: 0)
            try expectEnd()
            let photo = file.replacing(".json", with: "@photo.jpg")
            #expect(
                try SystemCall.readFile(photo) == [UInt8](repeating: 7, count: 100_000))
        }

        @Test(
            "what a program has written through a shared mapping is saved",
            arguments: ["pages.flush()", ""])
        func mapping(flush: String) throws {
            let child = try user(
                """
                f = open(sys.argv[1], 'r+b')
                pages = mmap.mmap(f.fileno(), 0)
                pages[15:18] = b'new'
                \(flush)
                """)
            try expectEnd()
            #expect(child.isRunning)
            let text = Self.text.replacing("old", with: "new")
            #expect(try mounted.store.savedText("a") == text)
        }

        @Test("so is a large field, all of it")
        func largeMapping() throws {
            let photo = file.replacing(".json", with: "@photo.jpg")
            try SystemCall.writeFile(photo, [UInt8](repeating: 7, count: 8_000_000))
            let child = try user(
                """
                f = open(sys.argv[1].replace('.json', '@photo.jpg'), 'r+b')
                pages = mmap.mmap(f.fileno(), 0)
                pages[:] = b'8' * 8000000
                """)
            try expectEnd()
            #expect(child.isRunning)
            let saved = try SystemCall.readFile(photo)
            #expect(saved.count == 8_000_000 && saved.allSatisfy { $0 == UInt8(ascii: "8") })
        }

        @Test("a reader of events sees the end of the stream")
        func events() throws {
            let script = """
                import os, sys
                stream = os.open(sys.argv[1], os.O_RDONLY)
                while line := os.read(stream, 65536): print(line.decode(), flush=True)
                print('the end')
                """
            let reader = try Child([
                "python3", "-c", script, "\(mounted.mountPoint)/.recordfs/events",
            ])
            let file = file
            // The first line shows that it reads; after it, it waits for the next one.
            var number = 0
            let isReading = MountTable.wait(
                seconds: 20,
                until: {
                    number += 1
                    do {
                        try SystemCall.writeFile(file, "{\"n\": \(number)}")
                    } catch {
                        return false
                    }
                    return reader.outputSoFar.contains("updated")
                }, orUntil: { !reader.isRunning })
            #expect(isReading)
            try expectEnd()
            let result = try reader.wait(seconds: 10)
            #expect(result.status == 0 && result.output.hasSuffix("the end\n"), "\(result)")
        }

        @Test("a lazy unmount from outside ends the daemon although a file is open")
        func detachedFromOutside() throws {
            let held = try SystemCall.open(file, O_RDWR)
            defer { close(held) }
            try SystemCall.write(held, Array("{\"n\": 2, \"s\": \"new\"}".utf8), at: 0)
            try succeed("fusermount3", "-uz", mounted.mountPoint)
            #expect(try mounted.waitForDeath(seconds: 10) == 0)
            try mounted.mount()
            #expect(try SystemCall.readText(file) == "{\"n\": 2, \"s\": \"new\"}")
        }

        @Test("after a lazy unmount status and doctor tell the truth, and mount works")
        func lazyUnmount() throws {
            let held = try SystemCall.open(file, O_RDWR)
            defer { close(held) }
            try SystemCall.write(held, Array("{\"n\": 2, \"s\": \"new\"}".utf8), at: 0)
            let refused = try mounted.recordfsResult(["unmount"])
            #expect(refused.status == 1 && refused.errors.contains("--lazy"), "\(refused)")
            try mounted.recordfs("unmount", "--lazy")
            #expect(try mounted.waitForDeath(seconds: 10) == 0)
            #expect(try mounted.recordfs("status").hasPrefix("Not mounted"))
            #expect(try mounted.recordfs("doctor").contains("daemon: none runs"))
            try mounted.recordfs("mount", mounted.mountPoint)
            #expect(try SystemCall.readText(file) == "{\"n\": 2, \"s\": \"new\"}")
            try mounted.recordfs("unmount")
        }

        @Test("a mount that is bound to another place too ends with the signal")
        func boundElsewhere() throws {
            let other = "\(mounted.outside)/bound"
            try SystemCall.makeDirectory(other)
            try succeed("mount", "--bind", "\(mounted.mountPoint)/private", other)
            defer { MountTable.detach(other) }
            try expectEnd()
            #expect(try SystemCall.readText(file) == Self.text)
        }
    }
}
