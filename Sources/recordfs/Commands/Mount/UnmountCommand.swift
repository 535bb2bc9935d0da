import ArgumentParser
import Glibc
import RecordControl
import RecordDaemon
import RecordModel
import RecordMount

struct UnmountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unmount",
        abstract: "End a mount, and wait until its process has closed the store.",
        discussion: """
            --lazy ends a mount that programs still use: their written data is saved, and their \
            open files return errors from then on. Without --lazy, a mount also stays while texts \
            of records could not be saved, for example on a full disk. With --lazy these texts are \
            lost, and the log names them.
            """,
        aliases: ["umount"])

    /// The longest time that a daemon may take to make waiting deletions final and close the store.
    private static let patience = Duration.seconds(60)
    /// The time after which the mount is detached without its daemon.
    private static let lazyPatience = Duration.seconds(15)

    @OptionGroup var state: StateOptions
    @Flag(name: .shortAndLong, help: "End the mount now, even if files are open in it.")
    var lazy = false
    @Argument(
        help: "The directory; by default the mount of the store.", completion: .directory)
    var mountpoint: String?

    func run() throws {
        let mount = try target()
        let place = mount.mountpoint
        let store = StoreAccess(mount.source)
        let daemon = status(of: store)
        let pid = daemon?.integerMember("pid").map { pid_t(truncatingIfNeeded: $0) }
        let isServed = daemon?.stringMember("mountpoint") == place
        let unsaved = UnsavedRecords(of: daemon)
        guard lazy || !isServed || unsaved.isEmpty else {
            throw CommandFailure(place, unsaved.refusal(ofStore: store.directory))
        }
        if lazy, isServed, let pid, kill(pid, SIGTERM) == 0 {
            // The daemon itself removes its mount, after it has saved the open files there.
            if waitForEnd(pid, Self.lazyPatience) { return }
        }
        if MountTable.mount(at: place) != nil {
            do {
                try MountDaemon.unmount(
                    mountpoint: place, lazy: lazy || MountTable.isStale(place))
            } catch {
                throw CommandFailure(
                    store.isDefault ? nil : store.subject(nil),
                    "\(error.message). lsof +f -- \(place) lists the programs that use it; "
                        + "--lazy ends it anyway.")
            }
        }
        guard isServed, let pid else { return }
        guard waitForEnd(pid, Self.patience) else {
            throw CommandFailure(
                store.subject(nil),
                "process \(pid) still has the store; \(HostPaths.log(ofState: store.directory)) may "
                    + "say why.")
        }
    }

    /// Returns the mount at the given directory. Without a directory, returns the mount of the
    /// store.
    private func target() throws(CommandFailure) -> MountTable {
        guard let mountpoint else { return try mountOfStore() }
        let place = MountedPath(mountpoint).path
        guard let mount = MountTable.mount(at: place) else {
            throw CommandFailure(place, "is not mounted.", status: ExitStatus.notFound)
        }
        guard mount.isRecordFS else {
            throw CommandFailure(place, "is a mount of \(mount.type), not of RecordFS.")
        }
        if let named = try state.named(), !HostDirectory.isSame(named, mount.source) {
            throw CommandFailure(
                place, "is the mount of the store \(mount.source), and --state names \(named).")
        }
        return mount
    }

    private func mountOfStore() throws(CommandFailure) -> MountTable {
        let store = try state.access()
        let mounts = MountTable.mounts(ofStore: store.directory)
        let served = status(of: store)?.stringMember("mountpoint")
        let mount = mounts.last { $0.mountpoint == served } ?? mounts.last
        guard let mount else {
            throw CommandFailure(
                store.directory, "this store is not mounted.", status: ExitStatus.notFound)
        }
        return mount
    }

    private func status(of store: StoreAccess) -> JSONValue? {
        do {
            return try store.daemon(timeoutSeconds: 10)
        } catch {
            // A mount can be removed even when its daemon does not answer.
            return nil
        }
    }

    /// Returns whether the process runs. A process that has ended, and whose status no process has
    /// read yet, does not run.
    private static func isRunning(_ pid: pid_t) -> Bool {
        guard kill(pid, 0) == 0 else { return false }
        do {
            let status = try readWholeFile("/proc/\(pid)/stat")
            guard let name = status.lastIndex(of: UInt8(ascii: ")")), name + 2 < status.count
            else { return true }
            return status[name + 2] != UInt8(ascii: "Z")
        } catch {
            return false
        }
    }

    private func waitForEnd(_ pid: pid_t, _ patience: Duration) -> Bool {
        let deadline = ContinuousClock.now + patience
        while Self.isRunning(pid) {
            guard ContinuousClock.now < deadline else { return false }
            usleep(5000)
        }
        return true
    }
}
