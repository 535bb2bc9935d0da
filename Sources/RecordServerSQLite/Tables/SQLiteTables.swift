import RecordModel
import RecordSQL

/// The tables of the server, version by version. A published version never changes.
enum SQLiteTables {
    /// All versions until now in one transaction: one commit, and one check of the references.
    static let migrations = SQLMigrations([
        SQLMigrations.Migration("2026-11", replacing: Set(names)) {
            (connection, applied) throws(RecordError) in
            for (name, sql) in zip(names, versions) where !applied.contains(name) {
                try connection.execute(sql)
            }
        },
        // These come later than the others: a database that has all of those does not look at them
        // again.
        sql("2026-11-25 access to shares", accessToShares),
        sql("2026-11-25 invitations", invitations),
        sql("2026-11-26 account events", accountEvents),
        sql("2026-11-26 blocked owners", blockedOwners),
        sql("2026-11-26 reports", manyReports),
        sql("2026-11-26 departures", departures),
        sql("2026-11-27 released assets", releasedAssets),
        sql("2026-11-30 gestures", "ALTER TABLE records ADD COLUMN gesture BLOB"),
        sql("2026-11-30 former records", formerRecords),
    ])

    private static func sql(_ name: String, _ statements: String) -> SQLMigrations.Migration {
        SQLMigrations.Migration(name) { (connection, _) throws(RecordError) in
            try connection.execute(statements)
        }
    }

    private static let names = versions.indices.map { "v\($0 + 1)" }
    /// The statements that bring a database of each earlier version to the next one.
    static let versions = [
        [zones, records, shares, accounts, push].joined(separator: "\n"),
        // Only users who agree can be found, and nobody was asked about the value that users had
        // until now.
        "UPDATE users SET discoverable = 0",
        bounds, operationsOfUser, tokenMarks, couriers, zoneFeeds, quotaHolders, trees,
        lastPositions, "ALTER TABLE records ADD COLUMN file_text BLOB",
    ]

    /// Deletes the results that were kept before, because they had content that their user may no
    /// longer see.
    private static let operationsOfUser = """
        DELETE FROM operations;
        CREATE INDEX operations_of_user ON operations (database, user, at);
        """

    /// The tables of containers, databases and zones. Names are BLOBs: SQLite then compares them as
    /// bytes.
    ///
    /// A record belongs to one number, its zone, so that one UPDATE deletes a zone. The number of a
    /// zone is never given again, which AUTOINCREMENT ensures.
    private static let zones = """
        CREATE TABLE settings (
            name TEXT PRIMARY KEY NOT NULL,
            value BLOB NOT NULL
        ) WITHOUT ROWID;

        CREATE TABLE containers (
            name BLOB PRIMARY KEY NOT NULL
        ) WITHOUT ROWID;

        -- environment is 0 for development and 1 for production.
        CREATE TABLE schemas (
            container BLOB NOT NULL,
            environment INTEGER NOT NULL,
            version INTEGER NOT NULL,
            text BLOB NOT NULL,
            PRIMARY KEY (container, environment)
        );

        CREATE TABLE roles (
            container BLOB NOT NULL,
            environment INTEGER NOT NULL,
            user BLOB NOT NULL,
            role TEXT NOT NULL,
            PRIMARY KEY (container, environment, user, role)
        ) WITHOUT ROWID;

        CREATE TABLE databases (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            container BLOB NOT NULL,
            environment INTEGER NOT NULL,
            owner BLOB NOT NULL,
            UNIQUE (container, environment, owner)
        );
        CREATE INDEX databases_owner ON databases (owner);

        -- A deleted zone keeps its row until all that belongs to it is swept.
        CREATE TABLE zones (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            database INTEGER NOT NULL,
            name BLOB NOT NULL,
            incarnation INTEGER NOT NULL,
            position INTEGER NOT NULL DEFAULT 0,
            horizon INTEGER NOT NULL DEFAULT 0,
            record_count INTEGER NOT NULL DEFAULT 0,
            record_bytes INTEGER NOT NULL DEFAULT 0,
            asset_bytes INTEGER NOT NULL DEFAULT 0,
            deleted INTEGER NOT NULL DEFAULT 0
        );
        CREATE UNIQUE INDEX zones_name ON zones (database, name) WHERE deleted = 0;
        CREATE INDEX zones_deleted ON zones (id) WHERE deleted = 1;

        CREATE TABLE zone_tombstones (
            database INTEGER NOT NULL,
            name BLOB NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (database, name)
        ) WITHOUT ROWID;
        """

    /// The tables of records. Types, fields, users and devices are numbers of the table `names`.
    private static let records = """
        CREATE TABLE names (
            id INTEGER PRIMARY KEY,
            name BLOB NOT NULL UNIQUE
        );

        CREATE TABLE records (
            id INTEGER PRIMARY KEY,
            zone INTEGER NOT NULL,
            name BLOB NOT NULL,
            type INTEGER NOT NULL,
            tag INTEGER NOT NULL,
            position INTEGER NOT NULL,
            deleted INTEGER NOT NULL,
            has_assets INTEGER NOT NULL,
            created INTEGER NOT NULL,
            created_by INTEGER NOT NULL,
            created_on INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            modified_by INTEGER NOT NULL,
            modified_on INTEGER NOT NULL,
            parent BLOB,
            share BLOB,
            short_guid BLOB,
            fields BLOB NOT NULL
        );
        CREATE UNIQUE INDEX records_name ON records (zone, name);
        CREATE INDEX records_position ON records (zone, position);
        CREATE INDEX records_type ON records (zone, type, name) WHERE deleted = 0;
        CREATE INDEX records_deleted ON records (zone, position) WHERE deleted = 1;
        CREATE INDEX records_parent ON records (zone, parent, name) WHERE parent IS NOT NULL;
        CREATE INDEX records_share ON records (zone, share, position) WHERE share IS NOT NULL;

        CREATE TABLE exits (
            zone INTEGER NOT NULL,
            name BLOB NOT NULL,
            share BLOB NOT NULL,
            position INTEGER NOT NULL,
            PRIMARY KEY (zone, name, share)
        ) WITHOUT ROWID;
        CREATE INDEX exits_share ON exits (zone, share, position);
        CREATE INDEX exits_position ON exits (zone, position);

        -- action is 1 for deleteSelf and 2 for validate; record is the source.
        CREATE TABLE record_references (
            zone INTEGER NOT NULL,
            target BLOB NOT NULL,
            action INTEGER NOT NULL,
            source BLOB NOT NULL,
            record INTEGER NOT NULL,
            PRIMARY KEY (zone, target, action, source)
        ) WITHOUT ROWID;
        CREATE INDEX record_references_record ON record_references (record);

        CREATE TABLE index_entries (
            zone INTEGER NOT NULL,
            type INTEGER NOT NULL,
            field INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            key BLOB NOT NULL,
            name BLOB NOT NULL,
            record INTEGER NOT NULL,
            PRIMARY KEY (zone, type, field, kind, key, name)
        ) WITHOUT ROWID;

        -- What index_entries has of a record, so that they can be found again. A second index on
        -- that table would cost as much as the table.
        CREATE TABLE index_lists (
            record INTEGER PRIMARY KEY,
            entries BLOB NOT NULL
        );

        CREATE TABLE assets (
            id INTEGER PRIMARY KEY,
            database INTEGER NOT NULL,
            checksum BLOB NOT NULL,
            sha256 TEXT NOT NULL,
            size INTEGER NOT NULL,
            uploaded INTEGER NOT NULL,
            reference_count INTEGER NOT NULL DEFAULT 0
        );
        CREATE UNIQUE INDEX assets_checksum ON assets (database, checksum);
        CREATE INDEX assets_sha256 ON assets (sha256);
        CREATE INDEX assets_unreferenced ON assets (uploaded) WHERE reference_count = 0;

        CREATE TABLE asset_references (
            zone INTEGER NOT NULL,
            asset INTEGER NOT NULL,
            record INTEGER NOT NULL,
            PRIMARY KEY (zone, asset, record)
        ) WITHOUT ROWID;
        CREATE INDEX asset_references_record ON asset_references (record);

        CREATE TABLE operations (
            database INTEGER NOT NULL,
            user INTEGER NOT NULL,
            operation BLOB NOT NULL,
            at INTEGER NOT NULL,
            result BLOB NOT NULL,
            PRIMARY KEY (database, user, operation)
        );
        CREATE INDEX operations_at ON operations (at);
        """

    private static let shares = """
        CREATE TABLE shares (
            zone INTEGER NOT NULL,
            name BLOB NOT NULL,
            root BLOB,
            short_guid BLOB NOT NULL,
            public_permission TEXT NOT NULL,
            PRIMARY KEY (zone, name)
        ) WITHOUT ROWID;
        CREATE INDEX shares_short_guid ON shares (short_guid);

        CREATE TABLE participants (
            zone INTEGER NOT NULL,
            share BLOB NOT NULL,
            place INTEGER NOT NULL,
            participant_id BLOB NOT NULL,
            user BLOB,
            email_address BLOB,
            phone_number BLOB,
            lookup_user BLOB,
            type TEXT NOT NULL,
            permission TEXT NOT NULL,
            status TEXT NOT NULL,
            PRIMARY KEY (zone, share, place)
        ) WITHOUT ROWID;

        -- shares are the names of the accepted ones, each after its length.
        CREATE TABLE shared_zones (
            viewer BLOB NOT NULL,
            zone INTEGER NOT NULL,
            incarnation INTEGER NOT NULL,
            shares BLOB NOT NULL,
            PRIMARY KEY (viewer, zone)
        ) WITHOUT ROWID;
        CREATE INDEX shared_zones_zone ON shared_zones (zone, viewer);

        CREATE TABLE shared_zone_tombstones (
            viewer BLOB NOT NULL,
            database INTEGER NOT NULL,
            name BLOB NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (viewer, database, name)
        ) WITHOUT ROWID;
        """

    private static let accounts = """
        CREATE TABLE users (
            name BLOB PRIMARY KEY NOT NULL,
            email_address BLOB NOT NULL UNIQUE,
            phone_number BLOB,
            given_name BLOB NOT NULL,
            family_name BLOB NOT NULL,
            password_hash BLOB NOT NULL,
            administrator INTEGER NOT NULL,
            disabled INTEGER NOT NULL,
            discoverable INTEGER NOT NULL,
            quota INTEGER,
            created INTEGER NOT NULL
        );
        CREATE INDEX users_phone_number ON users (phone_number) WHERE phone_number IS NOT NULL;

        -- origins are separated by line feeds.
        CREATE TABLE api_tokens (
            hash BLOB PRIMARY KEY NOT NULL,
            container BLOB NOT NULL,
            environment INTEGER NOT NULL,
            name BLOB NOT NULL,
            callback_url BLOB,
            origins BLOB NOT NULL,
            revoked INTEGER NOT NULL,
            created INTEGER NOT NULL
        );
        CREATE INDEX api_tokens_container ON api_tokens (container, created, hash);

        CREATE TABLE sessions (
            id BLOB PRIMARY KEY NOT NULL,
            user BLOB NOT NULL,
            container BLOB NOT NULL,
            environment INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            generation_at INTEGER NOT NULL,
            created INTEGER NOT NULL,
            expires INTEGER NOT NULL,
            revoked INTEGER NOT NULL,
            label BLOB NOT NULL
        );
        CREATE INDEX sessions_user ON sessions (user, created, id);
        CREATE INDEX sessions_expires ON sessions (expires);

        CREATE TABLE server_keys (
            id BLOB PRIMARY KEY NOT NULL,
            container BLOB NOT NULL,
            environment INTEGER NOT NULL,
            public_key BLOB NOT NULL,
            name BLOB NOT NULL,
            user BLOB NOT NULL,
            revoked INTEGER NOT NULL,
            created INTEGER NOT NULL
        );
        CREATE INDEX server_keys_container ON server_keys (container, created, id);
        """

    /// Pairs of the number of a web auth token and the time when it was first shown.
    private static let tokenMarks = """
        ALTER TABLE sessions ADD COLUMN marks BLOB NOT NULL DEFAULT x'';
        """

    /// The order in which the zones of a database changed, and the part of it that is left.
    ///
    /// `made` is not used any more. Zones that exist already get an arbitrary order, because no
    /// token knows of it.
    private static let zoneFeeds = """
        ALTER TABLE databases ADD COLUMN zone_position INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE databases ADD COLUMN zone_horizon INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zones ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zones ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zone_tombstones ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zone_tombstones ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
        UPDATE zones SET place = id;
        UPDATE databases SET zone_position = (
            SELECT coalesce(max(place), 0) FROM zones WHERE database = databases.id);
        CREATE INDEX zones_place ON zones (database, place) WHERE deleted = 0;
        CREATE INDEX zone_tombstones_place ON zone_tombstones (database, place);
        """

    /// The highest position of the zones of a database that were deleted. A zone that is made again
    /// continues behind it, so that a change tag never means two records.
    private static let lastPositions = """
        ALTER TABLE databases ADD COLUMN last_position INTEGER NOT NULL DEFAULT 0;
        UPDATE databases SET last_position = (
            SELECT coalesce(max(position), 0) FROM zones WHERE database = databases.id);
        """

    /// The session or key of a courier. A courier whose session is not known ends, and its client
    /// asks for another.
    private static let couriers = """
        DELETE FROM push_frames;
        DELETE FROM push_devices;
        ALTER TABLE push_devices ADD COLUMN credential BLOB NOT NULL DEFAULT x'';
        CREATE INDEX push_devices_credential ON push_devices (credential);
        CREATE INDEX sessions_revoked ON sessions (revoked, id) WHERE revoked = 1;
        CREATE INDEX server_keys_revoked ON server_keys (revoked, id) WHERE revoked = 1;
        """

    /// The tables of notifications. scope is 0 for public, 1 for private and 2 for shared.
    private static let push = """
        CREATE TABLE subscriptions (
            container BLOB NOT NULL,
            environment INTEGER NOT NULL,
            scope INTEGER NOT NULL,
            user BLOB NOT NULL,
            id BLOB NOT NULL,
            dictionary BLOB NOT NULL,
            PRIMARY KEY (container, environment, scope, user, id)
        );

        CREATE TABLE push_devices (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            courier_hash BLOB NOT NULL UNIQUE,
            container BLOB NOT NULL,
            environment INTEGER NOT NULL,
            user BLOB NOT NULL,
            client BLOB NOT NULL,
            apns_environment BLOB NOT NULL,
            apns_token BLOB NOT NULL,
            registered INTEGER NOT NULL,
            last_seen INTEGER NOT NULL
        );
        CREATE INDEX push_devices_user ON push_devices (container, environment, user);
        CREATE INDEX push_devices_last_seen ON push_devices (last_seen);

        CREATE TABLE push_frames (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            device INTEGER NOT NULL,
            frame BLOB NOT NULL
        );
        CREATE INDEX push_frames_device ON push_frames (device, id);
        """
}
