extension Migrations {
    /// The model that is attached to the store, in our JSON form. One row, or none.
    static let models = """
        CREATE TABLE object_model (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            text BLOB NOT NULL,
            configuration TEXT,
            attached INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        );
        """
}
