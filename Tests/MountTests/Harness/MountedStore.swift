import CTestSystem
import Dispatch
import Glibc
import TestSupport
import Testing

/// All suites that mount: one after the other, since each has a daemon and children of its own.
@Suite(.serialized) struct MountTests {}

/// A daemon with a state directory and a mount of its own.
///
/// Every step has a deadline. When the whole of it takes too long, the daemon is killed, so that
/// a call that hangs in the kernel returns ENOTCONN and the test fails instead of standing still.
final class MountedStore: Sendable {
    let folder: String
    let state: String
    let mountPoint: String
    /// A folder on the disk, next to the mount, for sources, homes and manifests.
    let outside: String
    private let running = Locked<Child?>(nil)
    private var daemon: Child? {
        get { running.value }
        set { running.set(newValue) }
    }
    private let options: [String]
    private let launcher: [String]
    private let patience: Double

    /// The daemon's process id.
    var pid: pid_t? { daemon?.pid }
    /// What the daemon has logged.
    var log: String { daemon?.errorsSoFar ?? "" }

    /// - Parameters:
    ///   - name: the name of the mountpoint.
    ///   - launcher: a command that becomes the daemon, such as `prlimit` with its options.
    init(
        options: [String] = [], environment: [String: String] = [:], state: String? = nil,
        name: String = "mnt", launcher: [String] = [], patience: Double = 120
    ) throws {
        try #require(
            access("/dev/fuse", R_OK | W_OK) == 0,
            "no /dev/fuse: the mount tests need it (see scripts/test)")
        folder = try TestRoot.makeDirectory()
        self.state = state ?? "\(folder)/state"
        mountPoint = "\(folder)/\(name)"
        outside = "\(folder)/outside"
        // As users have it: it is part of what editors do to a file.
        umask(0o022)
        self.options = options
        self.launcher = launcher
        self.patience = patience
        for path in [mountPoint, outside] { try SystemCall.makeDirectory(path) }
        MountedStores.tearDown()
        MountedStores.current.update { $0.append(self) }
        try mount(environment: environment)
    }

    func tearDown() {
        daemon?.signalGroup(SIGKILL)
        MountTable.detach(mountPoint)
        TestRoot.removeTree(folder)
    }

    /// Starts the daemon and returns when the kernel has the mount.
    func mount(environment: [String: String] = [:]) throws {
        let arguments =
            launcher + [try Executable.recordfs(), "mount", "--foreground", "--state", state]
            + options
            + [mountPoint]
        let child = try Child(arguments, environment: environment)
        daemon = child
        // A stale mount of a killed daemon is in the table too; only an answer shows a live one.
        let ready = MountTable.wait(
            seconds: 30, until: { test_answers_as_fuse(mountPoint) != 0 },
            orUntil: { !child.isRunning })
        guard ready, child.isRunning else {
            throw ChildFailure(description: "the daemon did not mount: \(child.errorsSoFar)")
        }
        watch(child)
    }

    private func watch(_ child: Child) {
        let patience = patience * Deadline.patience
        DispatchQueue(label: "watchdog").asyncAfter(deadline: .now() + patience) { [weak child] in
            guard let child, child.isRunning else { return }
            print("watchdog: the daemon \(child.pid) is killed after \(patience) s")
            child.signal(SIGKILL)
        }
    }

    /// SIGKILL: nothing is flushed, the mount is left stale.
    func kill() throws {
        daemon?.signal(SIGKILL)
        _ = try daemon?.wait(seconds: 10)
        daemon = nil
    }

    /// SIGSTOP: returns when no thread of the daemon runs any more, which takes a moment.
    func suspend() throws {
        let pid = try #require(pid)
        #expect(Glibc.kill(pid, SIGSTOP) == 0)
        let isStopped = MountTable.wait(
            seconds: 20, until: { Self.isStopped(pid) }, orUntil: { !self.isAlive })
        #expect(isStopped)
    }

    private static func isStopped(_ pid: pid_t) -> Bool {
        do {
            return try SystemCall.list("/proc/\(pid)/task").allSatisfy { task in
                let status = try SystemCall.readText("/proc/\(pid)/task/\(task)/stat")
                return status.split(separator: ")").last?.hasPrefix(" T") == true
            }
        } catch {
            return false
        }
    }

    /// Waits until the daemon has ended by itself, as a failpoint makes it do.
    func waitForDeath(seconds: Double = 20) throws -> Int32 {
        defer { daemon = nil }
        return try daemon?.wait(seconds: seconds).status ?? 0
    }

    var isAlive: Bool { daemon?.isRunning ?? false }

    /// The orderly end, as a user asks for it.
    ///
    /// Asked for again while the mount is in use: what another test spawns has a copy of every file
    /// of this process, until it runs its own program.
    func unmount() throws {
        let deadline = Deadline(seconds: 10)
        var result = try recordfsResult(["unmount", mountPoint])
        while result.message.contains("in use"), !deadline.isOver {
            result = try recordfsResult(["unmount", mountPoint])
        }
        guard result.status == 0 else {
            throw ChildFailure(description: "recordfs unmount: \(result)\n\(log)")
        }
        let end = try daemon?.wait(seconds: 30)
        daemon = nil
        #expect(end?.status == 0, "the daemon ended with \(String(describing: end))")
        #expect(!MountTable.isMounted(mountPoint))
    }

    func remount(environment: [String: String] = [:]) throws {
        try unmount()
        try mount(environment: environment)
    }

    /// Runs the command line on this store; it must succeed.
    @discardableResult
    func recordfs(_ arguments: String..., input: String = "") throws -> String {
        let result = try recordfsResult(arguments, input: input)
        guard result.status == 0 else {
            throw ChildFailure(
                description: "recordfs \(arguments.joined(separator: " ")): \(result)\n\(log)")
        }
        return result.output
    }

    func recordfsResult(_ arguments: [String], input: String = "") throws -> ChildResult {
        try finish(
            [try Executable.recordfs()] + arguments,
            environment: ["RECORDFS_STATE": state], input: input)
    }
}

/// The mounts of the test that runs, or has run last: they are taken away before the next one,
/// however the test has ended. A test's locals would go too early, after their last use.
enum MountedStores {
    static let current = Locked<[MountedStore]>([])

    static func tearDown() {
        let all = current.update { stores in
            defer { stores = [] }
            return stores
        }
        for store in all { store.tearDown() }
    }
}

/// The programs under test.
enum Executable {
    /// `RECORDFS_BINARY`, or what SwiftPM has built next to the tests.
    static func recordfs() throws -> String {
        if let value = getenv("RECORDFS_BINARY") { return String(cString: value) }
        // The test runner is named by the toolchain; the bundle is named in its arguments.
        for argument in CommandLine.arguments where argument.contains(".xctest") {
            var folder = argument[...]
            while let slash = folder.lastIndex(of: "/") {
                folder = folder[..<slash]
                if access("\(folder)/recordfs", X_OK) == 0 { return "\(folder)/recordfs" }
            }
        }
        throw ChildFailure(
            description: "no recordfs program found: build it, or name it in RECORDFS_BINARY")
    }
}
