import Dispatch
package import Logging
package import RecordModel
package import RecordStore
import Synchronization

/// The engine of a store's account, for a daemon that is not asynchronous.
package final class SyncService: Sendable {
    /// One for each database.
    private let engines: [SyncEngine]
    private let downloads: AssetDownloads
    private let keeper: PinKeeper
    private let task: Task<Void, Never>
    private let tokens: WebTokens
    private let transport: HTTPTransport
    private let network: NetworkWatch?
    let store: RecordStore
    package let account: Account

    /// Starts to keep the store in step with the account of its state directory; nil when there is
    /// none. Errors: those of reading the account; alreadyExists when the store belongs to another.
    package static func start(
        _ store: RecordStore, _ policy: SyncPolicy = SyncPolicy(), logger: Logger
    ) throws(RecordError) -> SyncService? {
        let file = AccountFile(stateDirectory: store.directory)
        guard let account = try file.read() else { return nil }
        try store.setOwner(account.owner)
        guard account.isSignedIn else { return nil }
        if !policy.databases.contains(.shared), try !store.invitations().isEmpty {
            // Nobody would hear of their end.
            try store.write(author: .sync, isFreeing: true) { (transaction) throws(RecordError) in
                try transaction.setInvitations([])
            }
            try store.scrub()
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
        // One for all that signs with the account's token.
        let tokens = WebTokens(
            account.webAuthToken, goesAlone: account.profile == .cloudkit
        ) { token, done in
            queue.async { done(Self.keep(token, file, kept, logger)) }
        }
        self.tokens = tokens
        let isRefused = Mutex(account.refusedMilliseconds != nil)
        let authority = AuthorityFile(stateDirectory: store.directory).existing
        let http = HTTPExchange(authority: authority)
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
        // The courier of the private database tells of it, and what it tells while it was away is asked
        // for when it is back: two looks a minute more would be half of what an idle daemon asks.
        case .shared: schedule.pollInterval = .seconds(120)
        case .private, .local: break
        }
        return schedule
    }

    /// Breaks off what is under way, and returns when nothing uses the store any more. Blocks.
    package func stop() {
        task.cancel()
        blocking { [task, downloads, tokens] in
            await downloads.stop()
            await task.value
            // Its answer has the token that is good next.
            await tokens.finish(atMost: .seconds(5))
        }
    }

    /// Fetches and sends now, and returns how it stands then. Blocks.
    package func settle() -> SyncStatus {
        blocking { [engines] in
            await withDiscardingTaskGroup { group in
                for engine in engines { group.addTask { await engine.settle() } }
            }
            return SyncStatus(engines.map(\.published))
        }
    }

    /// Writes the token down: not when somebody has signed in or out since, for then the file has
    /// another one than the one that was kept last. On one queue.
    private static func keep(
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

    /// Writes down whether the server accepts the sign-in, for who looks when no daemon runs.
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

    /// How far the server's clock is ahead of this machine's; nil while it has not said.
    package var clockDifference: Duration? { transport.clockDifference }

    /// For `RecordStore.observe`.
    package func noteChanges(_ changes: [StoreChange]) {
        for engine in engines { engine.noteChanges(changes) }
        keeper.look()
    }

    /// How it stood when something last changed.
    package var status: SyncStatus { SyncStatus(engines.map(\.published)) }

    /// Brings bytes of an asset that only the server has; calls back once, from any thread.
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

    /// Brings an asset into the store; calls back once, from any thread. What it returns gives the
    /// wait up, and with it the download when nobody else wants it.
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

    /// These return at once.
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

    /// Errors: unsupported when the settings leave the database out.
    func engine(of database: Database) throws(RecordError) -> SyncEngine {
        guard let engine = engines.first(where: { $0.exchange.database == database }) else {
            throw RecordError(
                .unsupported, "config.json leaves the database \"\(database.name)\" out.")
        }
        return engine
    }

    /// Waits on a thread that is not of Swift's pool.
    func blocking<Result: Sendable>(
        _ body: @escaping @Sendable () async -> Result
    ) -> Result {
        let box = ResultBox<Result>()
        Task { box.put(await body()) }
        return box.take()
    }
}

/// One value that somebody waits for.
package final class ResultBox<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    package init() {}

    package func put(_ new: Value) {
        value.withLock { $0 = new }
        isThere.signal()
    }

    /// Blocks until the value is there. To be called once.
    package func take() -> Value {
        AnsweringThreads.checkMayWait()
        while true {
            isThere.wait()
            if let value = value.withLock(\.self) { return value }
        }
    }
}
