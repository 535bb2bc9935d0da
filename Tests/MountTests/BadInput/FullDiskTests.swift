import Glibc
import Testing

extension MountTests {
    @Suite struct FullDiskTests {
        @Test("on a full disk saves answer ENOSPC, lose nothing, and go on when there is space")
        func full() throws {
            let disk = try LoopFileSystem(kind: "ext4", megabytes: 48)
            let mounted = try MountedStore(state: "\(disk.directory)/state", patience: 300)
            let folder = try mounted.makeType()
            let pad = String(repeating: "x", count: 40_000)
            var saved: [String: String] = [:]
            var refusals = 0
            // Leave little room, so that the store meets the end of it within a few saves.
            let ballast = "\(disk.directory)/ballast"
            try succeed(
                "dd", "if=/dev/zero", "of=\(ballast)", "bs=1M",
                "count=\(max(0, disk.freeBytes / 1_048_576 - 4))", "status=none")
            for number in 0..<400 where refusals < 20 {
                let path = "\(folder)/r\(number).json"
                let text = "{\"n\": \(number), \"pad\": \"\(pad)\"}"
                let code = SystemCall.code { try SystemCall.writeFile(path, text) }
                if code == 0 {
                    saved[path] = text
                } else {
                    refusals += 1
                    #expect(code == ENOSPC, "save \(number)")
                }
            }
            #expect(refusals > 0, "the disk was never full")
            #expect(!saved.isEmpty)
            for (path, text) in saved { #expect(try SystemCall.readText(path) == text) }
            let scratch = "\(folder)/scratch"
            let code = SystemCall.code {
                try SystemCall.writeFile(scratch, [UInt8](repeating: 1, count: 9 << 20))
            }
            #expect(code == ENOSPC)
            // A disk that is full to the last block has no room for its name either.
            if SystemCall.exists(scratch) { try SystemCall.unlink(scratch) }

            try SystemCall.unlink(ballast)
            try SystemCall.writeFile("\(folder)/after.json", "{\"n\": 1}", sync: true)
            try mounted.remount()
            for (path, text) in saved { #expect(try SystemCall.readText(path) == text) }
            #expect(try SystemCall.readText("\(folder)/after.json") == "{\"n\": 1}")
            try FailpointTests.checkWhole(mounted, folder)
        }

        private static let chunk = [UInt8](repeating: 7, count: 64 << 10)
        private static let chunks = 8

        /// Writes as a program that hears of no error, and frees the disk before it closes.
        /// - Returns: whether a write failed, and what close has said.
        private func write(
            _ path: String, _ first: UInt8, free: () throws -> Void
        ) throws -> (failed: Bool, close: Int32) {
            let descriptor = try SystemCall.open(path, O_WRONLY | O_CREAT | O_TRUNC)
            var failed = false
            for number in 0..<Self.chunks {
                let chunk = [first + UInt8(number)] + Self.chunk
                if SystemCall.code({ try SystemCall.write(descriptor, chunk) }) != 0 {
                    failed = true
                }
            }
            try free()
            return (failed, SystemCall.code { try SystemCall.close(descriptor) })
        }

        @Test(
            "a file that could not take one of its writes is not saved when there is room at its close"
        )
        func everyWrite() throws {
            let disk = try LoopFileSystem(kind: "ext4", megabytes: 64)
            let mounted = try MountedStore(state: "\(disk.directory)/state", patience: 300)
            let folder = try mounted.makeType()
            try SystemCall.writeFile("\(folder)/r.json", "{\"n\": 1}", sync: true)
            let ballast = "\(disk.directory)/ballast"
            var (failures, saves) = (0, 0)
            var old: [UInt8]?
            for way in ["r@blob.bin", "tmp"] {
                for room in 0...(Self.chunks + 4) {
                    let bytes = room * Self.chunk.count
                    try succeed(
                        "bash", "-c",
                        """
                        dd if=/dev/zero of=\(ballast) bs=64K status=none 2> /dev/null
                        sync \(ballast); truncate -s -\(bytes) \(ballast); sync \(ballast)
                        """)
                    var (failed, said) = (false, Int32(0))
                    do {
                        (failed, said) = try write(
                            "\(folder)/\(way)", UInt8(room),
                            free: { try SystemCall.unlink(ballast) })
                    } catch {
                        // Not even its name had room.
                        try SystemCall.unlink(ballast)
                        failed = true
                        said = ENOSPC
                    }
                    if way == "tmp" {
                        said = SystemCall.code {
                            try SystemCall.rename("\(folder)/tmp", "\(folder)/r@blob.bin")
                        }
                    }
                    #expect((said != 0) == failed, "\(way) with room for \(room): \(said)")
                    failures += failed ? 1 : 0
                    saves += failed ? 0 : 1
                    let path = "\(folder)/r@blob.bin"
                    func content() throws -> [UInt8]? {
                        SystemCall.exists(path) ? try SystemCall.readFile(path) : nil
                    }
                    if failed {
                        // The kernel says a moment after close that nobody has the file open.
                        #expect(
                            MountTable.wait(
                                seconds: 10, until: { (try? content()) == old },
                                orUntil: { !mounted.isAlive }),
                            "\(way) with room for \(room)")
                    } else {
                        let now = try content()
                        #expect(now?.count == Self.chunks * (Self.chunk.count + 1))
                        #expect(now?.first == UInt8(room))
                        old = now
                    }
                }
            }
            #expect(failures > 4 && saves > 2, "\(failures) failures, \(saves) saves")
            try mounted.remount()
            try FailpointTests.checkWhole(mounted, folder)
        }
    }
}
