import ArgumentParser
import Glibc
import RecordControl
import RecordDaemon
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
        help: ArgumentHelp(
            "The author of what is saved on the mount, for recordfs events and history.",
            valueName: "name"))
    var author: AuthorName?
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
    var threads = MountConfiguration.defaultThreads
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
        let configuration = try reporting(HostPaths.configuration) { () throws(RecordError) in
            try Configuration.read()
        }
        guard !configuration.stores.isEmpty else {
            throw CommandFailure(
                HostPaths.configuration, "has no stores. man recordfs says how to write them down.",
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
            let ready = readyDescriptor.map { ReadyPipe(descriptor: $0) }
            if ready == nil { try settings.prepareMountpoint() }
            do throws(MountFailure) {
                try MountService(settings: settings, ready: ready).run()
            } catch {
                throw CommandFailure(error)
            }
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
