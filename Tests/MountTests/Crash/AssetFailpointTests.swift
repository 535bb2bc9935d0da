import Glibc
import RecordModel
import Testing

extension MountTests {
    @Suite struct AssetFailpointTests {
        private static let bytes = [UInt8]((0..<200_000).map { UInt8(truncatingIfNeeded: $0 * 7) })

        @Test(
            "a kill while an asset is saved leaves the old asset or the new one",
            arguments: [Failpoint.assetWritten, .assetMoved, .assetReferenced], [1, 2])
        func kill(point: Failpoint, pass: Int) throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            for number in 0..<4 {
                try SystemCall.writeFile(
                    CrashOperation.file(folder, number), CrashOperation.old(number))
            }
            try mounted.remount(environment: ["RECORDFS_FAILPOINT": "\(point):\(pass)"])
            var acknowledged = 0
            do {
                while acknowledged < 4 {
                    try SystemCall.writeFile(
                        "\(folder)/rec-\(acknowledged)@photo.jpg",
                        Self.bytes + [UInt8(acknowledged)])
                    acknowledged += 1
                }
            } catch is SystemCallError {}
            #expect(acknowledged < 4 || !mounted.isAlive, "\(point) was never reached")
            #expect(try mounted.waitForDeath() == 128 + SIGKILL)

            try mounted.mount()
            for number in 0..<4 {
                let path = "\(folder)/rec-\(number)@photo.jpg"
                let whole = Self.bytes + [UInt8(number)]
                if number < acknowledged || SystemCall.exists(path) {
                    #expect(try SystemCall.readFile(path) == whole, "asset \(number)")
                }
                let record = try SystemCall.readText(CrashOperation.file(folder, number))
                #expect(record.contains("\"n\": \(number)"))
                #expect(record.contains("$asset") == SystemCall.exists(path))
            }
            try FailpointTests.checkWhole(mounted, folder)
        }

        @Test("a kill while unused asset files are removed takes none that is used")
        func collect() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            try SystemCall.writeFile(CrashOperation.file(folder, 1), CrashOperation.old(1))
            try SystemCall.writeFile("\(folder)/rec-1@photo.jpg", Self.bytes)
            try mounted.unmount()
            // Files that no row refers to: a kill between move and commit leaves them.
            for name in ["ab", "cd"] {
                let source = "\(mounted.outside)/\(name)"
                try SystemCall.writeFile(source, name)
                let put = try finish(
                    [
                        try Executable.recordfs(), "put",
                        "private/Kitchen/Recipe/rec-1@\(name).bin", source,
                    ],
                    environment: [
                        "RECORDFS_STATE": mounted.state, "RECORDFS_FAILPOINT": "assetMoved:1",
                    ])
                #expect(put.status == 128 + SIGKILL, "assetMoved was never reached: \(put)")
            }
            let fsck = try finish(
                [try Executable.recordfs(), "fsck", "--repair"],
                environment: [
                    "RECORDFS_STATE": mounted.state, "RECORDFS_FAILPOINT": "assetCollected:1",
                ])
            #expect(fsck.status == 128 + SIGKILL, "assetCollected was never reached: \(fsck)")
            try mounted.mount()
            #expect(try SystemCall.readFile("\(folder)/rec-1@photo.jpg") == Self.bytes)
            try FailpointTests.checkWhole(mounted, folder)
        }

        @Test(
            "an import that was killed goes on where it stopped",
            arguments: [Failpoint.importBatchBegin, .importBatchCommitted], [1, 2])
        func killedImport(point: Failpoint, pass: Int) throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let lines = (0..<2_500).map { "{\"id\": \"row-\($0)\", \"n\": \($0)}" }
            let source = "\(mounted.outside)/rows.ndjson"
            try SystemCall.writeFile(source, lines.joined(separator: "\n") + "\n")
            try mounted.unmount()
            let arguments = [
                "import", "--quiet", "--name-field", "id", source, "private/Kitchen/Recipe",
            ]
            let killed = try finish(
                [try Executable.recordfs()] + arguments,
                environment: [
                    "RECORDFS_STATE": mounted.state, "RECORDFS_FAILPOINT": "\(point):\(pass)",
                ])
            #expect(killed.status == 128 + SIGKILL, "\(point) was never reached: \(killed)")
            let again = try mounted.recordfsResult(arguments)
            #expect(again.status == 0, "\(again)")
            try mounted.mount()
            #expect(try SystemCall.list(folder).count == 2_500)
            // No row was imported twice: each has one version.
            #expect(try mounted.store.count("history") == 2_500)
            try FailpointTests.checkWhole(mounted, folder)
        }
    }
}
