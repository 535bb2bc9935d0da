import Glibc
package import Logging
import RecordModel
import RecordSQL
import RecordServerCore
package import RecordWire

import struct GRDB.Configuration
import struct GRDB.DatabaseMigrator
import class GRDB.DatabasePool
import class GRDB.DatabaseQueue
import protocol GRDB.DatabaseWriter

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
        do {
            if let path {
                try makePrivate(path)
                let pool = try DatabasePool(path: path, configuration: configuration(synchronous))
                try prepare(pool)
                return SQLiteStorage(database: pool, isInMemory: false, logger: logger)
            }
            let queue = try DatabaseQueue(configuration: configuration(synchronous))
            try prepare(queue)
            return SQLiteStorage(database: queue, isInMemory: true, logger: logger)
        } catch {
            let cause = RecordError(storeError: error)
            throw ServerError(
                .internalError, "The storage \(path ?? "in memory") cannot be opened: \(cause)")
        }
    }

    /// Returns another storage, in memory, with everything that this one has now.
    package func copyInMemory() throws(ServerError) -> SQLiteStorage {
        do {
            let queue = try DatabaseQueue(configuration: Self.configuration(.normal))
            try database.backup(to: queue)
            return SQLiteStorage(database: queue, isInMemory: true, logger: logger)
        } catch {
            throw failure(error)
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

    private static func prepare(_ database: some DatabaseWriter) throws {
        let isNewer = try database.unsafeRead { try SQLiteTables.areNewer($0) }
        guard !isNewer else {
            throw RecordError(
                .storeTooNew, "it was made by a newer recordfs-server; install that version.")
        }
        try SQLiteTables.migrator.migrate(database)
    }

    /// Returns the configuration. A few small caches keep a server of a million records far below
    /// its memory limit; the kernel caches the file as well.
    private static func configuration(_ synchronous: Synchronous) -> Configuration {
        SQLiteLibrary.setUp()
        var configuration = Configuration()
        configuration.label = "recordfs.storage"
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(10)
        configuration.maximumReaderCount = 3
        configuration.prepareDatabase { database in
            let cache = database.configuration.readonly ? 2_000 : 8_000
            try database.execute(
                sql: """
                    PRAGMA synchronous = \(synchronous.rawValue);
                    PRAGMA cache_size = -\(cache);
                    PRAGMA temp_store = MEMORY;
                    PRAGMA wal_autocheckpoint = 4000;
                    PRAGMA journal_size_limit = 67108864;
                    """)
        }
        return configuration
    }
}
