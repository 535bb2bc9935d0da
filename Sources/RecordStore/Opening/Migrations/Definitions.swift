import RecordModel
import RecordSQL

/// The definitions of the tables are a text in the database too. One changed letter in them makes
/// SQLite read all rows of a table differently. `PRAGMA user_version` holds their checksum.
extension SQLConnection {
    /// Stores the checksum of the definitions. Called when the tables have the definitions of this
    /// version.
    func sealDefinitions() throws(RecordError) {
        try run("PRAGMA user_version = \(try definitionsChecksum())")
    }

    /// Compares the definitions with their checksum.
    ///
    /// - Throws: corrupt. A store of the first version has no checksum.
    func checkDefinitions() throws(RecordError) {
        let stored = try first("PRAGMA user_version") { $0.int64(0) } ?? 0
        guard stored != 0, stored != (try definitionsChecksum()) else { return }
        throw RecordError(
            .corrupt,
            "The definitions of the tables in store.sqlite are damaged. Nothing was changed. Put "
                + "store.sqlite back from a backup.")
    }

    /// Returns a checksum that fits `user_version`: 31 bits and never 0. Indexes and other tables
    /// that users have added for themselves do not count.
    private func definitionsChecksum() throws(RecordError) -> Int64 {
        let names = Migrations.tables.union(Migrations.laterTables).sorted().map { "'\($0)'" }
            .joined(separator: ", ")
        var definitions: [UInt8] = []
        try each(
            """
            SELECT name, sql FROM sqlite_master
            WHERE type IN ('table', 'trigger', 'view') AND tbl_name IN (\(names)) ORDER BY name
            """
        ) { definitions += $0.bytes(0) + [0] + $0.bytes(1) + [0] }
        let checksum = TextChecksum.of(definitions)
        return (checksum ^ checksum >> 32) & 0x7fff_ffff | 1
    }
}
