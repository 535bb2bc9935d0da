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

    /// The lists whose keys may lead nowhere since something has arrived, until the download has
    /// ended. `member` is the only object whose key is in doubt, or empty for all; `was_waiting` is 1 for
    /// a key that was here before the object. And the names
    /// under which objects that have left a name are now; `new_zone_id` is 0 for a zone that is not
    /// on this machine.
    static let looseLinks = """
        CREATE TABLE object_doubt (
            zone_id INTEGER NOT NULL,
            owner BLOB NOT NULL,
            relationship BLOB NOT NULL,
            member BLOB NOT NULL,
            was_waiting INTEGER NOT NULL,
            PRIMARY KEY (zone_id, owner, relationship, member)
        ) WITHOUT ROWID;
        CREATE TABLE object_move (
            zone_id INTEGER NOT NULL,
            name BLOB NOT NULL,
            new_zone_id INTEGER NOT NULL,
            new_name BLOB NOT NULL,
            PRIMARY KEY (zone_id, name)
        ) WITHOUT ROWID;
        """

    /// The lists of objects whose texts do not have yet what a download has brought.
    static let dueLists = """
        CREATE TABLE object_list_due (
            zone_id INTEGER NOT NULL,
            owner BLOB NOT NULL,
            relationship BLOB NOT NULL,
            PRIMARY KEY (zone_id, owner, relationship)
        ) WITHOUT ROWID;
        """

    /// The hash of the values that identify an object, for entities that have such. `is_new` is
    /// 1 until it was compared with others. And the objects that were merged into another one and
    /// are to be removed; `is_sent` is 1 when the server has what the merge has changed.
    static let duplicates = """
        CREATE TABLE object_identity (
            holder INTEGER PRIMARY KEY,
            zone_id INTEGER NOT NULL,
            type BLOB NOT NULL,
            identity TEXT NOT NULL,
            is_new INTEGER NOT NULL
        );
        CREATE INDEX object_identity_value ON object_identity (zone_id, type, identity);
        CREATE INDEX object_identity_new ON object_identity (zone_id) WHERE is_new = 1;
        CREATE TABLE object_duplicate (
            holder INTEGER PRIMARY KEY,
            zone_id INTEGER NOT NULL,
            is_sent INTEGER NOT NULL
        );
        """
}
