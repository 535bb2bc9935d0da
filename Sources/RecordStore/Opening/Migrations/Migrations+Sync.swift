extension Migrations {
    /// The server's state of a record is a version of this store's history wherever a version has
    /// those values. Only otherwise is its text stored once more. An outgoing change knows the
    /// version that was sent last (`sent`), because its answer may have been lost; NULL while none
    /// was sent.
    ///
    /// Code that removes versions from history keeps those that `base.version`, `outbox.sent` and
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

    /// The positions up to which the feeds of the server are applied. One of the two numbers is 0.
    static let feedTokens = """
        CREATE TABLE feed_token (
            database INTEGER NOT NULL,
            zone_id INTEGER NOT NULL,
            token BLOB NOT NULL,
            PRIMARY KEY (database, zone_id)
        ) WITHOUT ROWID;
        """

    /// The passes of feeds. If the feed of a zone starts again from the beginning, it reports
    /// everything that exists, but no earlier deletions. So each base stores the pass in which the
    /// server last reported it. There is a row as long as the pass continues.
    static let feedPasses = """
        CREATE TABLE feed_pass (
            pass INTEGER PRIMARY KEY AUTOINCREMENT,
            zone_id INTEGER NOT NULL UNIQUE
        );
        ALTER TABLE base ADD COLUMN pass INTEGER NOT NULL DEFAULT 0;
        """

    /// The time that the hybrid logical clock gave a version: `FieldStamp.time`. NULL in older
    /// versions, where `at` is the time. The store has its own number for stamps.
    ///
    /// A conflict keeps the texts of both sides: `side` is 0 for their common base, 1 for this
    /// machine, 2 for the server. A side without a text had deleted the record. `theirs_stood` are
    /// the fields that have had the server's value since. A settled conflict stays for a time, so
    /// that `rm -r` finds the files that it has listed.
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

    /// The last conflict of a name is found by the name, even if it is settled.
    static let conflictNames = """
        DROP INDEX conflict_type;
        DROP INDEX conflict_record;
        CREATE INDEX conflict_stem ON conflict (zone_id, type, stem);
        CREATE INDEX conflict_record ON conflict (record_id);
        """

    /// A request that uploads, from before it is sent until it is answered: one for a zone at a
    /// time. `batch` is the batch of the outgoing changes in it. `id`, which its body has too, was
    /// dropped later.
    static let sentRequests = """
        CREATE TABLE sent_request (
            zone_id INTEGER PRIMARY KEY,
            batch INTEGER NOT NULL,
            id TEXT NOT NULL,
            body BLOB NOT NULL
        );
        """

    /// `restore_point` is the position after which everything on the server is newer than its last
    /// restore from a backup; NULL until the server has reported it. A pass is `restored` when it
    /// reads a server that is behind the state that is known here.
    static let restorePoints = """
        ALTER TABLE zone ADD COLUMN restore_point INTEGER;
        ALTER TABLE feed_pass ADD COLUMN restored INTEGER NOT NULL DEFAULT 0;
        """

    /// Indicates whether the server may have a text of the record's file.
    static let textsOfServer = """
        ALTER TABLE sent_request DROP COLUMN id;
        ALTER TABLE base ADD COLUMN has_file_text INTEGER NOT NULL DEFAULT 1;
        """

    /// The last exchanges with the record server: the result of each, or the reason why it failed.
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

    /// An exchange that runs is a row `without_end`, whose `ended` says nothing. At its end another
    /// row replaces it, whose `begun` is the number of the first one. `type` and `name` are those of
    /// the record that the server has refused.
    static let runningEvents = """
        ALTER TABLE sync_event ADD COLUMN without_end INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE sync_event ADD COLUMN begun INTEGER;
        ALTER TABLE sync_event ADD COLUMN type BLOB;
        ALTER TABLE sync_event ADD COLUMN name BLOB;
        """

    /// The places that keep the content of their large fields on this machine. Each row is a zone,
    /// a type or a record.
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

    /// The shares that the server has reported: those of your own zones, and those of others.
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

    /// The user whom the server means by the owner of a zone of others, where `owner` shows another
    /// name. NULL where it is the same name.
    static let usersOfZones = """
        ALTER TABLE zone ADD COLUMN user BLOB;
        """

    /// The time at which this machine first had the text.
    static let timesOfShares = """
        ALTER TABLE share ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
        """

    /// Indicates whether the share's file was removed here, so that the share ends when the grace
    /// time is over.
    static let endingShares = "ALTER TABLE share ADD COLUMN ending INTEGER NOT NULL DEFAULT 0;"

    /// Indicates whether the entry contains only the values that this user has written in a record
    /// of others. The end of a share leaves such an entry in the trash.
    static let ownTrash = "ALTER TABLE trash ADD COLUMN is_own INTEGER NOT NULL DEFAULT 0;"

    /// The outgoing deletions of records that have moved elsewhere, and their new places. A
    /// deletion is not sent before the server has all records that move together; they have the
    /// same `tree`.
    static let moves = """
        CREATE TABLE move (
            outbox_id INTEGER PRIMARY KEY REFERENCES outbox (id) ON DELETE CASCADE,
            zone_id INTEGER NOT NULL REFERENCES zone (id),
            name BLOB NOT NULL,
            tree INTEGER NOT NULL
        );
        CREATE INDEX move_copy ON move (zone_id, name);
        """

    /// Marks the zones of others in which some shares allow writing and other shares do not. Until
    /// this step, such a zone counted as writable as soon as one of its shares allowed it.
    static let mixedPermissions = """
        UPDATE zone SET permission = 2
        WHERE permission = 0 AND removed = 0
            AND database = 2
            AND EXISTS (SELECT 1 FROM share WHERE zone_id = zone.id AND permission = 0)
            AND EXISTS (SELECT 1 FROM share WHERE zone_id = zone.id AND permission = 1)
            AND NOT EXISTS (SELECT 1 FROM share WHERE zone_id = zone.id AND root IS NULL);
        """

    /// Records that the server has reported and that cannot be shown here. `due`: the record is to
    /// be requested once more.
    static let passedOver = """
        CREATE TABLE passed_over (
            zone_id INTEGER NOT NULL,
            name BLOB NOT NULL,
            reason TEXT NOT NULL,
            due INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (zone_id, name)
        ) WITHOUT ROWID;
        """

    /// The type on the server of a record that cannot be shown here. NULL where it is not known.
    static let passedOverTypes = "ALTER TABLE passed_over ADD COLUMN type BLOB;"

    /// Values of unsent records that others have written, if the records they were taken from are
    /// no longer here. `checksum` is the checksum of the value as a document prints it. These
    /// values are not kept for this user when their unsent records go into the trash. `is_taken`:
    /// this user had deleted the record that had the value.
    static let wordsOfOthers = """
        CREATE TABLE words_of_others (
            record_id INTEGER NOT NULL,
            field BLOB NOT NULL,
            checksum INTEGER NOT NULL,
            is_taken INTEGER NOT NULL,
            PRIMARY KEY (record_id, field, checksum)
        ) WITHOUT ROWID;
        """
}
