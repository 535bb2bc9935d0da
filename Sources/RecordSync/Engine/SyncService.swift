import Dispatch
package import Logging
package import RecordModel
package import RecordStore
import Synchronization

/// The engine of a store's account, for a daemon that is not asynchronous.
package final class SyncService: Sendable {
    /// The engines, one for each database.
    private let engines: [SyncEngine]
    private let downloads: AssetDownloads
    private let keeper: PinKeeper
    private let task: Task<Void, Never>
    private let tokens: WebTokens
    private let transport: HTTPTransport
    private let network: NetworkWatch?
    let store: RecordStore
    package let account: Account

    /// Starts to sync the store with the account of its state directory. Returns nil when there is
    /// no account, or it is signed out. Errors: those of reading the account; alreadyExists when
    /// the store belongs to another account.
    package static func start(
        _ store: RecordStore, _ policy: SyncPolicy = SyncPolicy(), logger: Logger
    ) throws(RecordError) -> SyncService? {
        let file = AccountFile(stateDirectory: store.directory)
        guard let account = try file.read() else { return nil }
        try store.setOwner(account.owner)
        guard account.isSignedIn else { return nil }
        if !policy.databases.contains(.shared), try !store.sharing.invitations().isEmpty {
            // Nothing would report the end of these invitations.
            try store.write(author: .sync, isFreeing: true) { (transaction) throws(RecordError) in
                try transaction.sharing.setInvitations([])
            }
            try store.upkeep.scrub()
        }
        return SyncService(store, account, policy, file, logger)
    }

    private init(
        _ store: RecordStore, _ account: Account, _ policy: SyncPolicy, _ file: AccountFile,
        _ logger: Logger
    ) {
        self.account = account
        self.store = store
        let kept = Mutex(account.webAuthToken)
        let queue = DispatchQueue(label: "recordfs.account")
        // One object serves everything that signs with the account's token.
        let tokens = WebTokens(
            account.webAuthToken, goesAlone: account.profile == .cloudkit
        ) { token, done in
            queue.async { done(Self.keep(token, file, kept, logger)) }
        }
        self.tokens = tokens
        let isRefused = Mutex(account.refusedMilliseconds != nil)
        let authority = AuthorityFile(stateDirectory: store.directory).existing
        let http = HTTPCall(authority: authority)
        let reachability = Reachability()
        let transport = HTTPTransport(
            account, over: http, tokens: tokens, reachability: reachability
        ) { isAccepted in
            let isNews = isRefused.withLock { isRefused in
                defer { isRefused = !isAccepted }
                return isRefused == isAccepted
            }
            if isNews { queue.async { Self.note(isAccepted, of: account, file, logger) } }
        }
        self.transport = transport
        var settings = Exchange.Settings(account)
        settings.policy = policy
        let exchanges = Self.databases.filter(policy.databases.contains).map { database in
            Exchange(
                store: store, transport: transport, database: database, settings: settings,
                logger: logger)
        }
        let group = EngineGroup()
        let engines = exchanges.map {
            SyncEngine($0, schedule: Self.schedule($0), of: group)
        }
        group.add(engines)
        self.engines = engines
        reachability.onReturn {
            Task { for engine in engines { await engine.online() } }
        }
        network = NetworkWatch { reachability.noteChangedNetwork() }
        let downloads = AssetDownloads(exchanges, store: store, transport: transport)
        self.downloads = downloads
        let keeper = PinKeeper(
            store: store, downloads: downloads, logger: logger,
            mayBring: {
                let status = SyncStatus(engines.map(\.published))
                return !status.isPaused && !status.needsSignIn
            })
        self.keeper = keeper
        reachability.onReturn { keeper.look() }
        task = Task {
            await withDiscardingTaskGroup { group in
                for engine in engines { group.addTask { await engine.run() } }
                group.addTask { await PushListener.run(for: engines) }
                group.addTask { await keeper.run() }
            }
        }
    }

    private static let databases = [Database.private, .shared, .public]

    private static func schedule(_ exchange: Exchange) -> SyncSchedule.Settings {
        var schedule = SyncSchedule.Settings()
        switch exchange.database {
        case .public: schedule.pollInterval = exchange.settings.policy.publicInterval
        // The courier of the private database also reports news of the shared database. When the
        // courier returns after an absence, the engine asks for the news that it missed. Two more
        // looks a minute would be half of the requests of an idle daemon.
        case .shared: schedule.pollInterval = .seconds(120)
        case .private, .local: break
        }
        return schedule
    }

    /// Stops the running work, and returns when nothing uses the store any more. Blocks.
    package func stop() {
        task.cancel()
        blocking { [task, downloads, tokens] in
            await downloads.stop()
            await task.value
            // The answer to the running request contains the next valid token.
            await tokens.finish(atMost: .seconds(5))
        }
    }

    /// Downloads and uploads now, and returns the status after that. Blocks.
    package func finishDueWork() -> SyncStatus {
        blocking { [engines] in
            await withDiscardingTaskGroup { group in
                for engine in engines { group.addTask { await engine.finishDueWork() } }
            }
            return SyncStatus(engines.map(\.published))
        }
    }

    /// Saves the token, unless somebody has signed in or out since: then the token in the file is
    /// not the one that was saved last. On one queue.
    static func keep(
        _ token: Text, _ file: AccountFile, _ kept: borrowing Mutex<Text>, _ logger: Logger
    ) -> WebTokens.Kept {
        let last = kept.withLock(\.self)
        do throws(RecordError) {
            let account = try file.update { (account) throws(RecordError) in
                guard account?.webAuthToken == last else { return }
                account?.webAuthToken = token
            }
            guard account?.webAuthToken == token else { return .outdated }
            kept.withLock { $0 = token }
            return .kept
        } catch {
            logger.error("The sign-in was not kept", metadata: ["why": "\(error)"])
            return .failed(error)
        }
    }

    /// Saves whether the server accepts the sign-in, for readers of the file while no daemon runs.
    private static func note(
        _ isAccepted: Bool, of known: Account, _ file: AccountFile, _ logger: Logger
    ) {
        do throws(RecordError) {
            try file.update { (account) throws(RecordError) in
                guard account?.user == known.user, account?.isSignedIn == true else { return }
                account?.refusedMilliseconds = isAccepted ? nil : SystemClock().now.milliseconds
            }
        } catch {
            logger.error("The end of the sign-in was not kept", metadata: ["why": "\(error)"])
        }
    }

    /// The time by which the server's clock is ahead of this machine's clock. Nil when the server
    /// has not sent its time yet.
    package var clockDifference: Duration? { transport.clockDifference }

    /// Notes local changes. For `RecordStore.observe`.
    package func noteChanges(_ changes: [StoreChange]) {
        for engine in engines { engine.noteChanges(changes) }
        keeper.look()
    }

    /// The status at the last change.
    package var status: SyncStatus { SyncStatus(engines.map(\.published)) }

    /// Downloads bytes of an asset that only the server has. Calls back once, from any thread.
    package func fetch(
        _ asset: AssetEntry, offset: Int64, count: Int,
        _ answer: @escaping @Sendable (Result<[UInt8], RecordError>) -> Void
    ) {
        Task { [downloads] in
            do throws(RecordError) {
                answer(.success(try await downloads.read(asset, offset: offset, count: count)))
            } catch {
                answer(.failure(error))
            }
        }
    }

    /// Downloads an asset into the store. Calls back once, from any thread. The returned function
    /// ends the wait. It also ends the download when nobody else waits for it.
    package func bring(
        _ asset: AssetEntry, _ answer: @escaping @Sendable (Result<Void, RecordError>) -> Void
    ) -> @Sendable () -> Void {
        let task = Task { [downloads] in
            do throws(RecordError) {
                answer(.success(try await downloads.bring(asset)))
            } catch {
                answer(.failure(error))
            }
        }
        return { task.cancel() }
    }

    /// `kick`, `pause` and `resume` return at once.
    package func kick() {
        Task { [engines] in for engine in engines { await engine.kick() } }
    }
    package func pause() {
        Task { [engines] in for engine in engines { await engine.pause() } }
    }
    package func resume() {
        Task { [engines, keeper] in
            for engine in engines { await engine.resume() }
            keeper.look()
        }
    }

    /// Returns the engine of a database. Errors: unsupported when the settings leave the database
    /// out.
    func engine(of database: Database) throws(RecordError) -> SyncEngine {
        guard let engine = engines.first(where: { $0.exchange.database == database }) else {
            throw RecordError(
                .unsupported, "config.json leaves the database \"\(database.name)\" out.")
        }
        return engine
    }

    /// Runs an asynchronous function and waits for it, on a thread that does not belong to Swift's
    /// pool.
    func blocking<Result: Sendable>(
        _ body: @escaping @Sendable () async -> Result
    ) -> Result {
        let box = ResultBox<Result>()
        Task { box.put(await body()) }
        return box.take()
    }
}

/// One value that a thread waits for.
package final class ResultBox<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    package init() {}

    package func put(_ new: Value) {
        value.withLock { $0 = new }
        isThere.signal()
    }

    /// Blocks until the value is set. To be called once.
    package func take() -> Value {
        AnsweringThreads.checkMayWait()
        while true {
            isThere.wait()
            if let value = value.withLock(\.self) { return value }
        }
    }
}
