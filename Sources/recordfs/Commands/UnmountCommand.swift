import ArgumentParser
import Glibc
import RecordControl
import RecordModel
import RecordMount

struct UnmountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unmount",
        abstract: "End a mount; returns when its process has let go of the store.",
        aliases: ["umount"])

    /// How long a daemon may take to make waiting deletions final and close the store.
    private static let patience = Duration.seconds(60)

    @OptionGroup var state: StateOptions
    @Flag(name: .shortAndLong, help: "Detach it now, although files are open.")
    var lazy = false
    @Argument(
        help: "The directory; by default the mount of the store.", completion: .directory)
    var mountpoint: String?

    func run() throws {
        let given = mountpoint.map(Places.absolute)
        // A mount that is named may be of another store than the one that the options name.
        let source = MountTable.recordMounts().first { $0.mountpoint == given }?.source
        let daemon = status(of: source ?? state.directory)
        let served = daemon?.stringMember("mountpoint")
        let place = try given ?? served ?? defaultMountpoint()
        let isMounted = MountTable.all().contains { $0.mountpoint == place }
        guard isMounted || MountTable.isStale(place) else {
            throw CommandFailure(place, "is not mounted.", status: ExitStatus.notFound)
        }
        do {
            try MountDaemon.unmount(
                mountpoint: place, lazy: lazy || MountTable.isStale(place))
        } catch {
            throw CommandFailure(
                nil, "\(error.message). lsof +f -- \(place) shows who uses it; --lazy detaches it.")
        }
        if place == served, !lazy, let pid = daemon?.integerMember("pid") {
            try waitForEnd(pid_t(truncatingIfNeeded: pid))
        }
    }

    private func status(of directory: String) -> JSONValue? {
        do {
            return try ControlClient.connect(directory: directory, timeoutSeconds: 10)?
                .perform(.status).result
        } catch {
            // A daemon that hangs can still be unmounted.
            return nil
        }
    }

    private func defaultMountpoint() throws(CommandFailure) -> String {
        let configuration = try state.configuration()
        return configuration.mountpoint ?? Places.defaultMountpoint
    }

    /// A process that has ended and that nobody has asked about is not running.
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

    private func waitForEnd(_ pid: pid_t) throws(CommandFailure) {
        let deadline = ContinuousClock.now + Self.patience
        while Self.isRunning(pid) {
            guard ContinuousClock.now < deadline else {
                throw CommandFailure(
                    nil,
                    "process \(pid) still has the store; \(Places.log(ofState: state.directory)) "
                        + "may say why.")
            }
            usleep(5000)
        }
    }
}
