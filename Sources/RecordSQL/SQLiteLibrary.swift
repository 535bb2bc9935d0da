import CSQLite

/// The settings of SQLite for the whole process, made before it opens its first database.
package enum SQLiteLibrary {
    /// SQLite does not count its memory. The counters have one lock, which all connections of a
    /// process take at each allocation: with two of them at work it took a quarter of the time.
    /// Nobody reads the counters, and the limits of caches do not need them
    /// (SQLITE_CONFIG_MEMSTATUS of https://sqlite.org/c3ref/c_config_covering_index_scan.html).
    ///
    /// The first access sets the option. False if SQLite was already in use; the value then stays
    /// false.
    package static let isSetUp = recordfs_sqlite3_config_memstatus(0) == SQLITE_OK

    /// Called before a connection is made.
    package static func setUp() { _ = isSetUp }
}
