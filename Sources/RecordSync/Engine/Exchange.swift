package import Logging
package import RecordModel
package import RecordStore
package import RecordStoreSync
package import RecordWire

/// The work of the engine in one database of an account, piece by piece. Each piece begins and ends
/// with the state of the store, so that it can be interrupted anywhere and repeated.
///
/// Only one piece may run at a time for each zone: the server's answer to an upload is newer than a
/// page of the feed that was read before it. `work` waits for that.
package struct Exchange: Sendable {
    package struct Settings: Sendable {
        /// The limits of one upload request.
        package var claims = ClaimLimits()
        /// The number of records in one page of a feed.
        package var pageRecords = 200
        /// Indicates whether a page of a feed is downloaded while the one before it is applied.
        package var readsAhead = false
        /// The number of requests in a row that may have no result before an upload is left for
        /// later.
        package var fruitlessRequests = 10
        /// Waits after a request that had room left, when more changes are ready by then. With this
        /// wait a copy of many files needs few requests, which leave the machine to the copy. Nil
        /// means no wait.
        package var waitForMore: (@Sendable () async -> Void)?
        /// The number of times that a request is sent again when it does not get through although
        /// others do.
        package var resends = 5
        /// Indicates whether the server is a recordfs-server. Such a server keeps the stamps of
        /// fields, knows which texts are nested JSON, and recognizes a request that arrives twice.
        /// With another server the time of a record replaces the stamps, and the state of the
        /// records shows whether a request without an answer was done.
        package var hasExtensions = true
        /// The part of the account that is kept on this machine.
        package var policy = SyncPolicy()
        /// The largest request with more than one change, in bytes. Nil for no limit.
        package var requestBytes: Int?
        /// The environment of the account's notifications.
        package var environment = ServerEnvironment.development
        /// The number of assets whose bytes are sent at the same time.
        package var parallelAssets = 4

        package init() {}
    }

    package let store: RecordStore
    package let transport: any SyncTransport
    package let database: Database
    package let scope: DatabaseScope
    package let settings: Settings
    let logger: Logger
    let receipts = AssetReceipts()
    let sizes = RequestSizes()
    let publicTypes = PublicTypes()
    let progress = DownloadProgress()
    let courierName = CourierName()
    let zonesInWork = ZonesInWork()
    let running = RunningEvents()

    /// - Parameter database: a database that is synced.
    package init(
        store: RecordStore, transport: any SyncTransport, database: Database = .private,
        settings: Settings = Settings(), logger: Logger
    ) {
        self.store = store
        self.transport = transport
        self.database = database
        scope = DatabaseScope(database)
        self.settings = settings
        self.logger = logger
    }

    /// The parts of records that answers contain.
    var projection: RecordProjection {
        var projection = RecordProjection.everything
        projection.wantsAssetDetails = settings.hasExtensions
        projection.wantsFileText = settings.hasExtensions
        projection.wantsGestures = settings.hasExtensions
        projection.isBrief = settings.hasExtensions
        return projection
    }

    func write<Result>(
        isFreeing: Bool = false, _ body: (Transaction) throws(RecordError) -> Result
    ) throws(SyncProblem) -> Result {
        do throws(RecordError) {
            return try store.write(author: .sync, isFreeing: isFreeing, body)
        } catch {
            throw .store(error)
        }
    }

    func read<Result>(
        _ body: (RecordStore) throws(RecordError) -> Result
    ) throws(SyncProblem) -> Result {
        do throws(RecordError) {
            return try body(store)
        } catch {
            throw .store(error)
        }
    }
}

extension DatabaseScope {
    /// - Parameter database: a database that is synced.
    init(_ database: Database) {
        self =
            switch database {
            case .private, .local: .private
            case .shared: .shared
            case .public: .public
            }
    }
}

extension ZoneIdentifier {
    /// The identifier of a zone in requests.
    init(_ zone: SyncedZone) {
        self.init(
            zone: zone.name,
            owner: zone.owner == .me ? nil : UserName(bytes: zone.owner.bytes))
    }
}
