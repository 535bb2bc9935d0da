import Glibc
import Testing

extension MountTests {
    /// A killed daemon ends also while its thread that tells the kernel of changes waits there for
    /// a lock whose owner waits for an answer of the daemon.
    @Suite struct StuckNoticeTests {
        @Test("programs get an error when a daemon is killed that waits for them, and mount works")
        func killed() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            try SystemCall.writeFile("\(folder)/x.json", "{\"n\": 1}\n")
            try mounted.remount(environment: ["RECORDFS_FAILPOINT": "syncBegin:1:hold"])
            // It has the lock of the file until its fsync is answered, which never happens.
            let program = try Child([
                "python3", "-c",
                """
                import os
                file = os.open("\(folder)/x.json", os.O_WRONLY)
                os.pwrite(file, b'{"n": 2}', 0)
                print("opened", flush=True)
                try:
                    os.fsync(file)
                except OSError:
                    raise SystemExit(7)
                """,
            ])
            #expect(
                MountTable.wait(
                    seconds: 30, until: { program.outputSoFar == "opened\n" },
                    orUntil: { !program.isRunning }), "\(program.errorsSoFar)")
            let pid = try #require(mounted.pid)
            // The change commits, and its notice wants the same lock.
            let put = try Child(
                [try Executable.recordfs(), "put", "private/Kitchen/Recipe/x"],
                environment: ["RECORDFS_STATE": mounted.state], input: Array("{\"n\": 3}".utf8))
            #expect(
                MountTable.wait(
                    seconds: 30, until: { Self.hasWaitingNotice(pid) }, orUntil: { false }),
                "no thread of the daemon waits in the kernel")
            // Whoever opens the file now meets the old text: the command is not done.
            #expect(
                !MountTable.wait(seconds: 1, until: { !put.isRunning }, orUntil: { false }),
                "recordfs put did not wait for the kernel")
            try mounted.kill()
            #expect(try program.wait(seconds: 20).status == 7, "the fsync fails")
            _ = try put.wait(seconds: 20)
            try mounted.mount()
            #expect(try SystemCall.readText("\(folder)/x.json").contains("3"))
        }

        /// Whether a thread of the process waits in the kernel where no signal reaches it.
        private static func hasWaitingNotice(_ pid: pid_t) -> Bool {
            let tasks = (try? SystemCall.list("/proc/\(pid)/task")) ?? []
            return tasks.contains { task in
                let status = (try? SystemCall.readText("/proc/\(pid)/task/\(task)/stat")) ?? ""
                return status.split(separator: ")").last?.hasPrefix(" D") == true
            }
        }
    }
}
