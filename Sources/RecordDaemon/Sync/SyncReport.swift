import RecordControl
import RecordModel
import RecordStore
import RecordSync
import RecordWire

/// The state of the exchange with a record server, for status and for `.recordfs`.
struct SyncReport {
    private let status: SyncStatus
    private let account: Account
    /// The time by which the server's clock is ahead of this machine's clock.
    private let clockAhead: Duration?
    private let store: RecordStore

    init(_ status: SyncStatus, of service: SyncService, in store: RecordStore) {
        self.init(
            status, account: service.account, clockAhead: service.clockDifference, store: store)
    }

    init(_ status: SyncStatus, account: Account, clockAhead: Duration?, store: RecordStore) {
        self.status = status
        self.account = account
        self.clockAhead = clockAhead
        self.store = store
    }

    var json: JSONValue {
        .members([
            "server": .text(account.server), "container": .string(account.container),
            "environment": .text(account.environment.rawValue),
            "profile": .text(account.profile.rawValue),
            "user": .text(account.user.description),
            "paused": .bool(status.isPaused), "needsSignIn": .bool(status.needsSignIn),
            "idle": .bool(status.isIdle),
            "lastFetch": status.lastFetch.map { .text(Showing.time($0)) } ?? .null,
            "nextTry": status.nextTry.map { .text(Showing.time($0)) } ?? .null,
            "clockAheadSeconds": clockAhead.map { .integer($0.components.seconds) } ?? .null,
            "downloads": .array(status.downloads.map(json)),
            "problems": .array(status.problems.map(json)),
        ])
    }

    private func json(_ problem: SyncStatus.Problem) -> JSONValue {
        .members([
            "zone": problem.zone.flatMap(path).map { .text($0) },
            "message": .text("\(problem.problem)"), "since": .text(Showing.time(problem.since)),
            "failures": .integer(Int64(problem.failures)),
            "isWait": .bool(problem.problem.isWait),
        ])
    }

    private func json(_ progress: DownloadProgress.Zone) -> JSONValue {
        .members([
            "zone": path(of: progress.zone).map { .text($0) },
            "received": .integer(Int64(progress.received)),
            "total": .integer(Int64(progress.total)),
        ])
    }

    /// Returns the path of a zone. Returns nil when it no longer exists.
    private func path(of zone: ZoneID) -> String? {
        do throws(RecordError) {
            guard let info = try store.zone(zone) else { return nil }
            return RecordPath(database: info.database, owner: info.owner, zone: info.name)
                .description
        } catch {
            return nil
        }
    }
}
