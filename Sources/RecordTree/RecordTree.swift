import Glibc
package import RecordModel
package import RecordStore
import Synchronization

/// The records of a store as a tree of files, in the terms of a file system.
///
/// Synchronous and without C of libfuse: RecordMount turns kernel requests into these calls and
/// `RecordError` into errno. The contract is the mount page of the documentation.
///
/// Locking: `state` and the locks of open files are held for decisions in memory only, never over a
/// call of the store, file I/O or a notice. Names are decided inside the store's write transaction,
/// which serialises all writers. Lock order: store writer, `state`, an open file's lock.
package final class Tree: Sendable {
    package struct Options: Sendable {
        package var owner: UInt32
        package var group: UInt32
        package var isReadOnly: Bool
        /// Indicates whether users other than the owner can use the mount.
        package var allowsOthers = false
        package var limits: RecordLimits
        package var grace: Duration
        package var clock: any WallClock
        /// Downloads assets that are not on this machine.
        package var fetcher: any AssetFetcher
        package var exchange = ServerExchange.none
        package var programs = ProgramTable.system
        /// The limit for downloaded files that the server has too, in bytes. Nil for no limit.
        package var cacheBytes: Int64?
        /// Receives reports for the log about the tree's own work.
        package var report: @Sendable (String) -> Void = { _ in }
        /// Receives refused saves that the store does not report, with the path below the mount:
        /// many programs ignore the result of `close`.
        package var refused: @Sendable (_ path: String, _ reason: String) -> Void = { _, _ in }

        package init(
            owner: UInt32, group: UInt32, isReadOnly: Bool = false,
            limits: RecordLimits = .standard, grace: Duration = .seconds(3),
            clock: any WallClock = SystemClock(), fetcher: any AssetFetcher = NoAssetFetcher()
        ) {
            self.owner = owner
            self.group = group
            self.isReadOnly = isReadOnly
            self.limits = limits
            self.grace = grace
            self.clock = clock
            self.fetcher = fetcher
        }
    }

    struct State {
        var nodes = NodeTable()
        var scratch = ScratchTable()
        var trashRemovals = TrashRemovals()
        /// Conflicts whose `merged.json` was removed and may be made again: `mv` from another file
        /// system does so.
        var removedMerges: Set<Int64> = []
        /// Local files that could not take all the written data.
        var incompleteScratch: [ScratchID: WriteFailure] = [:]
        /// Files of records with open handles or with text that is not saved yet, also those that
        /// have lost their names.
        var open: [RecordFile: OpenRecord] = [:]
        /// New names without a row. Lookups and listings show them.
        var pending: [TypeID: [Stem: RecordFile]] = [:]
        var past = PastFiles()
        var readings: Readings
        var fieldReadings = FieldReadings()
        /// The open assets by the row of their bytes. The name would not identify them, because
        /// lists change.
        var assets: [AssetID: OpenAsset] = [:]
        /// Increases with each content that a writer gives to a row of `asset`.
        var assetWrites: UInt64 = 0
        var entries = EntryCache()
        var generated = GeneratedFiles()
        /// Assets of records that wait for their delete. Their names stay until the delete is
        /// final, so that `rm -r` can remove them after the record. Assets that it has removed are
        /// hidden.
        var waitingAssets: [RecordID: [AssetEntry]] = [:]
        var hiddenAssets: Set<AssetID> = []
        var movedFields = MovedFields()
        /// Open assets that lost their name to a removal or a replacement, by the number that the
        /// kernel has for them.
        var detached: [NodeNumber: OpenHandle.Backing] = [:]
        var handles: [HandleNumber: OpenHandle] = [:]
        var nextHandle: UInt64 = 1
        /// The type rows with their zones. Every getattr needs them for the write permission.
        var places: [TypeID: TypePlace] = [:]
        /// The time when a zone or type was last added, removed or given other modes.
        var placesChanged: Timestamp?
        /// Records deleted on other machines. Only the daemon sees them: it unlinks them to create
        /// inotify events.
        var ghosts: [TypeID: [[UInt8]: NodeNumber]] = [:]
        /// Records created on other machines. They are hidden only from the daemon, which creates
        /// them to make inotify events.
        var arrivals: [TypeID: Set<[UInt8]>] = [:]
        var notify: (@Sendable (KernelNotice) -> Void)?
        var deliver: (@Sendable ([KernelNotice]) -> Void)?
        /// Texts of shares that were tried, by the handle that wrote them.
        var triedShares: [HandleNumber: [UInt8]] = [:]
        /// Shares that are not shown under their names, with the uptime until which this lasts.
        var sharesAside: [ShareFile: Duration] = [:]
        /// Shares that were removed on this machine, with the uptime at which they end.
        var endingShares: [ShareFile: Duration] = [:]
        /// Programs that failed to leave a share and may continue to remove its content.
        var failedLeaves: [ZoneID: FailedLeave] = [:]
        var retryIsDue = false
        /// Reads of assets that wait for a download.
        var waitingReads: [WaitingRead] = []
        var assetFailures: [TypeID: AssetFailure] = [:]
        /// Refusals whose `.error` was removed, in their state at that time.
        var acknowledged: [TypeID: Set<AcknowledgedRefusal>] = [:]
        /// The TYPE directories that list `.error`.
        var typesWithDrafts: Set<TypeID> = []
        /// The uptimes of the next periodic work. Nil before the first time.
        var nextCleaning: Duration?
        var nextEviction: Duration?
        var nextLookForBytes: Duration?
    }

    let store: RecordStore
    let options: Options
    let storage: ScratchStorage
    let events: EventLog
    let mounted: Timestamp
    let state: Mutex<State>

    package init(store: RecordStore, options: Options) {
        self.store = store
        self.options = options
        self.storage = ScratchStorage(stateDirectory: store.directory)
        self.events = EventLog(clock: options.clock)
        self.mounted = options.clock.now
        self.state = Mutex(State(readings: Readings(options.programs)))
        store.observeReplacements { [weak self] in self?.filesReplaced($0, $1) }
        store.observeStems { [weak self] in self?.stemsChanged($0) }
    }

    /// Reads the state that the last mount has left. Called once, before the mount.
    package func start() throws(RecordError) {
        let types = Set(try store.refusals().map(\.type))
        let zones = try store.zoneIncarnations()
        state.withLock { state in
            state.typesWithDrafts = types
            for (zone, incarnation) in zones {
                state.nodes.begin(.zone(zone), epoch: incarnation)
            }
        }
        if !options.isReadOnly { try resumeEndingShares() }
    }

    var now: Timestamp { options.clock.now }

    /// The thread whose calls only make the kernel notice remote changes: they adopt the existing
    /// state and change nothing. The kernel names threads, not processes, as the callers of
    /// requests.
    private let touchingThread = Atomic<Int32>(0)

    package func setTouchingThread(_ thread: Int32) {
        touchingThread.store(thread, ordering: .relaxed)
    }

    package func isOwn(_ caller: Requester) -> Bool {
        caller.threadID == touchingThread.load(ordering: .relaxed)
    }

    /// Sets the receivers of changes that the kernel cannot know. Called once, before the mount.
    ///
    /// - Parameter deliver: returns when the kernel has received the notices, or after a moment
    ///   without it.
    package func setNotifier(
        _ notify: @escaping @Sendable (KernelNotice) -> Void,
        deliver: @escaping @Sendable ([KernelNotice]) -> Void
    ) {
        state.withLock { state in
            state.notify = notify
            state.deliver = deliver
        }
    }

    func notify(_ notices: [KernelNotice]) {
        guard let notify = state.withLock({ $0.notify }) else { return }
        for notice in notices { notify(notice) }
    }

    /// Notifies the kernel before the current call is answered, so that its caller sees no outdated
    /// state. Only for attributes and pages, because the call itself holds the lock of a name.
    func deliver(_ notices: [KernelNotice]) {
        // Another thread sends the notices, and this one waits for it.
        guard !notices.isEmpty, let deliver = state.withLock({ $0.deliver }) else { return }
        deliver(notices)
    }

    /// Returns when the kernel has received all earlier notices, or after a moment without it.
    func waitUntilHeard() { state.withLock({ $0.deliver })?([]) }

    func node(_ number: NodeNumber) throws(RecordError) -> Node {
        guard let node = state.withLock({ $0.nodes.node(number) }) else { throw .staleNode }
        return node
    }

    func checkWritable() throws(RecordError) {
        if options.isReadOnly { throw RecordError(.readOnly, "the mount is read-only") }
    }

    /// Returns the type directory with its zone.
    func place(of type: TypeID) throws(RecordError) -> TypePlace {
        if let place = state.withLock({ $0.places[type] }) { return place }
        guard let info = try store.type(type), let zone = try store.zone(info.zone) else {
            throw RecordError(.stale, "the directory is gone")
        }
        let place = TypePlace(type: info.name, zone: zone)
        state.withLock { $0.places[type] = place }
        return place
    }

    /// Throws unless this user may change records of the type.
    func checkWritable(_ type: TypeID) throws(RecordError) {
        try checkWritable()
        try checkWritable(try place(of: type).zone)
    }

    /// Throws unless this user may change this record and its large fields: in some zones each
    /// record has its own permission.
    func checkWritable(_ record: RecordID, in type: TypeID) throws(RecordError) {
        try checkWritable(type)
        let zone = try place(of: type).zone
        guard try store.permission(of: record, in: zone) == .readOnly else { return }
        throw RecordError(.accessDenied, "the record is shared with you for reading only")
    }

    /// Throws unless this user may change the record with that name, if there is one.
    func checkWritable(_ stem: Stem, in type: TypeID) throws(RecordError) {
        try checkWritable(type)
        guard try place(of: type).zone.permission == .mixed,
            let record = try store.record(type, stem)
        else { return }
        try checkWritable(record.id, in: type)
    }

    /// Throws unless this user may write to the zone's directories. Where the user may change only
    /// some of its records, new records may be made.
    func checkWritable(_ zone: ZoneInfo) throws(RecordError) {
        guard zone.permission != .readOnly else {
            throw RecordError(
                .accessDenied, "the zone \(zone.name) is shared with you for reading only")
        }
    }
}

/// The facts about a TYPE directory that the tree needs at every call.
struct TypePlace: Sendable {
    let type: RecordTypeName
    let zone: ZoneInfo

    /// Its names below the mount point.
    var shownPath: [[UInt8]] { zone.shownPath + [zone.mapping.directoryName(of: type)] }
}

extension ZoneInfo {
    /// The names of its directory below the mount point.
    var shownPath: [[UInt8]] {
        var parts = [Array(database.name.utf8)]
        if database == .shared { parts.append(owner.fileName) }
        return parts + [NameCodec.encode(name.bytes)]
    }
}

/// A thing that the kernel has cached and that is no longer valid.
package enum KernelNotice: Sendable, Hashable {
    /// The name belongs to another file now, or to none. Users of the old file see it as deleted.
    case replaced(parent: NodeNumber, name: [UInt8], old: NodeNumber)
    /// The attributes and pages of a file, or the cached listing of a directory.
    case content(NodeNumber)
    /// A name that was added or removed, or that has another meaning.
    case entry(parent: NodeNumber, name: [UInt8])
}
