import GRDB
import RecordSQL

/// How the connections of a store are set.
enum ConnectionOptions {
    /// The commit that makes the log this long moves it into the database, which stops writers
    /// for some milliseconds; so the limit is far above what `checkpoint()` leaves.
    private static let checkpointPages = 16_000

    static var writer: Configuration {
        var configuration = Configuration()
        configuration.label = "recordfs.writer"
        configuration.journalMode = .wal
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(10)
        configuration.maximumReaderCount = 1
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            try database.execute(sql: "PRAGMA wal_autocheckpoint = \(checkpointPages)")
            try database.execute(sql: "PRAGMA cache_size = -16000")
            try database.execute(sql: "PRAGMA temp_store = MEMORY")
        }
        return configuration
    }

    static var reader: Configuration {
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
