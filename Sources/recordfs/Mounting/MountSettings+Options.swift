import RecordControl
import RecordDaemon
import RecordModel
import RecordMount

extension MountSettings {
    /// Creates settings from arguments, `-o` options and config.json.
    init(_ command: MountCommand) throws(CommandFailure) {
        var named = try command.state.named()
        if let state = try MountOptionList.state(in: command.options) { named = state }
        var configured = try StoreAccess(named ?? HostPaths.state).settings()
        let place = command.mountpoint ?? configured.mountpoint ?? HostPaths.defaultMountpoint
        let mountpoint = MountedPath(place).path
        let directory = try Self.store(at: mountpoint, named: named)
        configured = try StoreAccess(directory).settings()
        let options = try MountOptionList(command.options)
        var mount = MountConfiguration(mountpoint: mountpoint, stateDirectory: directory)
        mount.grace = configured.grace
        mount.cacheBytes = configured.cacheBytes
        // mount(8) passes rw when fstab does not mention it, which does not override the settings.
        mount.readOnly = command.readOnly || configured.isReadOnly || options.isReadOnly
        mount.allowOther = command.allowOther
        mount.author = command.author
        mount.threads = max(1, command.threads)
        mount.guardProgram = ["recordfs", GuardCommand.name]
        options.apply(to: &mount)
        self.init(mount: mount, account: configured.account, refusalLog: HostPaths.refusalLog)
        policy = configured.policy
        notify = configured.notify
        logLevel = LogLevel.ofDaemon
    }

    /// Returns the named store. Without a name, it is the store of a stale mount there, or the
    /// default one.
    ///
    /// Errors: another store has, or had, its mount there.
    private static func store(
        at mountpoint: String, named: String?
    ) throws(CommandFailure) -> String {
        guard let there = MountTable.mount(at: mountpoint), there.isRecordFS else {
            return named ?? HostPaths.state
        }
        if let named, !HostDirectory.isSame(named, there.source) {
            throw CommandFailure(
                mountpoint,
                "is the mount of the store \(there.source), and --state names \(named). recordfs "
                    + "unmount \(mountpoint) ends it.")
        }
        return there.source
    }
}
