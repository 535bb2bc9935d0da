import Glibc
import Testing

extension MountTests {
    /// What a test process leaves that is killed.
    @Suite struct LeftoverTests {
        @Test("the next test process takes the mounts of a killed one away, and runs its tests")
        func killed() throws {
            let mounted = try MountedStore()
            // As a killed test process leaves it: a folder with the number of a process that has
            // ended, in it the mount of a daemon that has ended.
            let root = "\(mounted.outside)/root"
            let ended = try Child(["true"])
            _ = try ended.wait()
            let left = "\(root)/\(ended.pid)"
            let mountPoint = "\(left)/mnt"
            try SystemCall.makeDirectories(mountPoint)
            let daemon = try Child([
                try Executable.recordfs(), "mount", "--foreground", "--state", "\(left)/state",
                mountPoint,
            ])
            let isMounted = MountTable.wait(
                seconds: 30, until: { MountTable.isMounted(mountPoint) },
                orUntil: { !daemon.isRunning })
            try #require(isMounted, "\(daemon.errorsSoFar)")
            daemon.signal(SIGKILL)
            _ = try daemon.wait()

            let tests = try #require(CommandLine.arguments.first { $0.hasSuffix(".xctest") })
            let result = try run(
                tests, "--testing-library", "swift-testing", "--filter",
                "MountTests.MountTests/DaemonTests/background",
                environment: ["RECORDFS_TEST_ROOT": root], seconds: 20)
            #expect(result.status == 0 && result.errors.contains("with 1 test "), "\(result)")
            #expect(!MountTable.isMounted(mountPoint))
            #expect(!SystemCall.exists(left))
        }
    }
}
