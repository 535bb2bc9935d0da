package import RecordModel
import RecordSQL

import class GRDB.Database
import struct GRDB.DatabaseMigrator
import class GRDB.DatabaseQueue

extension RecordStore {
    /// Opens the store of a directory for writing, making it if need be.
    ///
    /// - Throws: storeLocked with the pid of who has it, storeTooNew, corrupt, noSpace, ioFailure.
    package static func open(
        directory: String, options: StoreOptions = StoreOptions()
    ) throws(RecordError) -> RecordStore {
        let places = StoreDirectory(path: directory)
        try places.create()
        let lock = try StoreLock.take(places.lock)
        let writer: DatabaseQueue
        let reader: DatabaseQueue
        do {
            writer = try openWriter(places)
            reader = try DatabaseQueue(
                path: places.database, configuration: ConnectionOptions.reader)
        } catch {
            throw RecordError(storeError: error)
        }
        try protect(places)
        let log = try LogSync(path: places.writeAheadLog)
        try StoreDirectory.sync(places.path)
        let store = RecordStore(
            directory: places, options: options, reader: reader, writer: writer, lock: lock,
            log: log)
        try store.removeUnfinishedAssets()
        if !options.readOnly { try store.releaseOutbox() }
        return store
    }

    /// Opens a store that another process, or nobody, writes. `write` throws readOnly.
    ///
    /// - Throws: notFound, storeTooNew, unsupported when the store has to be migrated first.
    package static func openForReading(
        directory: String, options: StoreOptions = StoreOptions()
    ) throws(RecordError) -> RecordStore {
        let places = StoreDirectory(path: directory)
        guard StoreDirectory.exists(places.database) else {
            throw RecordError(.notFound, "There is no store in \(directory).")
        }
        let reader: DatabaseQueue
        do {
            reader = try DatabaseQueue(
                path: places.database, configuration: ConnectionOptions.reader)
            let isCurrent = try reader.inDatabase { database in
                try refuseNewer(database)
                return try Migrations.migrator.hasCompletedMigrations(database)
            }
            guard isCurrent else {
                throw RecordError(
                    .unsupported, "The store is of an older version; mount it once to update it.")
            }
        } catch {
            throw RecordError(storeError: error)
        }
        return RecordStore(
            directory: places, options: options, reader: reader, writer: nil, lock: nil, log: nil)
    }

    private static func openWriter(_ places: StoreDirectory) throws -> DatabaseQueue {
        let writer = try DatabaseQueue(
            path: places.database, configuration: ConnectionOptions.writer)
        try writer.inDatabase { database in
            try refuseNewer(database)
        }
        try Migrations.migrator.migrate(writer)
        // A write makes the log, which `sync` needs to open.
        try writer.inDatabase { database in
            try database.execute(
                sql: "UPDATE meta SET value = value + 1 WHERE key = 'opens'")
        }
        return writer
    }

    private static func refuseNewer(_ database: GRDB.Database) throws {
        if try Migrations.migrator.hasBeenSuperseded(database) {
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
