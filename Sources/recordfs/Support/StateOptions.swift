import ArgumentParser
import RecordModel

/// Which store a command works on.
///
/// A path on a mount means the store of that mount. A record path, and a command without a path,
/// mean the store that `--state` names, else that of the mount in which the user stands, else the
/// default one.
struct StateOptions: ParsableArguments {
    @Option(
        name: .customLong("state"),
        help: """
            The state directory of the store. Also RECORDFS_STATE, but in a mount: there the \
            mount's own store is meant.
            """)
    var directoryArgument: String?
    @Option(
        name: .customLong("store"),
        help: ArgumentHelp("A store of config.json, by its name.", valueName: "name"))
    var storeName: String?

    /// An empty name would be the working directory, whatever that is.
    func validate() throws {
        if storeName != nil, directoryArgument != nil {
            throw ValidationError("--store and --state both say which store is meant.")
        }
        guard directoryArgument?.isEmpty == true else { return }
        throw ValidationError(
            "--state needs the name of a directory; without --state the default store is meant.")
    }

    /// Whether the command line names a store.
    var isNamed: Bool { directoryArgument != nil || storeName != nil }

    /// The state directory that the command line names. Errors: no such store.
    func named() throws(CommandFailure) -> String? {
        guard let storeName else { return directoryArgument.map(Places.absolute) }
        return try reporting(storeName) { () throws(RecordError) in
            try Configuration.read().state(ofStore: storeName)
        }
    }

    /// The store of a command without a path. Errors: nothing names one, and the working directory
    /// is gone, which may have been a mount's.
    func access() throws(CommandFailure) -> StoreAccess {
        if let named = try named() { return StoreAccess(named) }
        guard Places.hasWorkingDirectory else {
            if Places.isStateNamed { return StoreAccess(Places.state) }
            throw CommandFailure(nil, Self.goneDirectory)
        }
        if let mount = MountedPath(".").mount { return StoreAccess(mount.source) }
        return StoreAccess(Places.state)
    }

    static let goneDirectory =
        "the working directory is gone: its mount was detached, or it was removed. Go to another "
        + "one, or name the store with --state."

    /// The store of a path on a mount. Errors: `--state` names another one.
    func access(
        of mount: MountTable, about text: String
    ) throws(CommandFailure) -> StoreAccess {
        if let named = try named(), !StoreAccess.isSame(named, mount.source) {
            throw CommandFailure(
                text,
                "is on the mount of the store \(mount.source), and --state names \(named). Leave "
                    + "out --state, or write DATABASE/ZONE/TYPE/NAME for a record of that store.")
        }
        return StoreAccess(mount.source)
    }
}
