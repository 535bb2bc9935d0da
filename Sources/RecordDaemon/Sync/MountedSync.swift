import Logging
import RecordModel
import RecordStore
import RecordSync
import Synchronization

/// The exchange of a mount's store with its record server, while a user is signed in.
final class MountedSync: Sendable {
    private let store: RecordStore
    private let account: ConfiguredAccount
    private let policy: SyncPolicy
    private let logger: Logger
    private let running = Mutex<SyncService?>(nil)
    /// The lock while an engine is started or stopped, so that there is never more than one.
    private let isOver = Mutex(false)

    /// Starts the exchange.
    ///
    /// Errors: those of reading the account; invalidArgument when the account differs from the
    /// settings.
    init(
        _ store: RecordStore, _ account: ConfiguredAccount, _ policy: SyncPolicy, logger: Logger
    ) throws(RecordError) {
        self.store = store
        self.account = account
        self.policy = policy
        self.logger = logger
        try start()
        store.observe { [weak self] changes in self?.service?.noteChanges(changes) }
    }

    private func start() throws(RecordError) {
        guard store.isWritable else { return }
        if let known = try AccountFile(stateDirectory: store.directory).read() {
            try account.check(known)
        }
        guard let new = try SyncService.start(store, policy, logger: logger) else { return }
        logger.info("In step with \(new.account.server)", source: LogCategory.mount)
        running.withLock { $0 = new }
    }

    /// Stops the exchange. When it returns, no part of it uses the store any more.
    func stop() {
        isOver.withLock { isOver in
            isOver = true
            stopService()
        }
    }

    private func stopService() {
        let last = running.withLock { service in
            defer { service = nil }
            return service
        }
        last?.stop()
    }

    /// Starts the exchange again after a user has signed in or out.
    func restart() throws(RecordError) {
        let outcome = isOver.withLock { isOver in
            Result { () throws(RecordError) in
                guard !isOver else { return }
                stopService()
                try start()
            }
        }
        try outcome.get()
    }

    /// The running service. It is nil while no user is signed in.
    var service: SyncService? { running.withLock(\.self) }

    /// Returns the service.
    ///
    /// Errors: unsupported while no user is signed in.
    func signedIn() throws(RecordError) -> SyncService {
        if let service { return service }
        guard store.isWritable else {
            throw RecordError(
                .readOnly,
                "a read-only mount shows the records of this machine; it fetches and sends nothing. "
                    + "Mount it without --read-only for that.")
        }
        throw RecordError(
            .unsupported,
            "nobody is signed in to a record server. recordfs login URL does that.")
    }

    /// The state for status. It is nil while no user is signed in.
    var status: JSONValue? {
        service.map { SyncReport($0.status, of: $0, in: store).json }
    }
}
