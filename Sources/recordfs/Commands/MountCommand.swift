import ArgumentParser
import Glibc
import RecordControl
import RecordModel
import RecordMount
import RecordSync

struct MountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mount", abstract: "Show the records of a store as a directory.",
        discussion: """
            The command returns when you can use the directory; a background process serves it \
            until recordfs unmount. A missing directory is created. A mount whose process died is \
            mounted again, with the same store.
            """)

    @OptionGroup var state: StateOptions
    @Flag(name: .shortAndLong, help: "Serve in this process, until unmount, SIGTERM or SIGINT.")
    var foreground = false
    @Flag(help: "Refuse every change.")
    var readOnly = false
    @Flag(help: "Let other users enter; needs user_allow_other in /etc/fuse.conf.")
    var allowOther = false
    @Option(
        name: .customShort("o"),
        help: ArgumentHelp(
            "Mount options, separated by commas: ro, rw, allow_other, xattr, nonempty, noexec, "
                + "noatime, grace=SECONDS, cache=BYTES, those of fuse.",
            valueName: "options"))
    var options: [String] = []
    @Option(help: .hidden)
    var readyDescriptor: Int32?
    @Option(help: .hidden)
    var threads = 4
    @Flag(help: "Mount all stores of config.json that are not mounted.")
    var all = false
    @Argument(help: "The directory; ~/RecordFS by default.", completion: .directory)
    var mountpoint: String?

    func validate() throws {
        guard all, foreground || mountpoint != nil || state.isNamed else { return }
        throw ValidationError(
            "--all takes the stores of config.json, each at its mountpoint, in the background.")
    }

    func run() throws {
        if all {
            try mountAll()
        } else {
            try mount()
        }
    }

    /// Mounts all stores. A store that cannot be mounted does not prevent the others. The failures
    /// are reported.
    private func mountAll() throws {
        let configuration = try reporting(Places.configuration) { () throws(RecordError) in
            try Configuration.read()
        }
        guard !configuration.stores.isEmpty else {
            throw CommandFailure(
                Places.configuration, "has no stores. man recordfs says how to write them down.",
                status: ExitStatus.notFound)
        }
        var failure: (any Error)?
        for store in configuration.stores {
            guard let state = store.settings.state else { continue }
            guard MountTable.mounts(ofStore: state).isEmpty else { continue }
            var command = self
            command.all = false
            command.state.storeName = store.name
            do {
                try command.mount()
            } catch {
                if let failure = failure as? CommandFailure { failure.show() }
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private func mount() throws {
        let settings = try MountSettings(self)
        if foreground {
            try MountService(settings: settings, readyDescriptor: readyDescriptor).run()
        } else {
            try settings.prepareMountpoint()
            try BackgroundMount(settings: settings).start()
            let store = StoreAccess(settings.directory)
            let note = store.isDefault ? "" : " (store \(store.directory))"
            let end = store.isDefault ? "" : " \(settings.mountpoint)"
            Terminal.print(
                "Mounted at \(settings.mountpoint)\(note). recordfs unmount\(end) ends it.")
            try tellOfEndedSignIn(store)
            showRefused(store)
        }
    }
}

extension MountCommand {
    /// Tells the user when records could not be saved or sent. An error of this check is not shown
    /// here.
    private func showRefused(_ store: StoreAccess) {
        do {
            let records = try store.reader()
            let found = try store.reporting { () throws(RecordError) in
                try RefusedRecords.all(in: records)
            }
            guard !found.isEmpty else { return }
            let option = store.isDefault ? "" : " --state \(store.directory)"
            Terminal.error(
                "\(Showing.count(found.count, "record")) could not be saved or sent: recordfs "
                    + "errors\(option) says why.")
        } catch {
            return
        }
    }
}

extension MountCommand {
    /// Tells the user when the server no longer accepts the sign-in. Changes on this machine are
    /// then not uploaded, and no changes are downloaded.
    private func tellOfEndedSignIn(_ store: StoreAccess) throws(CommandFailure) {
        let account = try store.reporting { () throws(RecordError) in
            try AccountFile(stateDirectory: store.directory).read()
        }
        guard let account, account.isSignedIn, account.refusedMilliseconds != nil else { return }
        Terminal.error(
            "\(account.server) no longer accepts the sign-in of this machine: changes wait here. recordfs "
                + "login signs in again.")
    }
}

/// The settings of a mount, from arguments, `-o` options and config.json.
struct MountSettings {
    let mountpoint: String
    let directory: String
    let isReadOnly: Bool
    let allowsOther: Bool
    let hasExtendedAttributes: Bool
    /// Indicates whether the directory may have files, which the mount then hides.
    let hidesFiles: Bool
    let grace: Duration
    /// The size on the disk of data that the server has too, in bytes. Nil without a limit.
    let cacheBytes: Int64?
    let threads: Int
    /// The account to which the store must belong.
    let account: StoreSettings.AccountSettings
    /// The parts of the account that are kept on this machine.
    let policy: SyncPolicy
    /// The command that is run when others do something with a share.
    let notify: String?
    /// The options that are passed to libfuse unchanged.
    let extraOptions: [String]

    /// Options that are not for the file system, or that change nothing.
    private static let ignored: Set<String> = [
        "defaults", "auto", "noauto", "nofail", "user", "users", "nouser", "_netdev", "nodev",
        "nosuid",
    ]

    /// Returns the reason when fuse knows the option but RecordFS does not support it.
    private static func refusal(of option: String) -> String? {
        switch option {
        case "fsname", "subtype": "this is how commands find the store of a mount. Leave it out."
        case "auto_unmount":
            "a mount ends with its process, and recordfs mount repairs the mount of a process "
                + "that was killed. Leave it out."
        case "suid", "dev":
            "set-user-ID programs and devices never have an effect on a mount. Leave it out."
        case "max_read": "the size of reads is agreed on with the kernel. Leave it out."
        default: nil
        }
    }

    init(_ command: MountCommand) throws(CommandFailure) {
        let options = command.options.flatMap { $0.split(separator: ",").map(String.init) }
        var named = try command.state.named()
        if let option = try Self.named(options) { named = option }
        var configured = try StoreAccess(named ?? Places.state).settings()
        let place = command.mountpoint ?? configured.mountpoint ?? Places.defaultMountpoint
        mountpoint = MountedPath(place).path
        directory = try Self.store(at: mountpoint, named: named)
        configured = try StoreAccess(directory).settings()
        account = configured.account
        policy = configured.policy
        notify = configured.notify
        var isReadOnlyOption = false
        var allowsOther = command.allowOther
        var hasExtendedAttributes = false
        var grace = configured.grace
        var cacheBytes = configured.cacheBytes
        var hidesFiles = false
        var kernelOptions: Set<String> = []
        var extra: [String] = []
        for option in options {
            let value = option.split(separator: "=", maxSplits: 1).dropFirst().first.map(
                String.init)
            switch option.prefix(while: { $0 != "=" }) {
            // When two options exclude each other, the last one is used, as in mount(8).
            case "ro": isReadOnlyOption = true
            case "rw": isReadOnlyOption = false
            case "noexec", "noatime": kernelOptions.insert(option)
            case "exec": kernelOptions.remove("noexec")
            case "atime", "relatime": kernelOptions.remove("noatime")
            case "max_read" where value == "0": break
            case "allow_other": allowsOther = true
            case "xattr": hasExtendedAttributes = true
            case "noxattr": hasExtendedAttributes = false
            case "nonempty": hidesFiles = true
            case "state": break
            case "grace":
                guard let seconds = value.flatMap(Double.init), (0...3600).contains(seconds) else {
                    throw CommandFailure(
                        option, "grace is a number of seconds, 0 to 3600.",
                        status: ExitStatus.usage)
                }
                grace = .milliseconds(Int64(seconds * 1000))
            case "cache":
                guard let bytes = value.flatMap(ByteCount.parse) else {
                    throw CommandFailure(
                        option, "cache is \(ByteCount.rule).", status: ExitStatus.usage)
                }
                cacheBytes = bytes
            case let name where Self.ignored.contains(String(name)): break
            case let name where name.hasPrefix("x-") || name.hasPrefix("comment"): break
            case let name:
                if let reason = Self.refusal(of: String(name)) {
                    throw CommandFailure(option, reason, status: ExitStatus.usage)
                }
                extra.append(option)
            }
        }
        // mount(8) passes rw when fstab does not mention it, which does not override the settings.
        isReadOnly = command.readOnly || configured.isReadOnly || isReadOnlyOption
        self.allowsOther = allowsOther
        self.hasExtendedAttributes = hasExtendedAttributes
        self.grace = grace
        self.cacheBytes = cacheBytes
        self.hidesFiles = hidesFiles
        extraOptions = kernelOptions.sorted() + extra
        threads = max(1, command.threads)
    }

    /// Returns the state directory that `-o state=DIR` names, for fstab. The last one is used.
    private static func named(_ options: [String]) throws(CommandFailure) -> String? {
        guard let option = options.last(where: { $0 == "state" || $0.hasPrefix("state=") }) else {
            return nil
        }
        guard let value = option.split(separator: "=", maxSplits: 1).dropFirst().first else {
            throw CommandFailure(
                option, "state needs the name of a directory.", status: ExitStatus.usage)
        }
        return Places.absolute(String(value))
    }

    /// Returns the named store. Without a name, it is the store of a stale mount there, or the
    /// default one.
    ///
    /// Errors: another store has, or had, its mount there.
    private static func store(
        at mountpoint: String, named: String?
    ) throws(CommandFailure) -> String {
        guard let there = MountTable.mount(at: mountpoint), there.isRecordFS else {
            return named ?? Places.state
        }
        if let named, !HostDirectory.isSame(named, there.source) {
            throw CommandFailure(
                mountpoint,
                "is the mount of the store \(there.source), and --state names \(named). recordfs "
                    + "unmount \(mountpoint) ends it.")
        }
        return there.source
    }

    /// Removes a stale mount there, refuses a live one, and makes the directory.
    func prepareMountpoint() throws(CommandFailure) {
        try reporting(mountpoint) { () throws(RecordError) in
            if MountTable.isStale(mountpoint) {
                try MountDaemon.unmount(mountpoint: mountpoint, lazy: true)
            }
            if MountTable.mount(at: mountpoint)?.isRecordFS == true {
                throw RecordError(
                    .alreadyExists,
                    "is mounted already. recordfs unmount \(mountpoint) ends that mount.")
            }
            try checkPlaces()
            try HostDirectory.make(mountpoint)
            let isFit = hidesFiles ? true : try HostDirectory.isEmpty(mountpoint)
            guard isFit else {
                throw RecordError(
                    .notEmpty,
                    "has files, which a mount would hide. Choose another directory, or hide them "
                        + "with -o nonempty.")
            }
        }
    }

    /// Checks the places of the mount and the store.
    ///
    /// Errors: `invalidArgument` when the mount would cover records, or when the store would be on
    /// a mount.
    private func checkPlaces() throws(RecordError) {
        if let outer = MountedPath(mountpoint).mount {
            throw RecordError(
                .invalidArgument,
                "is on the mount \(outer.mountpoint), whose records it would hide. Choose a "
                    + "directory outside it.")
        }
        let store = MountedPath(directory)
        if let outer = store.mount {
            throw RecordError(
                .invalidArgument,
                "the store cannot be in \(directory): that is on the mount \(outer.mountpoint).")
        }
        guard store.path != mountpoint, !store.path.hasPrefix(mountpoint + "/") else {
            throw RecordError(
                .invalidArgument,
                "would hide its own store in \(directory). Choose another directory.")
        }
    }

    /// Returns the arguments of a process that serves this mount.
    func arguments(readyDescriptor: Int32) -> [String] {
        var arguments = [
            "mount", "--foreground", "--ready-descriptor", "\(readyDescriptor)",
            "--state", directory, "--threads", "\(threads)",
            "-o", "grace=\(Double(grace / .milliseconds(1)) / 1000)",
        ]
        if let cacheBytes { arguments += ["-o", "cache=\(cacheBytes)"] }
        if isReadOnly { arguments.append("--read-only") }
        if allowsOther { arguments.append("--allow-other") }
        if hasExtendedAttributes { arguments += ["-o", "xattr"] }
        if hidesFiles { arguments += ["-o", "nonempty"] }
        for option in extraOptions { arguments += ["-o", option] }
        return arguments + ["--", mountpoint]
    }
}
