import GRDB

extension Migrations {
    /// Files of large fields that go along with a renamed record when the grace is over: no kill may part them
    /// from it. `instead` is what the field has meanwhile, NULL where that is not known; `source` is the record
    /// that the file was of.
    static let stepsOfFollows: [Step] = [("follows", { try $0.execute(sql: follows) })]

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
