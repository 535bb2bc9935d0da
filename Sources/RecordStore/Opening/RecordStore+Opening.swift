package import RecordModel
import RecordSQL

import class GRDB.Database
import struct GRDB.DatabaseMigrator
import class GRDB.DatabaseQueue

extension RecordStore {
    /// Opens the store of a directory for writing, making it where there is none.
    ///
    /// - Throws: storeLocked with the pid of who has it, storeTooNew, corrupt also where only the
    ///   database of a store is gone, notEmpty where other files are, readOnly, noSpace, ioFailure.
    package static func open(
        directory: String, options: StoreOptions = StoreOptions()
    ) throws(RecordError) -> RecordStore {
        let places = StoreDirectory(path: directory)
        if try !places.hasDatabase() { try places.checkIsFree() }
        try places.create()
        let lock = try StoreLock.take(places.lock)
        let reserve = SpaceReserve(path: places.reserve, bytes: options.reserveBytes)
        // What opening writes is little, and a store that cannot be opened cannot be cleaned.
        if reserve.isNeeded { reserve.release() }
        let store = try open(places, options, lock, reserve)
        do throws(RecordError) {
            try store.settle()
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
        // Another process may have made or lost it before the lock was ours.
        if try places.hasDatabase() {
            try checkDatabase(places)
        } else {
            try places.createDatabase()
        }
        let writer: DatabaseQueue
        let reader: DatabaseQueue
        let moment = ChangeMoment()
        do {
            writer = try openWriter(places, moment)
            reader = try DatabaseQueue(
                path: places.database, configuration: ConnectionOptions.reader)
        } catch {
            throw RecordError(storeError: error)
        }
        try protect(places)
        let log = try LogSync(path: places.writeAheadLog)
        try StoreDirectory.sync(places.path)
        return RecordStore(
            directory: places, options: options, reader: reader, writer: writer, lock: lock,
            log: log, reserve: reserve, moment: moment)
    }

    /// What is left to do when both connections are there.
    private func settle() throws(RecordError) {
        try removeUnfinishedAssets()
        keepSpace()
        if !options.readOnly {
            try releaseOutbox()
            try forgetUnwrittenAssets()
            // What fails is tried again by the mount, and told.
            _ = try finishFollowing(olderThan: nil)
        }
    }

    /// Looks at a database without its log and without taking part in it: a connection that finds
    /// garbage would put the log into it and remove the log when it closes.
    private static func checkDatabase(_ places: StoreDirectory) throws(RecordError) {
        var needsLog = false
        do {
            try DatabaseQueue(
                path: places.immutableDatabase, configuration: ConnectionOptions.reader
            ).close()
        } catch {
            let error = RecordError(storeError: error)
            guard error.code == .corrupt else { return }
            // Who was killed while it moved the log into the database has left a part of that: with
            // the log it is whole.
            needsLog = try places.hasLog() ? places.hasDatabaseHeader() : false
            guard needsLog else {
                throw .foreignDatabase("is damaged or no database", in: places)
            }
        }
        let reader: DatabaseQueue
        do {
            reader = try DatabaseQueue(
                path: places.database, configuration: ConnectionOptions.reader)
        } catch {
            throw RecordError(storeError: error)
        }
        do {
            try reader.inDatabase { database in
                if needsLog { try checkPages(SQLConnection(database), places) }
                try checkTables(SQLConnection(database), places)
                try SQLConnection(database).checkDefinitions()
            }
            try reader.close()
        } catch {
            throw RecordError(storeError: error)
        }
    }

    /// All of them, for it is not known which of the log's are in the database.
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

    /// A database that a crash left in the middle of its making has no table at all.
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
    ) throws -> DatabaseQueue {
        let writer = try DatabaseQueue(
            path: places.database, configuration: ConnectionOptions.writer)
        try writer.inDatabase { database in
            try refuseNewer(database)
        }
        let isCurrent = try writer.inDatabase {
            try Migrations.migrator.hasCompletedMigrations($0)
        }
        try Migrations.migrator.migrate(writer)
        if !isCurrent { try writer.inDatabase { try SQLConnection($0).sealDefinitions() } }
        try writer.inDatabase { try ChangeTriggers.install(on: $0, moment) }
        // A write makes the log, which `sync` needs to open.
        try writer.inDatabase { database in
            try database.execute(
                sql: "UPDATE meta SET value = value + 1 WHERE key = 'opens'")
        }
        return writer
    }

    static func refuseNewer(_ database: GRDB.Database) throws {
        if try Migrations.areNewer(database) {
            throw RecordError(
                .storeTooNew, "The store was made by a newer recordfs; install that version.")
        }
    }

    /// SQLite makes its files with the process's umask.
    private static func protect(_ places: StoreDirectory) throws(RecordError) {
        let shared = places.database + "-shm"
        for file in [places.database, places.writeAheadLog, shared]
        where StoreDirectory.exists(file) {
            try StoreDirectory.protect(file)
        }
    }
}
