import CTestSystem
import Dispatch
import Glibc
import TestSupport
import Testing

extension MountTests {
    /// Whoever opens a record reads one version of it, whole, whatever replaces it meanwhile.
    @Suite struct TornReadTests {
        /// A way to replace a record.
        enum Way: String, CaseIterable, Sendable {
            case rename, commandLine, remote
        }

        /// All reads of the suite, a ninth for each case: `scripts/torn-reads` asks for more.
        private static let reads = getenv("RECORDFS_TORN_READS").flatMap {
            UInt64(String(cString: $0))
        }

        @Test(
            "no read has bytes of two versions, and no open fails, beside writers",
            arguments: Way.allCases, [1, 2, 8])
        func whole(way: Way, writers: Int) throws {
            let mounted = try MountedStore(patience: Self.reads == nil ? 120 : 100_000)
            let folder = try mounted.makeType()
            try Self.replace(mounted, folder, way, writer: 0, version: 1)
            let isOver = Locked(false)
            let failures = Locked<[String]>([])
            let replaced = Locked(0)
            let group = DispatchGroup()
            for writer in 1...writers {
                let queue = DispatchQueue(label: "writer.\(writer)")
                queue.async(group: group) {
                    var version = UInt64(writer)
                    while !isOver.value {
                        version += UInt64(writers)
                        do {
                            try Self.replace(mounted, folder, way, writer: writer, version: version)
                            replaced.update { $0 += 1 }
                        } catch {
                            failures.update { $0.append("\(error)") }
                        }
                    }
                }
            }
            let seen = Self.readVersions("\(folder)/x.json", atLeast: (Self.reads ?? 36_000) / 9) {
                replaced.value >= 20
            }
            isOver.set(true)
            group.wait()
            #expect(seen.torn == 0)
            #expect(seen.failed == 0, "\(String(cString: strerror(seen.error)))")
            #expect(failures.value == [])
        }

        /// Reads until there were as many reads, and enough replacements beside them.
        private static func readVersions(
            _ path: String, atLeast count: UInt64, until isEnough: () -> Bool
        ) -> test_reads {
            var seen = test_reads()
            var done: UInt64 = 0
            let deadline = Deadline(seconds: 60)
            while done < count || (!isEnough() && !deadline.isOver) {
                test_read_versions(path, 500, &seen)
                done += 500
            }
            return seen
        }

        private static func replace(
            _ mounted: MountedStore, _ folder: String, _ way: Way, writer: Int, version: UInt64
        ) throws {
            var bytes = [CChar](repeating: 0, count: Int(test_version_size_max))
            let size = test_version_text(version, &bytes)
            let text = String(
                decoding: bytes.prefix(size).map(UInt8.init(bitPattern:)), as: UTF8.self)
            switch way {
            case .rename:
                let result = test_rename_version(
                    "\(folder)/.x.json.\(writer)", "\(folder)/x.json", version)
                guard result == 0 else { throw SystemCallError("rename") }
            case .commandLine:
                try mounted.recordfs("put", "private/Kitchen/Recipe/x", input: text)
            case .remote:
                try mounted.recordfs(
                    "debug", "apply-remote",
                    input: """
                        {"path": "private/Kitchen/Recipe/x", "record": \(text),
                         "changeTag": "t\(version)"}
                        """)
            }
        }
    }
}
