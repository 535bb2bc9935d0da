extension SQLiteTables {
    /// All reports. A second report by the same person does not replace the first, because it may
    /// say something else.
    static let manyReports = """
        CREATE TABLE share_reports_2 (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            container BLOB NOT NULL,
            environment INTEGER NOT NULL,
            owner BLOB NOT NULL,
            zone BLOB NOT NULL,
            share BLOB NOT NULL,
            short_guid BLOB NOT NULL,
            reporter BLOB NOT NULL,
            at INTEGER NOT NULL,
            text BLOB NOT NULL
        );
        INSERT INTO share_reports_2 SELECT id, container, environment, owner, zone, share,
            short_guid, reporter, at, text FROM share_reports;
        DROP TABLE share_reports;
        ALTER TABLE share_reports_2 RENAME TO share_reports;
        """
}
