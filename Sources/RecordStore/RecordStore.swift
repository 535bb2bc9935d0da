import Logging
package import RecordModel
package import RecordSQL
import Synchronization

/// The records of one state directory: a SQLite database and asset files named by their hash.
///
/// One process writes (it holds the lock); any number of processes read. Readers see committed
/// state and open no transaction. All writes happen in immediate transactions, one at a time. All
/// methods are synchronous and may be called from any thread, but not from inside a `write`
/// closure, where `Transaction` has its own methods.
package final class RecordStore: Sendable {
    /// The state directory.
    package let directory: String
    package let options: StoreOptions

    package let places: StoreDirectory
    let reader: SQLQueue
    /// The connection that writes. Nil in a store that was opened for reading.
    let writer: SQLQueue?
    let lock: StoreLock?
    let log: LogSync?
    /// Space for the operations that must work on a full disk. Nil in a store that was opened for
    /// reading.
    let reserve: SpaceReserve?
    /// Copies of committed rows that every save needs; changed only after a commit.
    let cache = Mutex(StoreCache())
    /// Numbers that are set aside for records that do not exist yet.
    let recordIDs = Mutex(RecordIDBlock())
    /// Asset files that an import has placed and no row may refer to yet.
    let assetsInFlight = Mutex(AssetsInFlight())
    /// Receives every statement that reads. Tests use it to count the statements.
    let trace = Mutex<(@Sendable (String) -> Void)?>(nil)
    /// The number of calls of `releaseMemory` that still have memory to release, after a large
    /// text.
    let releasesDue = Atomic(0)
    /// Indicates whether types may exist that the mount has removed while the deletions of their
    /// records were waiting. Changes only at a commit, on the writer's queue.
    let hasRemovedTypes = Atomic(false)
    private let commitCount = Atomic(0)
    /// The times of directories that are newer than their rows.
    let directoryTimes = Mutex(DirectoryTimes())
    let clockWatch = Mutex(ClockWatch())
    let moment: ChangeMoment
    /// Makes the deletion of a record final. `open` gives it: types and zones end the deletions of
    /// their records, and do not know how records are deleted.
    let finalizeDelete: @Sendable (Transaction, RecordID) throws(RecordError) -> Void
    /// The model that is attached. Changes only at a commit, on the writer's queue.
    let attachedModel = Mutex<AttachedModel?>(nil)
    /// Writes what a transaction has changed elsewhere. `open` gives it: transactions do not know how
    /// records are written.
    let beforeCommit: @Sendable (Transaction) throws(RecordError) -> Void
    let gestures = Mutex(GestureBook())
    let retentionWalk = Mutex(RetentionWalk())
    let pastTypes = Mutex(PastTypes())
    let wantedIndexes = Mutex(WantedIndexes())
    /// The clock of this store's edits. Nil until the first edit.
    let editClock = Mutex<EditClock?>(nil)
    private let observers = Mutex<[@Sendable ([StoreChange]) -> Void]>([])
    private let stemObservers = Mutex<[@Sendable ([StemChange]) -> Void]>([])
    private let replacementObservers = Mutex<[@Sendable ([ReplacedFile], Replacement) -> Void]>([])

    init(
        directory: StoreDirectory, options: StoreOptions, reader: SQLQueue,
        writer: SQLQueue?, lock: StoreLock?, log: LogSync?, reserve: SpaceReserve?,
        moment: ChangeMoment = ChangeMoment(),
        finalizeDelete:
            @escaping @Sendable (Transaction, RecordID) throws(RecordError) -> Void = {
                _, _ throws(RecordError) in
                throw RecordError(.readOnly, "The store was opened for reading only.")
            },
        beforeCommit: @escaping @Sendable (Transaction) throws(RecordError) -> Void = {
            _ throws(RecordError) in
        }
    ) {
        self.directory = directory.path
        self.places = directory
        self.options = options
        self.reader = reader
        self.writer = writer
        self.lock = lock
        self.log = log
        self.reserve = reserve
        self.moment = moment
        self.finalizeDelete = finalizeDelete
        self.beforeCommit = beforeCommit
    }

    /// The number of transactions since the store was opened. As long as it stays the same, data
    /// that was read before is still valid. Nil where another process may write.
    package var commits: Int? {
        writer == nil ? nil : commitCount.load(ordering: .acquiring)
    }

    /// Indicates whether `write` is possible.
    package var isWritable: Bool { writer != nil && !options.readOnly }

    /// Indicates whether a process writes the store: this one, or the one that has the lock.
    package var hasWriter: Bool { isWritable || StoreLock.isTaken(places.lock) }

    /// Registers an observer that is called after each commit that changed something, on the
    /// committing thread, with no lock held and outside the writer's queue.
    package func observe(_ observer: @escaping @Sendable ([StoreChange]) -> Void) {
        observers.withLock { $0.append(observer) }
    }

    /// Registers an observer that is called before each commit that takes the names of records'
    /// files away, while nobody can see the files that take these names yet, and again after the
    /// commit. It is called on the writer's queue.
    package func observeReplacements(
        _ observer: @escaping @Sendable ([ReplacedFile], Replacement) -> Void
    ) {
        replacementObservers.withLock { $0.append(observer) }
    }

    /// Registers an observer that is called after each commit that changes the names under which
    /// records are shown, before any other transaction begins. It is called on the writer's queue,
    /// so it may not call the store.
    package func observeStems(_ observer: @escaping @Sendable ([StemChange]) -> Void) {
        stemObservers.withLock { $0.append(observer) }
    }

    /// Runs `body` in one immediate transaction. An error that `body` throws rolls everything back.
    ///
    /// - Parameters:
    ///   - program: the name that the program has given itself which asks for it.
    ///   - isFreeing: for an operation that removes data and so has to work on a full disk. The body
    ///     runs a second time, with the reserve, if the first run found no more space.
    /// - Throws: readOnly; noSpace, ioFailure, corrupt from the disk; the errors that `body`
    ///   throws.
    package func write<T>(
        author: Author, by program: AuthorName? = nil, isFreeing: Bool = false,
        _ body: (Transaction) throws(RecordError) -> T
    ) throws(RecordError) -> T {
        if !isFreeing { try upkeep.checkSpace() }
        let isOfMount = author == .mount || author == .restore
        let author = (author, program ?? (isOfMount ? options.mountAuthor : nil))
        do throws(RecordError) {
            let result = try writeOnce(author, body)
            if isFreeing, reserve?.isWhole == false { upkeep.relieve() }
            return result
        } catch {
            guard error.code == .noSpace else { throw error }
            defer { upkeep.relieve() }
            guard isFreeing, let reserve, reserve.lend() else { throw error }
            defer { reserve.takeBack() }
            return try writeWithReserve(reserve, author, body)
        }
    }

    /// Runs `body` with the space of the reserve, which is lent. A thread that had begun to set the
    /// space aside before that may have taken it once more.
    private func writeWithReserve<T>(
        _ reserve: SpaceReserve, _ author: (Author, program: AuthorName?),
        _ body: (Transaction) throws(RecordError) -> T
    ) throws(RecordError) -> T {
        while true {
            do throws(RecordError) {
                return try writeOnce(author, body)
            } catch {
                guard error.code == .noSpace, reserve.release() else { throw error }
            }
        }
    }

    private func writeOnce<T>(
        _ author: (Author, program: AuthorName?),
        _ body: (Transaction) throws(RecordError) -> T
    ) throws(RecordError) -> T {
        guard let writer, isWritable else {
            throw RecordError(.readOnly, "The store was opened for reading only.")
        }
        while true {
            // Only the mount may meet a type that it has removed and whose deletions still wait: all
            // others would find the name taken, and records that are nowhere.
            if author.0 != .mount { try upkeep.finishRemovedTypes() }
            let finished = try writer.use {
                connection throws(RecordError) -> (T, FinishedTransaction)? in
                if author.0 != .mount, hasRemovedTypes.load(ordering: .acquiring) { return nil }
                return try commit(connection, author, body)
            }
            guard let (result, transaction) = finished else { continue }
            log?.committed()
            for point in transaction.points { Failpoint.pass(point) }
            notify(transaction.changes)
            return result
        }
    }

    /// The work that remains after a commit, outside the writer's queue.
    private struct FinishedTransaction {
        let changes: [StoreChange]
        let points: [Failpoint]
    }

    private func commit<T>(
        _ connection: SQLConnection, _ author: (Author, program: AuthorName?),
        _ body: (Transaction) throws(RecordError) -> T
    ) throws(RecordError) -> (T, FinishedTransaction) {
        let transaction = Transaction(
            connection: connection, store: self, author: author.0, program: author.program,
            now: options.clock.now)
        try connection.run("BEGIN IMMEDIATE")
        let result: T
        do {
            result = try body(transaction)
            try beforeCommit(transaction)
            tellReplacements(of: transaction, .begins)
        } catch {
            rollBack(connection)
            throw error
        }
        do {
            try connection.run("COMMIT")
        } catch {
            rollBack(connection)
            tellReplacements(of: transaction, .failed)
            throw error
        }
        tellReplacements(of: transaction, .done)
        publish(transaction)
        if !transaction.stems.isEmpty {
            for observer in stemObservers.withLock({ $0 }) { observer(transaction.stems) }
        }
        for action in transaction.actionsAtCommit { action() }
        return (
            result,
            FinishedTransaction(
                changes: transaction.finishedChanges, points: transaction.pointsAfterCommit)
        )
    }

    /// Runs `body` in one transaction that is rolled back, so that its result is exactly what
    /// `write` would return.
    ///
    /// - Throws: as `write`.
    package func rehearse<T>(
        author: Author, by program: AuthorName? = nil,
        _ body: (Transaction) throws(RecordError) -> T
    ) throws(RecordError) -> T {
        guard let writer, isWritable else {
            throw RecordError(.readOnly, "The store was opened for reading only.")
        }
        return try writer.use { connection throws(RecordError) in
            let transaction = Transaction(
                connection: connection, store: self, author: author, program: program,
                now: options.clock.now)
            try connection.run("BEGIN IMMEDIATE")
            let result: T
            do throws(RecordError) {
                result = try body(transaction)
                try beforeCommit(transaction)
            } catch {
                rollBack(connection)
                throw error
            }
            try connection.rollBack()
            return result
        }
    }

    private func tellReplacements(of transaction: Transaction, _ moment: Replacement) {
        guard !transaction.replaced.isEmpty else { return }
        let files = Array(transaction.replaced.values)
        for observer in replacementObservers.withLock({ $0 }) { observer(files, moment) }
    }

    private func rollBack(_ connection: SQLConnection) {
        do throws(RecordError) {
            try connection.rollBack()
        } catch {
            options.logger.error("A rollback failed", metadata: ["error": "\(error)"])
        }
    }

    /// Updates the caches. Runs on the writer's queue, so that they change in the order of the
    /// commits.
    private func publish(_ transaction: Transaction) {
        if !transaction.touched.isEmpty {
            directoryTimes.withLock { times in
                for (type, touch) in transaction.touched { times.note(touch, type) }
            }
        }
        commitCount.add(1, ordering: .releasing)
        transaction.publishGesture()
        if transaction.modelChanged {
            attachedModel.withLock { $0 = transaction.model }
            cache.withLock { $0.schemas.removeAll() }
        }
        cache.withLock { $0.count(transaction) }
        if !transaction.schemas.isEmpty || transaction.placesChanged {
            cache.withLock { cache in
                cache.schemas.merge(transaction.schemas) { $1 }
                if transaction.placesChanged { cache.types.removeAll() }
            }
        }
        if !transaction.referredAssets.isEmpty {
            assetsInFlight.withLock { assets in
                for hash in transaction.referredAssets { assets.release(hash) }
            }
        }
        if let own = transaction.ownRecordIDs { recordIDs.withLock { $0.add(own) } }
    }

    func notify(_ changes: [StoreChange]) {
        guard !changes.isEmpty else { return }
        for observer in observers.withLock({ $0 }) { observer(changes) }
    }

    /// Reads committed state on the reader's connection, without a transaction.
    package func read<T>(
        _ body: (SQLConnection) throws(RecordError) -> T
    ) throws(RecordError) -> T {
        try reader.use(body)
    }

    package func changeStamp(of type: TypeID) throws(RecordError) -> ChangeStamp {
        if writer != nil { return cache.withLock { $0.stamp(of: type) } }
        // Another process writes: SQLite shows only whether anything has changed.
        let version = try read { connection throws(RecordError) in
            try connection.first("PRAGMA data_version") { $0.int64(0) }
        }
        return ChangeStamp(changes: version ?? 0, schemaChanges: 0)
    }

    /// Reads the state of one moment on a separate connection. However long it takes, it delays no
    /// other reader and sees no later commit.
    func readSnapshot<T>(
        _ body: (SQLConnection) throws(RecordError) -> T
    ) throws(RecordError) -> T {
        let snapshot = try SQLQueue(path: reader.path, ConnectionOptions.reader)
        if let trace = trace.withLock({ $0 }) { Self.install(trace, on: snapshot) }
        return try snapshot.read(body)
    }

    /// Puts everything committed before this call on stable storage.
    ///
    /// A failure is remembered: every later call fails too, until the store is opened again.
    package func sync() throws(RecordError) {
        guard let log else { return }
        Failpoint.pass(.syncBegin)
        try log.sync()
        Failpoint.pass(.syncDone)
    }

    /// Closes both connections and releases the lock. It moves the log into the database unless
    /// another process reads the log. After that, everything is on stable storage.
    ///
    /// - Throws: the errors that `sync` throws; the store is closed all the same. Repeated calls do
    ///   nothing.
    package func close() throws(RecordError) {
        if let lock, !lock.isHeld { return }
        upkeep.writeDirectoryTimesAtClose()
        let failure: RecordError?
        do throws(RecordError) {
            try sync()
            failure = nil
        } catch {
            failure = error
        }
        reader.close()
        writer?.close()
        lock?.release()
        if let failure { throw failure }
    }
}

/// Copies of committed rows, filled as they are needed.
struct StoreCache: Sendable {
    var schemas: [RecordTypeName: RecordSchema] = [:]
    var types: [TypeID: TypePlace] = [:]
    /// The number of changes of each type, and of any schema, since the store was opened.
    private var changes: [TypeID: Int64] = [:]
    private var schemaChanges: Int64 = 0

    mutating func count(_ transaction: Transaction) {
        for change in transaction.changes {
            if let type = change.type { changes[type, default: 0] += 1 }
        }
        if !transaction.schemas.isEmpty { schemaChanges += 1 }
    }

    func stamp(of type: TypeID) -> ChangeStamp {
        ChangeStamp(changes: changes[type] ?? 0, schemaChanges: schemaChanges)
    }
}

/// A stamp that stays the same as long as no record of a type and no schema has changed.
package struct ChangeStamp: Hashable, Sendable {
    let changes: Int64
    let schemaChanges: Int64
}

/// The position of a TYPE directory and the permission there.
package struct TypePlace: Sendable {
    package let type: TypeID
    package let name: RecordTypeName
    package let zone: ZoneInfo
    /// Indicates whether nobody finds the type any more, because only deletions wait in it.
    let isRemoved: Bool

    package init(type: TypeID, name: RecordTypeName, zone: ZoneInfo, isRemoved: Bool = false) {
        (self.type, self.name, self.zone) = (type, name, zone)
        self.isRemoved = isRemoved
    }
}
