import Glibc
import RecordModel
import Testing

extension MountTests {
    /// The daemon is killed at each named point of its work.
    @Suite struct FailpointTests {
        @Test(
            "a kill at any point of a save loses nothing that was acknowledged",
            arguments: Failpoint.allCases.filter { $0.operation != nil }, [1, 2, 5])
        func kill(point: Failpoint, pass: Int) throws {
            let operation = try #require(point.operation)
            let count = 12
            let mounted = try MountedStore()
            var folder = try mounted.makeType()
            if operation.needsRecord {
                for number in 0..<count {
                    try SystemCall.writeFile(
                        CrashOperation.file(folder, number), CrashOperation.old(number))
                }
            }
            try mounted.remount(environment: ["RECORDFS_FAILPOINT": "\(point):\(pass)"])

            var acknowledged = 0
            do {
                while acknowledged < count {
                    try operation.perform(folder, acknowledged)
                    acknowledged += 1
                }
            } catch let error as SystemCallError {
                #expect(
                    [ENOTCONN, ECONNABORTED, EIO, EINTR].contains(error.code),
                    "the daemon answered \(error)")
            }
            #expect(
                acknowledged < count || !mounted.isAlive, "\(point) was never reached")
            #expect(try mounted.waitForDeath() == 128 + SIGKILL)

            try mounted.mount()
            folder = "\(mounted.mountPoint)/private/Kitchen/Recipe"
            for number in 0..<count {
                let shown = try Self.shown(CrashOperation.file(folder, number))
                if number < acknowledged {
                    #expect(shown == operation.done(number), "record \(number) was acknowledged")
                } else if number == acknowledged {
                    #expect(operation.before(number).contains(shown), "\(shown)")
                } else {
                    #expect(
                        shown
                            == (operation.needsRecord
                                ? .text(CrashOperation.old(number)) : .absent))
                }
                if operation.savedIsOld {
                    let saved = try mounted.store.savedText("rec-\(number)")
                    #expect(saved == CrashOperation.old(number))
                }
            }
            try Self.checkWhole(mounted, folder)
        }

        static func shown(_ path: String) throws -> CrashOperation.Shown {
            do {
                return .text(try SystemCall.readText(path))
            } catch let error as SystemCallError where error.code == ENOENT {
                return .absent
            }
        }

        /// The store is sound, agrees with itself, and goes on working.
        static func checkWhole(_ mounted: MountedStore, _ folder: String) throws {
            #expect(try mounted.store.integrity() == "ok")
            try SystemCall.writeFile("\(folder)/after.json", "{\"alive\": 1}\n")
            try SystemCall.syncDirectory(folder)
            #expect(try SystemCall.readText("\(folder)/after.json") == "{\"alive\": 1}\n")
            // Each version of each record is one row, and nothing waits that is not there.
            #expect(
                try mounted.store.count(
                    "record_text LEFT JOIN record ON id = record_id WHERE id IS NULL") == 0)
            #expect(
                try mounted.store.count(
                    "record WHERE state = 0 AND id NOT IN (SELECT record_id FROM saved_text)")
                    == 0)
            #expect(try mounted.store.count("record WHERE waiting_since IS NOT NULL") == 0)
            #expect(
                try mounted.store.count(
                    "record JOIN outbox USING (name, zone_id) WHERE state = 0 AND operation <> 2")
                    >= 1)
            try mounted.unmount()
            let check = try mounted.recordfsResult(["fsck"])
            #expect(check.status == 0, "\(check)")
        }
    }
}
