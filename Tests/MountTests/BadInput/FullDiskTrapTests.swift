import Dispatch
import Glibc
import TestSupport
import Testing

extension MountTests {
    /// A disk without a free byte: what frees space works, and so do mount and unmount.
    @Suite struct FullDiskTrapTests {
        private static let pad = String(repeating: "x", count: 40_000)
        private static func text(_ number: Int) -> String {
            "{\"n\": \(number), \"p\": \"\(pad)\"}"
        }

        /// Makes a disk of 40 MB and on it a store with so many records, in a directory of one type.
        private func makeStore(
            records: Int
        ) throws -> (disk: LoopFileSystem, mounted: MountedStore, folder: String) {
            let disk = try LoopFileSystem(kind: "ext4", megabytes: 40)
            let mounted = try MountedStore(state: "\(disk.directory)/state", patience: 300)
            let folder = try mounted.makeType()
            for number in 0..<records {
                try SystemCall.writeFile("\(folder)/r\(number).json", Self.text(number))
            }
            return (disk, mounted, folder)
        }

        /// Writes to a file until not a byte more goes onto the disk.
        private func fill(_ path: String) throws {
            let file = try SystemCall.open(path, O_WRONLY | O_CREAT | O_APPEND)
            for size in [1 << 20, 1 << 16, 4096, 512, 1] {
                while SystemCall.code({
                    try SystemCall.write(file, [UInt8](repeating: 1, count: size))
                }) == 0 {}
            }
            try SystemCall.close(file)
        }

        /// Whether the disk has no room for one of these records.
        private func meetsFullDisk(in folder: String, _ numbers: Range<Int>) -> Bool {
            numbers.contains { number in
                SystemCall.code {
                    try SystemCall.writeFile("\(folder)/r\(number).json", Self.text(number))
                } == ENOSPC
            }
        }

        @Test("a save that a full disk refuses leaves the reserve to what frees space")
        func refusedSaves() throws {
            let (disk, mounted, folder) = try makeStore(records: 60)
            let reserve = try SystemCall.open("\(mounted.state)/reserve", O_RDONLY)
            try fill("\(disk.directory)/ballast")
            #expect(meetsFullDisk(in: folder, 100..<500))
            #expect(meetsFullDisk(in: folder, 500..<900))
            var status = stat()
            #expect(fstat(reserve, &status) == 0 && status.st_nlink == 1, "it was given away")
            try SystemCall.close(reserve)
            try SystemCall.unlink("\(disk.directory)/ballast")
        }

        @Test("on a disk without a free byte assets, trash and empty directories can be removed")
        func removals() throws {
            let (disk, mounted, folder) = try makeStore(records: 4)
            let empty = try mounted.makeType("private/Empty/Type")
            func path(_ number: Int) -> String { "\(folder)/r\(number).json" }
            try SystemCall.writeFile("\(folder)/r0@photo.jpg", "bytes")
            try SystemCall.unlink(path(1))
            try SystemCall.syncDirectory(folder)
            let trashed = "\(mounted.mountPoint)/.recordfs/trash/private/Kitchen/Recipe/r1.json"
            #expect(SystemCall.exists(trashed))
            let ballast = "\(disk.directory)/ballast"
            try fill(ballast)
            #expect(meetsFullDisk(in: folder, 100..<600))
            try fill(ballast)
            let removals: [(String, () throws -> Void)] = [
                ("asset", { try SystemCall.unlink("\(folder)/r0@photo.jpg") }),
                ("trash", { try SystemCall.unlink(trashed) }),
                ("type", { try SystemCall.removeDirectory(empty) }),
            ]
            for (what, remove) in removals {
                #expect(SystemCall.code { try remove() } == 0, "\(what)")
            }
            // With room again what could not be saved is saved before the end.
            try SystemCall.unlink(ballast)
            try mounted.remount()
            #expect(!SystemCall.exists("\(folder)/r0@photo.jpg") && !SystemCall.exists(empty))
            #expect(!SystemCall.exists(trashed))
            try FailpointTests.checkWhole(mounted, folder)
        }

        @Test("a removal has the reserve for itself while saves are refused beside it")
        func removalsBesideSaves() throws {
            let (disk, mounted, folder) = try makeStore(records: 20)
            for number in 0..<20 {
                try SystemCall.writeFile("\(folder)/r\(number)@photo.jpg", "bytes")
            }
            let ballast = "\(disk.directory)/ballast"
            try fill(ballast)
            #expect(meetsFullDisk(in: folder, 100..<600))
            let isEnded = Locked(false)
            let savers = DispatchGroup()
            for saver in 0..<2 {
                DispatchQueue(label: "saver.\(saver)").async(group: savers) {
                    while !isEnded.value {
                        _ = SystemCall.code {
                            try SystemCall.writeFile("\(folder)/s\(saver).json", Self.text(saver))
                        }
                    }
                }
            }
            for number in 0..<20 {
                try fill(ballast)
                let code = SystemCall.code {
                    try SystemCall.unlink("\(folder)/r\(number)@photo.jpg")
                }
                #expect(code == 0, "photo \(number)")
            }
            isEnded.set(true)
            savers.wait()
            try SystemCall.unlink(ballast)
            try mounted.unmount()
        }

        @Test("on a disk without a free byte rm, draft discard, unmount, mount and fsck work")
        func trap() throws {
            let (disk, mounted, folder) = try makeStore(records: 60)
            func path(_ number: Int) -> String { "\(folder)/r\(number).json" }
            _ = SystemCall.code { try SystemCall.writeFile("\(folder)/bad.json", "{") }
            let log = try SystemCall.status("\(mounted.state)/store.sqlite-wal").size
            #expect(log < 8 << 20, "the log has \(log) bytes of a disk of 40 MB")
            let ballast = "\(disk.directory)/ballast"
            try fill(ballast)

            // What the log's file and the database have free takes some more.
            #expect(meetsFullDisk(in: folder, 100..<500))
            try SystemCall.unlink(path(0))
            try SystemCall.unlink(path(1))
            try SystemCall.syncDirectory(folder)
            try mounted.recordfs("rm", "private/Kitchen/Recipe/r2")
            try mounted.recordfs("draft", "discard", "private/Kitchen/Recipe/bad")
            try mounted.recordfs("fsck", "--deep")
            try mounted.recordfs("fsck", "--repair")

            try fill(ballast)
            try SystemCall.unlink(path(3))
            try mounted.unmount()
            try fill(ballast)
            let type = "private/Kitchen/Recipe"
            #expect(try mounted.recordfs("get", "\(type)/r5") == Self.text(5))
            #expect(try mounted.recordfs("history", "\(type)/r5").contains("created"))
            #expect(try mounted.recordfs("export", type).contains("\"n\":"))
            #expect(try mounted.recordfs("ls", type).contains("r5.json"))
            try mounted.mount()
            try SystemCall.unlink(path(4))
            try mounted.kill()
            try fill(ballast)
            try mounted.mount()
            for number in 0..<5 { #expect(!SystemCall.exists(path(number)), "\(number)") }
            for number in 5..<60 {
                #expect(try SystemCall.readText(path(number)) == Self.text(number))
            }
            #expect(!SystemCall.exists("\(folder)/bad.json"))

            try SystemCall.unlink(ballast)
            try SystemCall.writeFile(path(100), Self.text(100), sync: true)
            #expect(SystemCall.exists("\(mounted.state)/reserve"), "the reserve is set aside again")
            try FailpointTests.checkWhole(mounted, folder)
        }
    }
}
