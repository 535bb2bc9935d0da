extension SQLiteTables {
    /// What the sizes of uploads, tombstones of zones and names of clients are bounded by.
    ///
    /// A tombstone without a time is newer than all others: the next sweep gives it one.
    static let bounds = """
        ALTER TABLE databases ADD COLUMN unsaved_bytes INTEGER NOT NULL DEFAULT 0;
        UPDATE databases SET unsaved_bytes = (
            SELECT coalesce(sum(max(size, 512)), 0) FROM assets
            WHERE database = databases.id AND reference_count = 0);
        CREATE TRIGGER assets_unsaved_insert AFTER INSERT ON assets
            WHEN new.reference_count = 0
            BEGIN
                UPDATE databases SET unsaved_bytes = unsaved_bytes + max(new.size, 512)
                WHERE id = new.database;
            END;
        CREATE TRIGGER assets_unsaved_update AFTER UPDATE OF size, reference_count ON assets
            WHEN old.reference_count = 0 OR new.reference_count = 0
            BEGIN
                UPDATE databases SET unsaved_bytes = unsaved_bytes
                    + CASE new.reference_count WHEN 0 THEN max(new.size, 512) ELSE 0 END
                    - CASE old.reference_count WHEN 0 THEN max(old.size, 512) ELSE 0 END
                WHERE id = new.database;
            END;
        CREATE TRIGGER assets_unsaved_delete AFTER DELETE ON assets
            WHEN old.reference_count = 0
            BEGIN
                UPDATE databases SET unsaved_bytes = unsaved_bytes - max(old.size, 512)
                WHERE id = old.database;
            END;

        ALTER TABLE zone_tombstones ADD COLUMN at INTEGER NOT NULL DEFAULT 9223372036854775807;
        CREATE INDEX zone_tombstones_at ON zone_tombstones (at);
        CREATE INDEX zone_tombstones_oldest ON zone_tombstones (database, at);
        ALTER TABLE shared_zone_tombstones
            ADD COLUMN at INTEGER NOT NULL DEFAULT 9223372036854775807;
        CREATE INDEX shared_zone_tombstones_at ON shared_zone_tombstones (at);
        CREATE INDEX shared_zone_tombstones_oldest ON shared_zone_tombstones (viewer, at);

        -- The clients that a user has brought names of; both are numbers of the table names.
        CREATE TABLE client_names (
            user INTEGER NOT NULL,
            name INTEGER NOT NULL,
            PRIMARY KEY (user, name)
        ) WITHOUT ROWID;
        """
}
