package import Logging
package import RecordModel
package import RecordStore
package import RecordWire

/// The work of the engine in one database of an account, piece by piece: each piece begins and ends
/// with what the store has, so that it can be cut off anywhere and done again.
///
/// Of one zone only one piece may run at a time: what the server answers to an upload is newer than
/// a page of the feed that was read before it.
package struct Exchange: Sendable {
    package struct Settings: Sendable {
        /// Of one request that uploads.
        package var claims = ClaimLimits()
        /// Records of one page of a feed.
        package var pageRecords = 200
        /// Whether a page of a feed is fetched while the one before it is applied.
        package var readsAhead = false
        /// Of one upload, how often nothing may come of a request before it is left for later.
        package var fruitlessRequests = 10
        /// What an upload waits for after a request that had room left, when more is there by then: a
        /// copy of many files is few requests so, which leave the machine to the copy. Nil: nothing.
        package var waitForMore: (@Sendable () async -> Void)?
        /// How often a request is sent again that does not get through, although others do.
        package var resends = 5
        /// Whether the server is a recordfs-server: it keeps the stamps of fields and which texts
        /// are nested JSON, and knows a request again that comes twice. Of another, the time of a
        /// record stands for the stamps, and whether a request without an answer was done is
        /// concluded from what the records are.
        package var hasExtensions = true
        /// What of the account is kept here.
        package var policy = SyncPolicy()
        /// The largest request with more than one change in it, in bytes; nil for any.
        package var requestBytes: Int?
        /// Of the account: that of its notifications.
        package var environment = ServerEnvironment.development
        /// Assets whose bytes are sent at the same time.
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
    let zonesAhead = ZonesAhead()

    /// - Parameter database: one that is synced.
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

    /// What answers tell of records.
    var projection: RecordProjection {
        var projection = RecordProjection.everything
        projection.wantsAssetDetails = settings.hasExtensions
        projection.wantsFileText = settings.hasExtensions
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
    /// - Parameter database: one that is synced.
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
    /// A zone as requests name it.
    init(_ zone: SyncedZone) {
        self.init(
            zone: zone.name,
            owner: zone.owner == .me ? nil : UserName(bytes: zone.owner.bytes))
    }
}
