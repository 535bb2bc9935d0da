import GRDB
import RecordSQL

/// The settings of a store's connections.
enum ConnectionOptions {
    /// The number of log pages that starts a checkpoint. The commit that makes the log this long
    /// moves it into the database, which stops writers for some milliseconds. On a small disk
    /// `keepSpace` uses a smaller number.
    private static let checkpointPages: Int64 = 4000
    /// The size to which the log's file is cut once the log is in the database.
    static let logBytesKept = 4 << 20

    static var writer: Configuration {
        SQLiteLibrary.setUp()
        var configuration = Configuration()
        configuration.label = "recordfs.writer"
        configuration.journalMode = .wal
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(10)
        configuration.maximumReaderCount = 1
        configuration.prepareDatabase { database in
            // This applies to a new database. An existing one stays as it is until `recordfs gc`.
            try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            // Data that has left a share stays in no free page. Debian's SQLite does so anyway.
            try database.execute(sql: "PRAGMA secure_delete = ON")
            try database.execute(sql: "PRAGMA wal_autocheckpoint = \(checkpointPages)")
            try database.execute(sql: "PRAGMA journal_size_limit = \(logBytesKept)")
            try database.execute(sql: "PRAGMA cache_size = -16000")
            try database.execute(sql: "PRAGMA temp_store = MEMORY")
        }
        return configuration
    }

    static var reader: Configuration {
        SQLiteLibrary.setUp()
        var configuration = Configuration()
        configuration.label = "recordfs.reader"
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -16000")
            try database.execute(sql: "PRAGMA temp_store = MEMORY")
        }
        return configuration
    }
}
