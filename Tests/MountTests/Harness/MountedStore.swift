import Dispatch
import Glibc
import Testing

/// All suites that mount: one after the other, since each has a daemon and children of its own.
@Suite(.serialized) struct MountTests {}

/// A daemon with a state directory and a mount of its own.
///
/// Every step has a deadline. When the whole of it takes too long, the daemon is killed, so that
/// a call that hangs in the kernel returns ENOTCONN and the test fails instead of standing still.
final class MountedStore {
    let folder: String
    let state: String
    let mountPoint: String
    /// A folder on the disk, next to the mount, for sources, homes and manifests.
    let outside: String
    private var daemon: Child?
    private let options: [String]
    private let patience: Double

    /// The daemon's process id.
    var pid: pid_t? { daemon?.pid }
    /// What the daemon has logged.
    var log: String { daemon?.errorsSoFar ?? "" }

    init(
        options: [String] = [], environment: [String: String] = [:], state: String? = nil,
        patience: Double = 120
    ) throws {
        try #require(
            access("/dev/fuse", R_OK | W_OK) == 0,
            "no /dev/fuse: the mount tests need it (see scripts/test)")
        folder = try TestRoot.makeDirectory()
        self.state = state ?? "\(folder)/state"
        mountPoint = "\(folder)/mnt"
        outside = "\(folder)/outside"
        self.options = options
        self.patience = patience
        for path in [mountPoint, outside] { try SystemCall.makeDirectory(path) }
        try mount(environment: environment)
    }

    deinit {
        daemon?.signalGroup(SIGKILL)
        MountTable.detach(mountPoint)
        TestRoot.removeTree(folder)
    }

    /// Starts the daemon and returns when the kernel has the mount.
    func mount(environment: [String: String] = [:]) throws {
        let arguments =
            [try Executable.recordfs(), "mount", "--foreground", "--state", state] + options
            + [mountPoint]
        let child = try Child(arguments, environment: environment)
        daemon = child
        let ready = MountTable.wait(
            mountPoint, mounted: true, seconds: 30, stop: { !child.isRunning })
        // A stale mount of a killed daemon is in the table too; only an answer shows a live one.
        guard ready, child.isRunning, waitForAnswer(child) else {
            throw ChildFailure(description: "the daemon did not mount: \(child.errorsSoFar)")
        }
        watch(child)
    }

    /// A stale mount answers ENOTCONN until the new daemon has taken it away.
    private func waitForAnswer(_ child: Child) -> Bool {
        let deadline = Deadline(seconds: 30)
        while !deadline.isOver, child.isRunning {
            if SystemCall.exists("\(mountPoint)/private") { return true }
            poll(nil, 0, 2)
        }
        return false
    }

    private func watch(_ child: Child) {
        let patience = patience
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

    /// Waits until the daemon has ended by itself, as a failpoint makes it do.
    func waitForDeath(seconds: Double = 20) throws -> Int32 {
        defer { daemon = nil }
        return try daemon?.wait(seconds: seconds).status ?? 0
    }

    var isAlive: Bool { daemon?.isRunning ?? false }

    /// The orderly end, as a user asks for it.
    func unmount() throws {
        try recordfs("unmount", mountPoint)
        let result = try daemon?.wait(seconds: 30)
        daemon = nil
        #expect(result?.status == 0, "the daemon ended with \(String(describing: result))")
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
