extension Migrations {
    /// Which fields have an index for queries, made because somebody asked for it, and for which
    /// values; by hashes, so that what it finds is looked at before it is believed.
    ///
    /// `built` is the number of the last record that the making of the index has reached, NULL once it
    /// is made; `token` is the version up to which it knows changes.
    static let queryIndex = """
        CREATE TABLE query_index (
            id INTEGER PRIMARY KEY,
            type BLOB NOT NULL,
            field BLOB NOT NULL,
            token INTEGER NOT NULL,
            built INTEGER,
            UNIQUE (type, field)
        );
        CREATE TABLE query_value (
            index_id INTEGER NOT NULL,
            hash INTEGER NOT NULL,
            record_id INTEGER NOT NULL,
            PRIMARY KEY (index_id, hash, record_id)
        ) WITHOUT ROWID;
        CREATE INDEX query_value_record ON query_value (record_id, index_id);
        """
}
