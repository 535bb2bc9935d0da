import RecordSQL

extension Migrations {
    /// Files of large fields that follow a renamed record when the grace time is over. The table
    /// keeps them together even if the process is killed. `instead` is the content that the field
    /// has meanwhile, NULL where that is not known. `source` is the record that the file belonged
    /// to.
    static let stepsOfFollows: [Step] = [sql("follows", follows)]

    private static let follows = """
        CREATE TABLE follow (
            record_id INTEGER NOT NULL,
            field BLOB NOT NULL,
            source INTEGER NOT NULL,
            hash TEXT NOT NULL,
            size INTEGER NOT NULL,
            ext BLOB NOT NULL,
            instead TEXT,
            since INTEGER NOT NULL,
            PRIMARY KEY (record_id, field)
        ) WITHOUT ROWID;
        CREATE TRIGGER follow_gone AFTER DELETE ON record BEGIN
            DELETE FROM follow WHERE record_id = old.id;
        END;
        """
}
