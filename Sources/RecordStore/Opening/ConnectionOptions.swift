import GRDB
import RecordSQL

/// How the connections of a store are set.
enum ConnectionOptions {
    /// The commit that makes the log this long moves it into the database, which stops writers
    /// for some milliseconds. On a small disk `keepSpace` takes less.
    private static let checkpointPages: Int64 = 4000
    /// What stays of the log's file once it is in the database.
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
            // Of a new database; one that is there stays as it is until `recordfs gc`.
            try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            // What a share has left stays in no free page. Debian's SQLite does so anyway.
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
