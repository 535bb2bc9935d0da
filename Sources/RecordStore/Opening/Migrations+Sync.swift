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

    /// When a version was made by the hybrid logical clock: `FieldStamp.time`; NULL in older ones,
    /// where `at` says it. The store has a number of its own for stamps.
    ///
    /// A conflict keeps what the two sides had: `side` is 0 for their common base, 1 for this
    /// machine, 2 for the server. A side without a text had deleted the record. `theirs_stood` are
    /// those of the fields that have the server's value since. One that somebody has settled stays
    /// for a time, so that `rm -r` finds what it has listed.
    static let conflicts = """
        ALTER TABLE history ADD COLUMN stamp INTEGER;
        INSERT INTO meta (key, value) VALUES ('device', random());
        CREATE TABLE conflict (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            zone_id INTEGER NOT NULL REFERENCES zone (id),
            type BLOB NOT NULL,
            stem BLOB NOT NULL,
            record_id INTEGER NOT NULL,
            at INTEGER NOT NULL,
            fields BLOB NOT NULL,
            theirs_stood BLOB NOT NULL,
            their_time INTEGER,
            their_user TEXT NOT NULL,
            settled INTEGER
        );
        CREATE INDEX conflict_type ON conflict (zone_id, type);
        CREATE INDEX conflict_open ON conflict (zone_id) WHERE settled IS NULL;
        CREATE INDEX conflict_record ON conflict (record_id) WHERE settled IS NULL;
        CREATE TABLE conflict_text (
            id INTEGER PRIMARY KEY,
            conflict_id INTEGER NOT NULL REFERENCES conflict (id),
            side INTEGER NOT NULL,
            text BLOB NOT NULL,
            checksum INTEGER NOT NULL,
            UNIQUE (conflict_id, side)
        );
        """

    /// The last conflict of a name is found by the name, also a settled one.
    static let conflictNames = """
        DROP INDEX conflict_type;
        DROP INDEX conflict_record;
        CREATE INDEX conflict_stem ON conflict (zone_id, type, stem);
        CREATE INDEX conflict_record ON conflict (record_id);
        """

    /// A request that uploads, from before it is sent until it is answered: one of a zone at a time.
    /// `batch` is that of the outgoing changes in it; `id`, which its body has too, was dropped later.
    static let sentRequests = """
        CREATE TABLE sent_request (
            zone_id INTEGER PRIMARY KEY,
            batch INTEGER NOT NULL,
            id TEXT NOT NULL,
            body BLOB NOT NULL
        );
        """

    /// `restore_point` is the position behind which all on the server is newer than its last restore
    /// from a backup; NULL until it was told. A pass is `restored` when it goes over a server that
    /// is behind what is known here.
    static let restorePoints = """
        ALTER TABLE zone ADD COLUMN restore_point INTEGER;
        ALTER TABLE feed_pass ADD COLUMN restored INTEGER NOT NULL DEFAULT 0;
        """

    /// Whether the server may have a text of the record's file.
    static let textsOfServer = """
        ALTER TABLE sent_request DROP COLUMN id;
        ALTER TABLE base ADD COLUMN has_file_text INTEGER NOT NULL DEFAULT 1;
        """

    /// What the exchange with the record server has done, and why it could not: the last of it.
    static let syncEvents = """
        CREATE TABLE sync_event (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            database INTEGER NOT NULL,
            zone_id INTEGER,
            started INTEGER NOT NULL,
            ended INTEGER NOT NULL,
            records INTEGER NOT NULL,
            error TEXT
        );
        """

    /// What keeps its large fields here: each row a zone, a type or a record.
    static let pins = """
        CREATE TABLE pin (
            id INTEGER PRIMARY KEY,
            zone_id INTEGER UNIQUE REFERENCES zone (id) ON DELETE CASCADE,
            type_id INTEGER UNIQUE REFERENCES record_type (id) ON DELETE CASCADE,
            record_id INTEGER UNIQUE REFERENCES record (id) ON DELETE CASCADE,
            CHECK ((zone_id IS NOT NULL) + (type_id IS NOT NULL) + (record_id IS NOT NULL) = 1)
        );
        CREATE INDEX asset_elsewhere ON asset (type_id) WHERE downloaded = 0 AND kind = 0;
        """

    /// What the server has told of shares: those of one's own zones, and those of others.
    static let shares = """
        CREATE TABLE share (
            zone_id INTEGER NOT NULL REFERENCES zone (id),
            name BLOB NOT NULL,
            root BLOB,
            permission INTEGER NOT NULL,
            text BLOB NOT NULL,
            PRIMARY KEY (zone_id, name)
        ) WITHOUT ROWID;
        """

    /// Whom the server means by the owner of a zone of others, where `owner` shows another name; NULL where
    /// it is the same.
    static let usersOfZones = """
        ALTER TABLE zone ADD COLUMN user BLOB;
        """

    /// When this machine first had the text.
    static let timesOfShares = """
        ALTER TABLE share ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
        """

    /// Whether its file was removed here, and it ends when the grace time is over.
    static let endingShares = "ALTER TABLE share ADD COLUMN ending INTEGER NOT NULL DEFAULT 0;"

    /// Whether it is what this user has written of a record of others, and nothing else: the end of a
    /// share leaves it.
    static let ownTrash = "ALTER TABLE trash ADD COLUMN is_own INTEGER NOT NULL DEFAULT 0;"

    /// Which outgoing deletions are of what has gone elsewhere, and where that is: they are not sent
    /// before the server has all that goes together, which has one `tree`.
    static let moves = """
        CREATE TABLE move (
            outbox_id INTEGER PRIMARY KEY REFERENCES outbox (id) ON DELETE CASCADE,
            zone_id INTEGER NOT NULL REFERENCES zone (id),
            name BLOB NOT NULL,
            tree INTEGER NOT NULL
        );
        CREATE INDEX move_copy ON move (zone_id, name);
        """

    /// Zones of others that could be written to as soon as one of their shares allowed it.
    static let mixedPermissions = """
        UPDATE zone SET permission = 2
        WHERE permission = 0 AND removed = 0
            AND database = 2
            AND EXISTS (SELECT 1 FROM share WHERE zone_id = zone.id AND permission = 0)
            AND EXISTS (SELECT 1 FROM share WHERE zone_id = zone.id AND permission = 1)
            AND NOT EXISTS (SELECT 1 FROM share WHERE zone_id = zone.id AND root IS NULL);
        """

    /// Records that the server has told of and that cannot be shown here. `due`: to be asked for once
    /// more.
    static let passedOver = """
        CREATE TABLE passed_over (
            zone_id INTEGER NOT NULL,
            name BLOB NOT NULL,
            reason TEXT NOT NULL,
            due INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (zone_id, name)
        ) WITHOUT ROWID;
        """
}
