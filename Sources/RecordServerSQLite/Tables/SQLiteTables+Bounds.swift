extension SQLiteTables {
    /// The limits for the sizes of uploads, the tombstones of zones and the names of clients.
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

    /// The used bytes of each quota, so that no save has to add up all zones of an owner. Triggers
    /// update them: the content of a zone counts as long as the zone is not deleted.
    ///
    /// The holder of the private databases of a user has no container.
    static let quotaHolders = """
        CREATE TABLE quota_holders (
            id INTEGER PRIMARY KEY,
            owner BLOB NOT NULL,
            container BLOB NOT NULL,
            environment INTEGER NOT NULL,
            used_bytes INTEGER NOT NULL DEFAULT 0,
            UNIQUE (owner, container, environment)
        );
        INSERT OR IGNORE INTO quota_holders (owner, container, environment)
            SELECT owner, CASE owner WHEN CAST('_public' AS BLOB) THEN container ELSE x'' END,
                CASE owner WHEN CAST('_public' AS BLOB) THEN environment ELSE 0 END
            FROM databases;
        ALTER TABLE databases ADD COLUMN holder INTEGER NOT NULL DEFAULT 0;
        UPDATE databases SET holder = (
            SELECT h.id FROM quota_holders h WHERE h.owner = databases.owner
                AND (databases.owner <> CAST('_public' AS BLOB)
                    OR h.container = databases.container
                        AND h.environment = databases.environment));
        UPDATE quota_holders SET used_bytes = (
            SELECT coalesce(sum(z.record_bytes + z.asset_bytes), 0)
            FROM databases d JOIN zones z ON z.database = d.id AND z.deleted = 0
            WHERE d.holder = quota_holders.id);
        CREATE TRIGGER zones_used_update AFTER UPDATE OF record_bytes, asset_bytes, deleted ON zones
            BEGIN
                UPDATE quota_holders SET used_bytes = used_bytes
                    + CASE new.deleted WHEN 0 THEN new.record_bytes + new.asset_bytes ELSE 0 END
                    - CASE old.deleted WHEN 0 THEN old.record_bytes + old.asset_bytes ELSE 0 END
                WHERE id = (SELECT holder FROM databases WHERE id = new.database);
            END;
        """
}
