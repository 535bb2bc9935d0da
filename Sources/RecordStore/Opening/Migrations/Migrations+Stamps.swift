extension Migrations {
    /// The stamps under which the server has reported the fields of a record, as in `HeardStamps`,
    /// for each name with any stamp. They outlive the record, which may come back because of an
    /// edit.
    static let heardStamps = """
        CREATE TABLE heard_stamps (
            zone_id INTEGER NOT NULL,
            name BLOB NOT NULL,
            stamps BLOB NOT NULL,
            PRIMARY KEY (zone_id, name)
        ) WITHOUT ROWID;
        """

    /// The number of times that the bytes of an outgoing change were searched and not found.
    static let missingBytes = """
        ALTER TABLE outbox ADD COLUMN bytes_missed INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX outbox_bytes_missed ON outbox (id) WHERE bytes_missed > 0;
        """
}
