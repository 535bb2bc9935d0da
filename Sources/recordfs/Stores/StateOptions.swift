import ArgumentParser
import RecordControl
import RecordDaemon
import RecordModel

/// The store on which a command works.
///
/// A path on a mount means the store of that mount. A record path, and a command without a path,
/// mean the store that `--state` names. Without `--state` they mean the store of the mount that
/// contains the working directory, or the default one.
struct StateOptions: ParsableArguments {
    @Option(
        name: .customLong("state"),
        help: """
            The state directory of the store. RECORDFS_STATE sets it too, except inside a mount: \
            there, commands use the store of the mount.
            """)
    var directoryArgument: String?
    @Option(
        name: .customLong("store"),
        help: ArgumentHelp("The name of a store in config.json.", valueName: "name"))
    var storeName: String?

    /// Refuses an empty name, because it would mean the working directory of the moment.
    func validate() throws {
        if storeName != nil, directoryArgument != nil {
            throw ValidationError("--store and --state both say which store is meant.")
        }
        guard directoryArgument?.isEmpty == true else { return }
        throw ValidationError(
            "--state needs the name of a directory; without --state the default store is meant.")
    }

    /// Indicates whether the command line names a store.
    var isNamed: Bool { directoryArgument != nil || storeName != nil }

    /// Returns the state directory that the command line names. Errors: no such store.
    func named() throws(CommandFailure) -> String? {
        guard let storeName else { return directoryArgument.map(HostPaths.absolute) }
        return try reporting(storeName) { () throws(RecordError) in
            try Configuration.read().state(ofStore: storeName)
        }
    }

    /// Returns the store of a command without a path. Errors: no option or variable names a store,
    /// and the working directory no longer exists, which may have been on a mount.
    func access() throws(CommandFailure) -> StoreAccess {
        if let named = try named() { return StoreAccess(named) }
        guard HostPaths.hasWorkingDirectory else {
            if HostPaths.isStateNamed { return StoreAccess(HostPaths.state) }
            throw CommandFailure(nil, Self.goneDirectory)
        }
        if let mount = MountedPath(".").mount { return StoreAccess(mount.source) }
        return StoreAccess(HostPaths.state)
    }

    static let goneDirectory =
        "the working directory is gone: its mount was detached, or it was removed. Go to another "
        + "one, or name the store with --state."

    /// Returns the store of a path on a mount. Errors: `--state` names another one.
    func access(
        of mount: MountTable, about text: String
    ) throws(CommandFailure) -> StoreAccess {
        if let named = try named(), !HostDirectory.isSame(named, mount.source) {
            throw CommandFailure(
                text,
                "is on the mount of the store \(mount.source), and --state names \(named). Leave "
                    + "out --state, or write DATABASE/ZONE/TYPE/NAME for a record of that store.")
        }
        return StoreAccess(mount.source)
    }
}
