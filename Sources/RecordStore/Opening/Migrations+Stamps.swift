extension Migrations {
    /// Under which stamps the server has told of the fields of a record: those of `HeardStamps`, of names
    /// for which it has told any. They outlive the record, which may come back for an edit's sake.
    static let heardStamps = """
        CREATE TABLE heard_stamps (
            zone_id INTEGER NOT NULL,
            name BLOB NOT NULL,
            stamps BLOB NOT NULL,
            PRIMARY KEY (zone_id, name)
        ) WITHOUT ROWID;
        """

    /// How often the bytes of an outgoing change were looked for and found nowhere.
    static let missingBytes = """
        ALTER TABLE outbox ADD COLUMN bytes_missed INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX outbox_bytes_missed ON outbox (id) WHERE bytes_missed > 0;
        """
}
