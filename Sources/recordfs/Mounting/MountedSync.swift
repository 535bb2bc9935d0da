import Logging
import RecordControl
import RecordModel
import RecordStore
import RecordSync
import RecordTree
import RecordWire
import Synchronization

/// The exchange of a mount's store with its record server, while a user is signed in.
final class MountedSync: Sendable {
    private let store: RecordStore
    private let account: StoreSettings.AccountSettings
    private let policy: SyncPolicy
    private let logger: Logger
    private let service = Mutex<SyncService?>(nil)
    /// The lock while an engine is started or stopped, so that there is never more than one.
    private let isOver = Mutex(false)

    /// Starts the exchange.
    ///
    /// Errors: those of reading the account; invalidArgument when the account differs from the
    /// settings.
    init(
        _ store: RecordStore, _ account: StoreSettings.AccountSettings, _ policy: SyncPolicy,
        notify: String?, logger: Logger
    ) throws(RecordError) {
        self.store = store
        self.account = account
        self.policy = policy
        self.logger = logger
        try start()
        let notices = ShareNotices(
            command: notify.map { NotifyCommand($0, logger) }, logger: logger)
        store.observe { [weak self] changes in
            self?.service.withLock(\.self)?.noteChanges(changes)
            notices.tell(changes, of: store)
        }
    }

    private func start() throws(RecordError) {
        guard store.isWritable else { return }
        if let known = try AccountFile(stateDirectory: store.directory).read() {
            try account.check(known)
        }
        guard let new = try SyncService.start(store, policy, logger: logger) else { return }
        logger.info("In step with \(new.account.server)")
        service.withLock { $0 = new }
    }

    /// Stops the exchange. When it returns, no part of it uses the store any more.
    func stop() {
        isOver.withLock { isOver in
            isOver = true
            stopService()
        }
    }

    private func stopService() {
        let last = service.withLock { service in
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

    /// Returns the service.
    ///
    /// Errors: unsupported while no user is signed in.
    private func signedIn() throws(RecordError) -> SyncService {
        if let service = service.withLock(\.self) { return service }
        guard store.isWritable else {
            throw RecordError(
                .readOnly,
                "a read-only mount shows the records of this machine; it fetches and sends nothing."
            )
        }
        throw RecordError(
            .unsupported,
            "nobody is signed in to a record server. recordfs login URL does that.")
    }

    /// Performs the verb of a command. Errors: unsupported while no user is signed in.
    func run(_ verb: ControlVerb) throws(RecordError) -> JSONValue {
        if verb == .account {
            try restart()
            return .object([])
        }
        let service = try signedIn()
        switch verb {
        case .pause: service.pause()
        case .resume: service.resume()
        case .retry:
            try store.retryParked()
            return Self.json(service.settle(), service, store)
        case .sync: return Self.json(service.settle(), service, store)
        case .account, .flush, .shutdown: break
        }
        return .object([])
    }

    /// Sends a command's request about shares to the server. Errors: also those of the server.
    func share(_ request: SharingRequest) throws(RecordError) -> JSONValue {
        let service = try signedIn()
        switch request {
        case .accept(let link):
            let joined = try service.accept(link: link)
            let path = RecordPath(
                database: joined.zone.database, owner: joined.zone.owner, zone: joined.zone.name)
            return joined.share.json.adding("path", .text(path.bytes))
        case .decline(let link):
            try service.decline(link: link)
            return .object([])
        case .requestAccess(let link):
            try service.shareRequests.requestAccess(link: link)
            return .object([])
        case .show(let path): return try service.share(at: try place(path)).json
        case .thumbnail(let path):
            guard let bytes = try service.share(at: try place(path)).thumbnail else {
                throw RecordError(.notFound, "the share has no thumbnail.")
            }
            return ["$bytes": .string(Text(utf8: Base64.encode(bytes)))]
        case .preview(let path, let edit):
            let edit = try edit.map { (json) throws(RecordError) in try ShareEdit(json) }
            return try service.preview(edit, at: try place(path)).json
        case .create(let path, let edit):
            return try service.edit(try ShareEdit(edit), at: try place(path), isNew: true).json
        case .change(let path, let edit):
            return try service.edit(try ShareEdit(edit), at: try place(path), isNew: false).json
        case .createInOwnZone(let path, let zone, let edit):
            let move = try TreeMove(of: store.record(at: path), to: zone)
            return try Self.json(
                service.shareInOwnZone(move, try ShareEdit(edit)), of: path)
        case .add(let path, let target):
            return try Self.json(
                service.add(try store.record(at: path).id, to: try place(target)), of: path)
        case .end(let path):
            try service.endShare(at: try place(path))
            return .object([])
        }
    }

    /// Returns the share with the present path of the record.
    private static func json(_ shared: SharedElsewhere, of path: RecordPath) -> JSONValue {
        let zone = shared.zone
        let now = RecordPath(
            database: zone.database, owner: zone.owner, zone: zone.name, type: path.type,
            item: path.item)
        return shared.share.adding("path", .text(now.bytes))
    }

    /// Returns a zone, or a record in it. Errors: invalidArgument when it cannot be shared,
    /// notFound.
    private func place(_ path: RecordPath) throws(RecordError) -> SharedPlace {
        guard path.database == .private || path.database == .shared, path.zone != nil,
            path.type == nil || path.stem != nil
        else {
            throw RecordError(
                .invalidArgument,
                "zones and records of private can be shared: name private/ZONE or "
                    + "private/ZONE/TYPE/NAME.")
        }
        let zone = try store.zone(at: path)
        guard path.stem != nil else { return SharedPlace(zone: zone, root: nil) }
        return try place(of: try store.record(at: path), in: zone)
    }

    private func place(
        of record: RecordEntry, in zone: ZoneInfo
    ) throws(RecordError) -> SharedPlace {
        guard let meta = try store.meta(of: record.id), record.state == .saved else {
            throw RecordError(.notFound, "it is not saved yet. Correct the draft first.")
        }
        return SharedPlace(zone: zone, root: meta.name)
    }

    /// Returns the place of a share's file.
    private func place(_ file: ShareFile) throws(RecordError) -> SharedPlace {
        switch file {
        case .zone(let id): return SharedPlace(zone: try sharedZone(id), root: nil)
        case .record(let id):
            guard let record = try store.record(id), let type = try store.type(record.type) else {
                throw RecordError(.notFound, "the record is gone.")
            }
            return try place(of: record, in: try sharedZone(type.zone))
        }
    }

    private func sharedZone(_ id: ZoneID) throws(RecordError) -> ZoneInfo {
        guard let zone = try store.zone(id) else {
            throw RecordError(.notFound, "the zone is gone.")
        }
        guard zone.database == .private || zone.database == .shared else {
            throw RecordError(
                .invalidArgument,
                "only zones and records of private can be shared, not those of \(zone.database.name)."
            )
        }
        return zone
    }

    /// The state for status. It is nil while no user is signed in.
    var status: JSONValue? {
        guard let service = service.withLock(\.self) else { return nil }
        return Self.json(service.status, service, store)
    }

    /// The exchange for the files of `.recordfs`.
    var exchange: ServerExchange {
        ServerExchange(
            status: { self.status },
            run: { (command) throws(RecordError) in
                guard let service = self.service.withLock(\.self) else {
                    return try ServerExchange.none.run(command)
                }
                switch command {
                case .sync: service.kick()
                case .pause: service.pause()
                case .resume: service.resume()
                case .retry:
                    try self.store.retryParked()
                    service.kick()
                }
            }, fetcher: self,
            share: { (order, file) throws(RecordError) in
                let (service, place) = (try self.signedIn(), try self.place(file))
                switch order {
                case .save(let text): try service.save(shareText: text, at: place)
                case .check: _ = try service.share(at: place)
                case .end: try service.endShare(at: place)
                }
            })
    }

    private static func json(
        _ status: SyncStatus, _ service: SyncService, _ store: RecordStore
    ) -> JSONValue {
        let account = service.account
        return .members([
            "server": .text(account.server), "container": .string(account.container),
            "environment": .text(account.environment.rawValue),
            "profile": .text(account.profile.rawValue),
            "user": .text(account.user.description),
            "paused": .bool(status.isPaused), "needsSignIn": .bool(status.needsSignIn),
            "idle": .bool(status.isIdle),
            "lastFetch": status.lastFetch.map { .text(Showing.time($0)) } ?? .null,
            "nextTry": status.nextTry.map { .text(Showing.time($0)) } ?? .null,
            "clockAheadSeconds": service.clockDifference.map {
                .integer($0.components.seconds)
            } ?? .null,
            "downloads": .array(status.downloads.map { json($0, store) }),
            "problems": .array(status.problems.map { json($0, store) }),
        ])
    }

    private static func json(_ problem: SyncStatus.Problem, _ store: RecordStore) -> JSONValue {
        .members([
            "zone": problem.zone.flatMap { path(of: $0, store) }.map { .text($0) },
            "message": .text("\(problem.problem)"), "since": .text(Showing.time(problem.since)),
            "failures": .integer(Int64(problem.failures)),
            "isWait": .bool(problem.problem.isWait),
        ])
    }

    private static func json(
        _ progress: DownloadProgress.Zone, _ store: RecordStore
    ) -> JSONValue {
        .members([
            "zone": path(of: progress.zone, store).map { .text($0) },
            "received": .integer(Int64(progress.received)),
            "total": .integer(Int64(progress.total)),
        ])
    }

    /// Returns the path of a zone. Returns nil when it no longer exists.
    private static func path(of zone: ZoneID, _ store: RecordStore) -> String? {
        do throws(RecordError) {
            guard let info = try store.zone(zone) else { return nil }
            return RecordPath(database: info.database, owner: info.owner, zone: info.name)
                .description
        } catch {
            return nil
        }
    }
}

extension MountedSync: AssetFetcher {
    func fetch(
        _ asset: AssetEntry, offset: Int64, count: Int,
        _ answer: @escaping @Sendable (Result<[UInt8], RecordError>) -> Void
    ) {
        if let service = service.withLock(\.self) {
            service.fetch(asset, offset: offset, count: count, answer)
        } else {
            NoAssetFetcher().fetch(asset, offset: offset, count: count, answer)
        }
    }
    func bring(
        _ asset: AssetEntry, _ answer: @escaping @Sendable (Result<Void, RecordError>) -> Void
    ) -> @Sendable () -> Void {
        if let service = service.withLock(\.self) {
            service.bring(asset, answer)
        } else {
            NoAssetFetcher().bring(asset, answer)
        }
    }
}
