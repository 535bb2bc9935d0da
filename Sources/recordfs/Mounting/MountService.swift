import Foundation
import Glibc
import Logging
import RecordControl
import RecordModel
import RecordMount
import RecordStore

/// Serves a mount in this process until it is unmounted: store, control socket, file system.
struct MountService {
    /// The longest time that the last process with the store may take to release it.
    private static let patience = Duration.seconds(10)
    private static let pause = Duration.milliseconds(20)

    let settings: MountSettings
    /// The pipe on which the process that started this one waits. It is nil when a person started
    /// it.
    let readyDescriptor: Int32?
    private let stop = StopSignal()
    private let view = MountView()

    init(settings: MountSettings, readyDescriptor: Int32?) {
        self.settings = settings
        self.readyDescriptor = readyDescriptor
    }

    func run() throws {
        if readyDescriptor != nil {
            setsid()
            // A directory that is the working directory of a process cannot be unmounted.
            _ = chdir("/")
        }
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        raiseFileLimit()
        _ = StopSignals(stop: stop, logger: logger)
        do {
            if readyDescriptor == nil { try settings.prepareMountpoint() }
            try serve()
        } catch {
            tell(error)
            throw error
        }
    }

    /// Raises the limit of open files to the highest that the system allows a process. Each open
    /// scratch file and asset of programs on the mount is an open file of this process.
    private func raiseFileLimit() {
        var limit = rlimit()
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(files, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        if setrlimit(files, &limit) != 0 {
            logger.warning(
                "The number of open files keeps its low limit: \(String(cString: strerror(errno)))")
        }
    }

    private var logger: Logger {
        var logger = Logger(label: "recordfs") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = LogLevel.ofDaemon
        return logger
    }

    private func serve() throws(CommandFailure) {
        let store = try reporting { () throws(RecordError) in try openStore() }
        let sync = try reporting { () throws(RecordError) in
            try MountedSync(
                store, settings.account, settings.policy, notify: settings.notify, logger: logger)
        }
        let notices = RefusalNotices(mountpoint: settings.mountpoint, logger: logger)
        store.observe { notices.tell($0, of: store) }
        // When the directory cannot be written, a socket cannot be made there, and requests would
        // have no effect.
        let server = try reporting(settings.directory) { () throws(RecordError) in
            try canWrite
                ? ControlServer(
                    directory: settings.directory, logger: logger, handler: handler(store, sync))
                : nil
        }
        var configuration = configuration
        configuration.refused = { notices.tell($0, $1) }
        let outcome = Result { [configuration] () throws(CommandFailure) in
            defer { sync.stop() }
            try reporting(settings.mountpoint) { () throws(RecordError) in
                try MountDaemon.run(
                    configuration, store: store, stop: stop, view: view,
                    exchange: sync.exchange, logger: logger
                ) {
                    logger.info("Mounted at \(settings.mountpoint)")
                    sendReady([UInt8(ascii: "R")])
                }
            }
        }
        server?.stop()
        try reporting { () throws(RecordError) in try store.close() }
        try outcome.get()
        logger.info("Unmounted \(settings.mountpoint)")
    }

    private var canWrite: Bool { RecordStore.canWrite(directory: settings.directory) }

    private func openStore() throws(RecordError) -> RecordStore {
        let options = StoreOptions(
            grace: settings.grace, logger: logger, readOnly: settings.isReadOnly)
        guard !canWrite else { return try openForWriting(options) }
        guard settings.isReadOnly else {
            throw RecordError(
                .readOnly,
                "\(settings.directory) cannot be written. Mount it with --read-only, or copy it to "
                    + "a disk that can be written.")
        }
        return try RecordStore.openForReading(directory: settings.directory, options: options)
    }

    /// Opens the store. Waits for a process that no longer has a mount and is about to release the
    /// store: the last daemon, or a command. Errors: as `RecordStore.open`.
    private func openForWriting(_ options: StoreOptions) throws(RecordError) -> RecordStore {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            do throws(RecordError) {
                return try RecordStore.open(directory: settings.directory, options: options)
            } catch {
                let isPassing =
                    error.code == .storeLocked
                    && MountTable.mounts(ofStore: settings.directory).isEmpty
                guard isPassing, ContinuousClock.now < deadline, !stop.wait(Self.pause) else {
                    throw error
                }
            }
        }
    }

    private func handler(_ store: RecordStore, _ sync: MountedSync) -> ControlServer.Handler {
        let mountpoint = settings.mountpoint
        let directory = settings.directory
        let isReadOnly = settings.isReadOnly
        let view = view
        let start = SystemClock().now
        let executor = ControlExecutor(
            store: store,
            verbs: { (verb) throws(RecordError) in
                switch verb {
                case .flush: try store.sync()
                case .shutdown:
                    let records = UnsavedRecords(view.unsavedPaths())
                    guard records.isEmpty else {
                        throw RecordError(.noSpace, records.description(ofStore: directory))
                    }
                    try MountDaemon.unmount(mountpoint: mountpoint, lazy: false)
                case .sync:
                    // The server also gets the deletions of the last moments.
                    try view.outlastGrace()
                    return try sync.run(verb)
                case .pause, .resume, .retry, .account: return try sync.run(verb)
                }
                return .object([])
            },
            sharing: { (request) throws(RecordError) in try sync.share(request) },
            status: {
                let records = UnsavedRecords(view.unsavedPaths())
                return .members([
                    "pid": .integer(getpid()), "mountpoint": .text(mountpoint),
                    "readOnly": .bool(isReadOnly), "since": .text(Showing.time(start)),
                    "version": .text(ProgramVersion.number), "unsaved": records.numberMember,
                    "unsavedRecords": records.namesMember, "sync": sync.status,
                ])
            })
        return { (request) throws(RecordError) in
            // When the command returns, its changes are visible on the mount.
            defer { if request.mayChangeFiles { view.waitUntilHeard() } }
            return try executor.run(request)
        }
    }

    private var configuration: MountConfiguration {
        var configuration = MountConfiguration(
            mountpoint: settings.mountpoint, stateDirectory: settings.directory)
        configuration.readOnly = settings.isReadOnly
        configuration.allowOther = settings.allowsOther
        configuration.extendedAttributes = settings.hasExtendedAttributes
        configuration.hidesFiles = settings.hidesFiles
        configuration.options = settings.extraOptions
        configuration.grace = settings.grace
        configuration.cacheBytes = settings.cacheBytes
        configuration.threads = settings.threads
        configuration.guardProgram = ["recordfs", GuardCommand.name]
        return configuration
    }

    private func tell(_ error: any Error) {
        guard let failure = error as? CommandFailure else { return }
        let code = failure.status == ExitStatus.notFound ? RecordError.Code.notFound : .ioFailure
        let message = JSONValue.members([
            "subject": failure.subject.map { .text($0) }, "code": .text(code.rawValue),
            "message": .text(failure.message),
        ])
        sendReady([UInt8(ascii: "E")] + message.serialized())
    }

    private func sendReady(_ bytes: [UInt8]) {
        guard let readyDescriptor else { return }
        _ = Glibc.write(readyDescriptor, bytes, bytes.count)
        close(readyDescriptor)
    }
}
