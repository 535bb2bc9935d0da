import Glibc
import Logging
import RecordControl
import RecordModel
import RecordMount
import RecordStore
import RecordTree

/// Serves a mount in this process until it is unmounted: store, control socket, file system,
/// exchange with the record server, notices.
package struct MountService {
    private let settings: MountSettings
    /// The pipe on which the process that started this one waits. It is nil when a person started
    /// it.
    private let ready: ReadyPipe?
    private let stop = StopSignal()
    private let view = MountView()
    private let logger: Logger

    package init(settings: MountSettings, ready: ReadyPipe?) {
        self.settings = settings
        self.ready = ready
        var logger = Logger(label: "recordfs") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = settings.logLevel
        self.logger = logger
    }

    /// Returns when the mount has ended. To be called before the process has other threads.
    package func run() throws(MountFailure) {
        if ready != nil {
            setsid()
            // A directory that is the working directory of a process cannot be unmounted.
            _ = chdir("/")
        }
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        raiseFileLimit()
        _ = StopSignals(stop: stop, logger: logger)
        do throws(MountFailure) {
            try serve()
        } catch {
            ready?.send(.failed(error))
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
                "The number of open files keeps its low limit: \(String(cString: strerror(errno)))",
                source: LogCategory.mount)
        }
    }

    private func serve() throws(MountFailure) {
        let opening = StoreOpening(mount: settings.mount, logger: logger, stop: stop)
        let store = try failing { () throws(RecordError) in try opening.open() }
        let sync = try failing { () throws(RecordError) in
            try MountedSync(store, settings.account, settings.policy, logger: logger)
        }
        let refusals = tellPeople(of: store)
        let verbs = VerbRunner(
            mountpoint: settings.mountpoint, store: store, sync: sync, view: view)
        let requests = MountRequests(verbs: verbs, isReadOnly: settings.mount.readOnly)
        // When the directory cannot be written, a socket cannot be made there, and requests would
        // have no effect.
        let server = try failing(about: settings.directory) { () throws(RecordError) in
            try opening.canWrite
                ? ControlServer(
                    directory: settings.directory, logger: logger,
                    handler: { (request, author) throws(RecordError) in
                        try requests.run(request, by: author)
                    })
                : nil
        }
        var mount = settings.mount
        mount.refused = { refusals.tell($0, $1) }
        let outcome = Result { [mount] () throws(MountFailure) in
            defer { sync.stop() }
            try failing(about: settings.mountpoint) { () throws(RecordError) in
                try MountDaemon.run(
                    mount, store: store, stop: stop, view: view,
                    server: ServerBridge(sync, verbs), logger: logger
                ) {
                    logger.info("Mounted at \(settings.mountpoint)", source: LogCategory.mount)
                    ready?.send(.ready)
                }
            }
        }
        server?.stop()
        try failing { () throws(RecordError) in try store.close() }
        try outcome.get()
        logger.info("Unmounted \(settings.mountpoint)", source: LogCategory.mount)
    }

    /// Starts to tell people about actions of others and about refused saves.
    /// - Returns: the notices of refused saves, for those that the store does not report.
    private func tellPeople(of store: RecordStore) -> RefusalNotices {
        let shares = ShareNotices(
            runner: settings.notify.map { NoticeRunner($0, logger) }, logger: logger)
        store.observe { shares.tell($0, of: store) }
        let refusals = RefusalNotices(
            mountpoint: settings.mountpoint, log: RefusalLog(path: settings.refusalLog),
            logger: logger)
        store.observe { refusals.tell($0, of: store) }
        return refusals
    }
}
