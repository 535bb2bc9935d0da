package import RecordModel
import RecordSQL

extension RecordStore {
    /// Opens a store that another process, or no process, writes. `write` throws readOnly.
    ///
    /// On media that cannot be written, and on a full disk while no process has the store open, the
    /// database is read as it is, without locks.
    ///
    /// - Throws: notFound; corrupt when only the database of a store is missing; storeTooNew;
    ///   unsupported when the store has to be migrated first; readOnly for changes in the log that
    ///   cannot be read on such media.
    package static func openForReading(
        directory: String, options: StoreOptions = StoreOptions()
    ) throws(RecordError) -> RecordStore {
        let places = StoreDirectory(path: directory)
        guard try places.hasDatabase() else {
            throw RecordError(.notFound, "There is no store in \(directory).")
        }
        let reader = try openReader(places)
        let store = RecordStore(
            directory: places, options: options, reader: reader, writer: nil, lock: nil, log: nil,
            reserve: nil)
        try store.model.load()
        return store
    }

    /// Returns whether `open` can work in that directory. It cannot on read-only media.
    package static func canWrite(directory: String) -> Bool {
        let places = StoreDirectory(path: directory)
        return places.isWritable || !StoreDirectory.exists(places.path)
    }

    private static func openReader(_ places: StoreDirectory) throws(RecordError) -> SQLQueue {
        do throws(RecordError) {
            return try openReader(path: places.database, places)
        } catch {
            // Without a log there is nothing to share, and SQLite cannot make its files here.
            let hasNoPlace =
                places.isWritable
                ? error.code == .noSpace : error.code == .ioFailure || error.code == .readOnly
            guard hasNoPlace else { throw error }
            guard try !places.hasLog() else {
                guard !places.isWritable else { throw error }
                throw RecordError(
                    .readOnly,
                    "Changes of the store are in its log, which cannot be read where nothing can "
                        + "be written. Copy \(places.path) to a disk that can be written, and "
                        + "name the copy with --state.")
            }
            return try openReader(path: places.immutableDatabase, places)
        }
    }

    private static func openReader(
        path: String, _ places: StoreDirectory
    ) throws(RecordError) -> SQLQueue {
        do throws(RecordError) {
            let reader = try SQLQueue(path: path, ConnectionOptions.reader)
            let isCurrent = try reader.use { connection throws(RecordError) in
                try refuseNewer(connection)
                try checkTables(connection, places)
                try connection.checkDefinitions()
                return try Migrations.all.areDone(connection)
            }
            guard isCurrent else {
                throw RecordError(
                    .unsupported, "The store is of an older version; mount it once to update it.")
            }
            return reader
        } catch {
            guard error.code == .corrupt else { throw error }
            throw .foreignDatabase("is damaged or no database", in: places)
        }
    }
}
