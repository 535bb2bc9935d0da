import Glibc
import RecordModel
import Testing

extension MountTests {
    /// A text that a full disk keeps in the daemon's memory, and the end of the mount.
    @Suite struct UnsavedTextTests {
        private let disk: MemoryDisk
        private let home: CommandLineHome
        private var state: String { "\(disk.directory)/state" }
        private var ballast: String { "\(disk.directory)/ballast" }
        private var place: String { "\(home.folder)/RecordFS" }
        private let path = "private/Kitchen/Recipe/r.json"
        /// Larger than the log, which the daemon moves meanwhile, and the reserve together.
        private let text = "{\"n\": \"" + String(repeating: "x", count: 7_000_000) + "\"}\n"

        init() throws {
            disk = try MemoryDisk(megabytes: 40)
            home = try CommandLineHome()
        }

        /// Mounts, fills the disk, and changes a record, which cannot be saved.
        private func mountFull() throws {
            #expect(try home.recordfs("mount", "--state", state, place).status == 0)
            try SystemCall.makeDirectories("\(place)/private/Kitchen/Recipe")
            try SystemCall.writeFile("\(place)/\(path)", "{\"n\": \"\"}\n", sync: true)
            let file = try SystemCall.open(ballast, O_WRONLY | O_CREAT | O_APPEND)
            for size in [1 << 20, 1 << 16, 4096, 512, 1] {
                while SystemCall.code({
                    try SystemCall.write(file, [UInt8](repeating: 1, count: size))
                }) == 0 {}
            }
            try SystemCall.close(file)
            let code = SystemCall.code { try SystemCall.writeFile("\(place)/\(path)", text) }
            #expect(code == ENOSPC)
        }

        @Test("unmount is refused and names it; when there is room it is saved and unmount works")
        func refused() throws {
            try mountFull()
            let refused = try home.recordfs("unmount", "--state", state)
            #expect(refused.status == 1 && refused.errors.contains(path), "\(refused)")
            #expect(refused.errors.contains("--lazy"), "\(refused)")
            #expect(refused.errors.split(separator: "\n").count == 1, "\(refused)")
            #expect(try home.recordfs("debug", "ctl", "--state", state, "shutdown").status == 1)
            #expect(MountTable.isMounted(place))
            let status = try home.recordfs("status", "--json", "--state", state)
            let daemon = try JSONParser.parse(Array(status.output.utf8))["daemon"]
            #expect(daemon?["unsaved"]?.int64 == 1, "\(status)")
            // What shells tell before their next prompt.
            let told = try home.ok("cat .local/state/recordfs/refused")
            #expect(told.contains("refused\t\(place)/\(path)\t"), "\(told)")
            try SystemCall.unlink(ballast)
            let place = place
            let isSaved = MountTable.wait(
                seconds: 20,
                until: {
                    do {
                        let status = try SystemCall.readText("\(place)/.recordfs/status.json")
                        return status.contains("\"unsaved\": 0")
                    } catch {
                        return false
                    }
                }, orUntil: { false })
            #expect(isSaved)
            let unmount = try home.recordfs("unmount", "--state", state)
            #expect(unmount.status == 0, "\(unmount)")
            #expect(!MountTable.isMounted(place))
            let saved = try home.recordfs("get", "--state", state, path)
            let isWhole = saved.output == text
            #expect(isWhole, "\(saved.errors)")
        }

        @Test("unmount --lazy ends the mount, and the log names what is lost")
        func lazy() throws {
            try mountFull()
            let unmount = try home.recordfs("unmount", "--lazy", "--state", state)
            #expect(unmount.status == 0, "\(unmount)")
            #expect(!MountTable.isMounted(place))
            let folder = "\(home.folder)/.local/state/recordfs"
            let logs = try SystemCall.list(folder).map { name in
                try SystemCall.readText("\(folder)/\(name)")
            }
            #expect(logs.contains { $0.contains("\(path) could not be saved") }, "\(logs)")
            try SystemCall.unlink(ballast)
            #expect(try home.recordfs("fsck", "--state", state).status == 0)
        }
    }
}

/// A disk of its own in memory, which is full soon.
private final class MemoryDisk {
    let directory: String

    init(megabytes: Int) throws {
        directory = try TestRoot.makeDirectory("disk")
        try succeed("mount", "-t", "tmpfs", "-o", "size=\(megabytes)M", "none", directory)
    }

    deinit {
        MountTable.detach(directory)
        TestRoot.removeTree(directory)
    }
}
