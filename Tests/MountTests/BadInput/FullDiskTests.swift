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
    }
}
