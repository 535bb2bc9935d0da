extension Migrations {
    /// The largest version of objects that the attached model knows.
    static let largestVersion = "ALTER TABLE object_model ADD COLUMN largest_version INTEGER;"

    /// The model that is attached to the store, in our JSON form: one row, or none. And the objects
    /// in the relationships of objects, by the records that hold the keys. `field` is the key, or
    /// empty for the link of a many-to-many relationship; `holder` is 0 for a link that waits for
    /// its object.
    static let models = """
        CREATE TABLE object_model (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            text BLOB NOT NULL,
            configuration TEXT,
            attached INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        );
        CREATE TABLE object_link (
            holder INTEGER NOT NULL,
            zone_id INTEGER NOT NULL,
            owner BLOB NOT NULL,
            relationship BLOB NOT NULL,
            field BLOB NOT NULL,
            member BLOB NOT NULL,
            PRIMARY KEY (holder, zone_id, owner, relationship, field, member)
        ) WITHOUT ROWID;
        CREATE INDEX object_link_owner ON object_link (zone_id, owner, relationship, field, member);
        """
}
