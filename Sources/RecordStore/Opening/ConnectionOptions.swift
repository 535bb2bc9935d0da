import RecordSQL

/// The settings of a store's connections.
enum ConnectionOptions {
    /// The number of log pages that starts a checkpoint. The commit that makes the log this long
    /// moves it into the database, which stops writers for some milliseconds. On a small disk
    /// `keepSpace` uses a smaller number.
    private static let checkpointPages: Int64 = 4000
    /// The size to which the log's file is cut once the log is in the database.
    static let logBytesKept = 4 << 20

    /// The first PRAGMA applies to a new database. An existing one stays as it is until
    /// `recordfs gc`. Data that has left a share stays in no free page, for which Debian's SQLite
    /// deletes securely anyway.
    static var writer: SQLOptions {
        var options = SQLOptions()
        options.hasLog = true
        options.script = """
            PRAGMA auto_vacuum = INCREMENTAL;
            PRAGMA synchronous = NORMAL;
            PRAGMA secure_delete = ON;
            PRAGMA wal_autocheckpoint = \(checkpointPages);
            PRAGMA journal_size_limit = \(logBytesKept);
            PRAGMA cache_size = -16000;
            PRAGMA temp_store = MEMORY;
            """
        return options
    }

    static var reader: SQLOptions {
        var options = SQLOptions()
        options.isReadOnly = true
        options.script = "PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY"
        return options
    }
}
