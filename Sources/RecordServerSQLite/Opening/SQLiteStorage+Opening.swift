import Glibc
package import Logging
import RecordModel
import RecordSQL
import RecordServerCore
package import RecordWire

extension DataDirectory {
    package var databasePath: String { path + "/records.sqlite" }
}

extension SQLiteStorage {
    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Opens the database file at `path`, or a database in memory, and brings its tables up to
    /// date.
    ///
    /// - Throws: internalError with a reason for the operator: SQLite's message about the file, or
    ///   that a newer version made it.
    package static func open(
        path: String?, synchronous: Synchronous = .full,
        logger: Logger = Logger(label: "recordfs.storage")
    ) throws(ServerError) -> SQLiteStorage {
        do throws(RecordError) {
            if let path { try makePrivate(path) }
            let writer = try SQLQueue(path: path, options(synchronous, cacheKiB: 8_000))
            try writer.use(prepare)
            let pool =
                path == nil
                ? SQLPool(inMemory: writer)
                : try SQLPool(
                    writer, readerCount: readerCount, options(synchronous, cacheKiB: 2_000))
            return SQLiteStorage(database: pool, synchronous: synchronous, logger: logger)
        } catch {
            throw ServerError(
                .internalError, "The storage \(path ?? "in memory") cannot be opened: \(error)")
        }
    }

    /// Returns another storage, in memory, with everything that this one has now.
    package func copyInMemory() throws(ServerError) -> SQLiteStorage {
        do throws(RecordError) {
            let copy = try SQLQueue(Self.options(.normal, cacheKiB: 8_000))
            try database.copy(to: copy)
            return SQLiteStorage(
                database: SQLPool(inMemory: copy), synchronous: .normal, logger: logger)
        } catch {
            throw ServerError(storage: error, logger)
        }
    }

    /// Makes the file, which SQLite would make with the process's umask. Its log gets the same
    /// rights.
    private static func makePrivate(_ path: String) throws(RecordError) {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw RecordError(
                .ioFailure, "open: \(String(cString: strerror(errno)))", errno: errno)
        }
        Glibc.close(descriptor)
    }

    private static func prepare(_ connection: SQLConnection) throws(RecordError) {
        guard try !SQLiteTables.migrations.areNewer(connection) else {
            throw RecordError(
                .storeTooNew, "it was made by a newer recordfs-server; install that version.")
        }
        try SQLiteTables.migrations.apply(to: connection)
    }

    /// The number of connections that read at the same time.
    private static let readerCount = 3

    /// Returns the options of a connection. A few small caches keep a server of a million records
    /// far below its memory limit; the kernel caches the file as well.
    private static func options(_ synchronous: Synchronous, cacheKiB: Int) -> SQLOptions {
        var options = SQLOptions()
        options.hasForeignKeys = false
        options.hasLog = true
        options.script = """
            PRAGMA synchronous = \(synchronous.rawValue);
            PRAGMA cache_size = -\(cacheKiB);
            PRAGMA temp_store = MEMORY;
            PRAGMA wal_autocheckpoint = 4000;
            PRAGMA journal_size_limit = 67108864;
            """
        return options
    }
}
