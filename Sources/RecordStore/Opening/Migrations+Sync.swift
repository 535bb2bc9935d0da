extension Migrations {
    /// What the server has of a record is a version of this store's history wherever one has those
    /// values; only else is its text stored once more. An outgoing change knows the version that was
    /// sent last (`sent`), for its answer may have got lost; NULL while none was.
    ///
    /// Whoever removes versions from history keeps those that `base.version`, `outbox.sent` and
    /// `outbox.base_version` name.
    static let sentVersions = """
        CREATE TABLE new_base (
            record_id INTEGER PRIMARY KEY REFERENCES record (id),
            change_tag TEXT NOT NULL,
            version INTEGER,
            text BLOB,
            checksum INTEGER
        );
        INSERT INTO new_base SELECT record_id, change_tag, NULL, text, checksum FROM base;
        DROP TABLE base;
        ALTER TABLE new_base RENAME TO base;
        ALTER TABLE outbox ADD COLUMN sent INTEGER;
        ALTER TABLE outbox ADD COLUMN base_version INTEGER;
        CREATE INDEX outbox_ready ON outbox (zone_id, id)
            WHERE batch = 0 AND error IS NULL AND waits_for_asset = 0;
        """

    /// Up to where the feeds of the server are applied; one of the two numbers is 0.
    static let feedTokens = """
        CREATE TABLE feed_token (
            database INTEGER NOT NULL,
            zone_id INTEGER NOT NULL,
            token BLOB NOT NULL,
            PRIMARY KEY (database, zone_id)
        ) WITHOUT ROWID;
        """

    /// The feed of a zone that had begun and begins anew tells all that is there, and not what is gone
    /// since: each base knows in which pass the server last told of it. There is a row as long as the
    /// pass goes on.
    static let feedPasses = """
        CREATE TABLE feed_pass (
            pass INTEGER PRIMARY KEY AUTOINCREMENT,
            zone_id INTEGER NOT NULL UNIQUE
        );
        ALTER TABLE base ADD COLUMN pass INTEGER NOT NULL DEFAULT 0;
        """
}
