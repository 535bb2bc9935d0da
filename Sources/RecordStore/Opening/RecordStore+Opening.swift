package import RecordModel
import RecordSQL

extension RecordStore {
    /// Opens the store of a directory for writing, and makes one if there is none.
    ///
    /// - Throws: storeLocked with the pid of the process that holds the lock; storeTooNew; corrupt,
    ///   also when only the database of a store is missing; notEmpty where other files are;
    ///   readOnly, noSpace, ioFailure.
    package static func open(
        directory: String, options: StoreOptions = StoreOptions()
    ) throws(RecordError) -> RecordStore {
        let places = StoreDirectory(path: directory)
        if try !places.hasDatabase() { try places.checkIsFree() }
        try places.create()
        let lock = try StoreLock.take(places.lock)
        let reserve = SpaceReserve(path: places.reserve, bytes: options.reserveBytes)
        // Opening writes little, and a store that cannot be opened cannot be cleaned.
        if reserve.isNeeded { reserve.release() }
        let store = try open(places, options, lock, reserve)
        do throws(RecordError) {
            try store.prepare()
        } catch {
            try store.close()
            throw error
        }
        return store
    }

    private static func open(
        _ places: StoreDirectory, _ options: StoreOptions, _ lock: StoreLock,
        _ reserve: SpaceReserve
    ) throws(RecordError) -> RecordStore {
        // Another process may have made or removed it before this process got the lock.
        if try places.hasDatabase() {
            try checkDatabase(places)
        } else {
            try places.createDatabase()
        }
        let moment = ChangeMoment()
        let writer = try openWriter(places, moment)
        let reader = try SQLQueue(path: places.database, ConnectionOptions.reader)
        try protect(places)
        let log = try LogSync(path: places.writeAheadLog)
        try StoreDirectory.sync(places.path)
        return RecordStore(
            directory: places, options: options, reader: reader, writer: writer, lock: lock,
            log: log, reserve: reserve, moment: moment,
            finalizeDelete: { (transaction, record) throws(RecordError) in
                try transaction.records.finalizeDelete(record)
            },
            beforeCommit: { (transaction) throws(RecordError) in
                try transaction.asConsequence { () throws(RecordError) in
                    try transaction.links.refresh()
                }
            })
    }

    /// Does the work that remains once both connections exist.
    private func prepare() throws(RecordError) {
        try model.load()
        try upkeep.lookForRemovedTypes()
        try upkeep.correctLeftDirectoryTimes()
        try assets.removeUnfinishedAssets()
        upkeep.keepSpace()
        if !options.readOnly {
            try syncState.releaseOutbox()
            try syncState.endInterruptedEvents()
            try sharing.removeUnfinished()
            try assets.forgetUnwrittenAssets()
            // If this fails, the mount tries again and reports it.
            _ = try assets.finishFollowing(olderThan: nil)
        }
    }

    /// Checks a database without its log and without locks. A connection that finds garbage would
    /// move the log into it and remove the log when it closes.
    private static func checkDatabase(_ places: StoreDirectory) throws(RecordError) {
        var needsLog = false
        do throws(RecordError) {
            try SQLQueue(path: places.immutableDatabase, ConnectionOptions.reader).close()
        } catch {
            guard error.code == .corrupt else { return }
            // A process that was killed while it moved the log into the database leaves only a part
            // of the log there. Together with the log, the database is complete.
            needsLog = try places.hasLog() ? places.hasDatabaseHeader() : false
            guard needsLog else {
                throw .foreignDatabase("is damaged or no database", in: places)
            }
        }
        let reader = try SQLQueue(path: places.database, ConnectionOptions.reader)
        defer { reader.close() }
        try reader.use { [needsLog] connection throws(RecordError) in
            if needsLog { try checkPages(connection, places) }
            try checkTables(connection, places)
            try connection.checkDefinitions()
        }
    }

    /// Checks all pages, because it is not known which pages of the log are in the database.
    private static func checkPages(
        _ connection: SQLConnection, _ places: StoreDirectory
    ) throws(RecordError) {
        var isWhole = false
        do throws(RecordError) {
            isWhole = try connection.first("PRAGMA quick_check(1)") { $0.string(0) } == "ok"
        } catch {
            guard error.code == .corrupt else { throw error }
        }
        guard isWhole else { throw .foreignDatabase("is damaged or no database", in: places) }
    }

    /// Checks that the tables are present. If a crash interrupted the making of a database, it has
    /// no table at all.
    static func checkTables(
        _ connection: SQLConnection, _ places: StoreDirectory
    ) throws(RecordError) {
        let tables = Set(
            try connection.all("SELECT name FROM sqlite_master WHERE type = 'table'") {
                $0.string(0)
            })
        if tables.isEmpty {
            let remains = try places.remains().filter { $0 != "store.sqlite-wal" }
            guard remains.isEmpty else {
                throw .lostStore("store.sqlite has no tables", in: places, remains)
            }
            return
        }
        let missing = Migrations.tables.subtracting(tables).sorted()
        guard missing.isEmpty else {
            throw .foreignDatabase(
                "is not this store's, or has lost the tables \(missing.joined(separator: ", "))",
                in: places)
        }
    }

    static func openWriter(
        _ places: StoreDirectory, _ moment: ChangeMoment
    ) throws(RecordError) -> SQLQueue {
        let writer = try SQLQueue(path: places.database, ConnectionOptions.writer)
        try writer.use { connection throws(RecordError) in
            try refuseNewer(connection)
            let isCurrent = try Migrations.all.areDone(connection)
            try Migrations.all.apply(to: connection)
            if !isCurrent { try connection.sealDefinitions() }
            try ChangeTriggers.install(on: connection, moment)
            // A write makes the log, because `sync` needs to open it.
            try connection.run("UPDATE meta SET value = value + 1 WHERE key = 'opens'")
        }
        return writer
    }

    static func refuseNewer(_ connection: SQLConnection) throws(RecordError) {
        if try Migrations.all.areNewer(connection) {
            throw RecordError(
                .storeTooNew, "The store was made by a newer recordfs; install that version.")
        }
    }

    /// Restricts the files to this user, because SQLite makes them with the process's umask.
    private static func protect(_ places: StoreDirectory) throws(RecordError) {
        let shared = places.database + "-shm"
        for file in [places.database, places.writeAheadLog, shared]
        where StoreDirectory.exists(file) {
            try StoreDirectory.protect(file)
        }
    }
}
