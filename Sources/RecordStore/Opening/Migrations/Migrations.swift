import RecordModel
import RecordSQL

/// The schema of store.sqlite, version by version. A published version never changes.
enum Migrations {
    /// All steps until now in one transaction: one commit, and one check of the references.
    static let all = SQLMigrations(
        lists.map { name, steps in
            SQLMigrations.Migration(name, replacing: Set(steps.map(\.name))) {
                (connection, applied) throws(RecordError) in
                for step in steps where !applied.contains(step.name) { try step.run(connection) }
            }
        })

    private static let lists = [
        ("2026-11", steps), ("2026-11-25", stepsOfSharing), ("2026-11-25 moves", stepsOfMoves),
        ("2026-11-25 permissions", stepsOfPermissions),
        ("2026-11-26 change times", stepsOfChangeTimes),
        ("2026-11-26 names", stepsOfNames),
        ("2026-11-26 stems", stepsOfStems), ("2026-11-26 renames", stepsOfRenames),
        ("2026-11-26 stamps", stepsOfStamps),
        ("2026-11-26 query index", [sql("query index", queryIndex)]),
        ("2026-11-26 sharing", stepsOfWords), ("2026-11-26 versions", stepsOfVersions),
        ("2026-11-27 follows", stepsOfFollows),
        ("2026-11-27 word places", stepsOfWordPlaces),
        ("2026-11-28 passed over types", [sql("passed over types", passedOverTypes)]),
        ("2026-11-28 removed types", [sql("removed types", removedTypes)]),
        ("2026-11-28 directory times", [sql("directory times", directoryTimes)]),
        ("2026-11-29 models", [sql("models", models)]),
        ("2026-11-29 running events", [sql("running events", runningEvents)]),
        ("2026-11-29 authors", [sql("authors", authors)]),
        ("2026-11-29 readers", [sql("readers", readers)]),
        ("2026-11-29 largest version", [sql("largest version", largestVersion)]),
        ("2026-11-29 loose links", [sql("loose links", looseLinks)]),
        ("2026-11-29 duplicates", [sql("duplicates", duplicates)]),
        ("2026-11-29 due lists", [sql("due lists", dueLists)]),
        ("2026-11-30 gestures", [sql("gestures", gestures)]),
        ("2026-11-30 moments", [sql("moments", moments)]),
        ("2026-11-30 trash names", [sql("trash names", trashNames)]),
        ("2026-11-30 gesture names", [sql("gesture names", gestureNames)]),
    ]

    typealias Step = (
        name: String, run: @Sendable (SQLConnection) throws(RecordError) -> Void
    )

    /// Returns a step that runs statements.
    static func sql(_ name: String, _ statements: String) -> Step {
        (name, { (connection) throws(RecordError) in try connection.execute(statements) })
    }

    /// The steps that bring a store of each earlier version to this one, oldest first.
    private static let steps: [Step] = [
        sql("v1", version1),
        sql("past types", pastTypes),
        (
            "checksums",
            { (connection) throws(RecordError) in
                try connection.execute(checksums)
                for table in texts where tables.contains(table.table) {
                    try addChecksums(connection, table)
                }
            }
        ),
        sql("sent versions", sentVersions),
        sql("feed tokens", feedTokens),
        sql("feed passes", feedPasses),
        sql("conflicts", conflicts),
        sql("conflict names", conflictNames),
        sql("sent requests", sentRequests),
        sql("restore points", restorePoints),
        sql("texts of the server", textsOfServer),
        sql("pins", pins),
        sql("sync events", syncEvents),
        sql("passed over", passedOver),
        sql("shares", shares),
    ]

    /// The steps that were added after these.
    private static let stepsOfSharing: [Step] = [
        // Stores that were made in between have had the first list without these.
        (
            "tables of sharing",
            { (connection) throws(RecordError) in
                for table in [passedOver, shares] {
                    try connection.execute(
                        table.replacing("CREATE TABLE", with: "CREATE TABLE IF NOT EXISTS"))
                }
            }
        ),
        sql("users of zones", usersOfZones),
        sql("times of shares", timesOfShares),
        sql("own trash", ownTrash),
    ]

    /// The steps that were added after these.
    private static let stepsOfMoves: [Step] = [
        sql("moves", moves),
        sql("ending shares", endingShares),
    ]

    /// The steps that were added after these.
    private static let stepsOfPermissions: [Step] = [
        sql("mixed permissions", mixedPermissions)
    ]

    /// The steps that were added after these.
    private static let stepsOfChangeTimes: [Step] = [
        sql("change times", changeTimes)
    ]

    /// The steps that were added after these.
    private static let stepsOfNames: [Step] = [
        sql("leaving assets", leavingAssets)
    ]

    private static let stepsOfStamps: [Step] = [
        sql("heard stamps", heardStamps),
        sql("missing bytes", missingBytes),
    ]

    /// The steps that were added after these.
    private static let stepsOfWords: [Step] = [
        sql("words of others", wordsOfOthers)
    ]

    /// The tables of the first version. A store that has lost one of them is not opened.
    static let tables: Set<String> = [
        "meta", "zone", "record_type", "schema_field", "record", "record_text", "base", "draft",
        "asset", "history", "trash", "kept_asset", "outbox", "record_search",
    ]
    static let laterTables: Set<String> = [
        "past_type", "refusal", "loose_asset", "feed_token", "feed_pass", "conflict",
        "conflict_text", "sent_request", "pin", "sync_event", "passed_over", "share",
        "move", "renamed", "heard_stamps", "query_index", "query_value", "words_of_others",
        "saved_text", "follow", "object_model", "object_link", "history_reader",
        "object_doubt", "object_move", "object_identity", "object_duplicate",
        "object_list_due", "gesture",
    ]

    /// The columns are the last of their tables and are NULL until the loop after this step fills
    /// them.
    private static let checksums = """
        ALTER TABLE record_text ADD COLUMN checksum INTEGER;
        ALTER TABLE base ADD COLUMN checksum INTEGER;
        ALTER TABLE draft ADD COLUMN checksum INTEGER;
        ALTER TABLE history ADD COLUMN checksum INTEGER;
        ALTER TABLE trash ADD COLUMN checksum INTEGER;
        ALTER TABLE outbox ADD COLUMN base_checksum INTEGER;

        -- Why the last save of a record was refused, until a good one changes the record: longer
        -- than its draft, which an editor drops when it puts its backup back.
        CREATE TABLE refusal (
            record_id INTEGER PRIMARY KEY REFERENCES record (id),
            code TEXT NOT NULL,
            message TEXT NOT NULL,
            line INTEGER,
            text_column INTEGER,
            text_offset INTEGER,
            since INTEGER NOT NULL
        );
        INSERT INTO refusal
            SELECT record_id, code, message, line, text_column, text_offset, since FROM draft;

        -- Asset files that no row may refer to any more, or not yet. Collection looks at these and
        -- at no others: a file that this database has never known is not its to remove.
        CREATE TABLE loose_asset (hash TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID;
        CREATE TRIGGER asset_removed AFTER DELETE ON asset WHEN old.hash IS NOT NULL BEGIN
            INSERT INTO loose_asset SELECT old.hash
                WHERE NOT EXISTS (SELECT 1 FROM loose_asset WHERE hash = old.hash);
        END;
        CREATE TRIGGER asset_changed AFTER UPDATE OF hash ON asset
        WHEN old.hash IS NOT NULL AND old.hash IS NOT new.hash BEGIN
            INSERT INTO loose_asset SELECT old.hash
                WHERE NOT EXISTS (SELECT 1 FROM loose_asset WHERE hash = old.hash);
        END;
        CREATE TRIGGER kept_asset_removed AFTER DELETE ON kept_asset BEGIN
            INSERT INTO loose_asset SELECT old.hash
                WHERE NOT EXISTS (SELECT 1 FROM loose_asset WHERE hash = old.hash);
        END;
        """

    /// The tables of the first version. Names are BLOBs, because SQLite then compares them as
    /// bytes.
    ///
    /// `record` has no text, so that its rows stay small and a listing of a million is quick.
    private static let version1 = """
        CREATE TABLE meta (
            key TEXT PRIMARY KEY NOT NULL,
            value
        ) WITHOUT ROWID;
        INSERT INTO meta VALUES ('nextRecord', 1), ('opens', 0), ('searchToken', 0),
            ('nextBatch', 1);

        CREATE TABLE zone (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            database INTEGER NOT NULL,
            owner BLOB NOT NULL,
            name BLOB NOT NULL,
            permission INTEGER NOT NULL DEFAULT 0,
            mapping TEXT NOT NULL DEFAULT 'plain',
            created INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            removed INTEGER NOT NULL DEFAULT 0,
            UNIQUE (database, owner, name)
        );

        CREATE TABLE record_type (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            zone_id INTEGER NOT NULL REFERENCES zone (id),
            name BLOB NOT NULL,
            created INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            UNIQUE (zone_id, name)
        );

        CREATE TABLE schema_field (
            type BLOB NOT NULL,
            position INTEGER NOT NULL,
            field BLOB NOT NULL,
            field_type TEXT NOT NULL,
            flags INTEGER NOT NULL DEFAULT 7,
            PRIMARY KEY (type, position),
            UNIQUE (type, field)
        ) WITHOUT ROWID;

        -- name is NULL while nothing was saved (state 1).
        CREATE TABLE record (
            id INTEGER PRIMARY KEY,
            zone_id INTEGER NOT NULL REFERENCES zone (id),
            type_id INTEGER NOT NULL REFERENCES record_type (id),
            stem BLOB NOT NULL,
            state INTEGER NOT NULL,
            flags INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            created INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            name BLOB,
            created_by TEXT NOT NULL,
            changed INTEGER NOT NULL,
            changed_by TEXT NOT NULL,
            waiting_since INTEGER
        );
        CREATE UNIQUE INDEX record_stem ON record (type_id, stem);
        CREATE UNIQUE INDEX record_name ON record (zone_id, name) WHERE name IS NOT NULL;
        CREATE INDEX record_type_id ON record (type_id);
        CREATE INDEX record_waiting ON record (waiting_since) WHERE waiting_since IS NOT NULL;

        CREATE TABLE record_text (
            record_id INTEGER PRIMARY KEY REFERENCES record (id),
            text BLOB NOT NULL
        );

        CREATE TABLE base (
            record_id INTEGER PRIMARY KEY REFERENCES record (id),
            change_tag TEXT NOT NULL,
            text BLOB NOT NULL
        );

        CREATE TABLE draft (
            record_id INTEGER PRIMARY KEY REFERENCES record (id),
            text BLOB NOT NULL,
            code TEXT NOT NULL,
            message TEXT NOT NULL,
            line INTEGER,
            text_column INTEGER,
            text_offset INTEGER,
            since INTEGER NOT NULL
        );

        -- idx is -1 for a field that is no list; hash is NULL while the bytes never came.
        CREATE TABLE asset (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            record_id INTEGER NOT NULL REFERENCES record (id),
            type_id INTEGER NOT NULL REFERENCES record_type (id),
            field BLOB NOT NULL,
            idx INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            hash TEXT,
            size INTEGER NOT NULL,
            ext BLOB NOT NULL,
            downloaded INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            UNIQUE (record_id, field, idx)
        );
        CREATE INDEX asset_type ON asset (type_id);
        CREATE INDEX asset_hash ON asset (hash) WHERE hash IS NOT NULL;

        -- Without AUTOINCREMENT, which costs every save one more page: the newest row stays, so
        -- that no token is given twice.
        CREATE TABLE history (
            token INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            author TEXT NOT NULL,
            kind TEXT NOT NULL,
            zone_id INTEGER NOT NULL REFERENCES zone (id),
            name BLOB NOT NULL,
            type BLOB NOT NULL,
            record_id INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            fields BLOB NOT NULL,
            text BLOB NOT NULL
        );
        CREATE INDEX history_name ON history (zone_id, name);

        CREATE TABLE trash (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            zone_id INTEGER NOT NULL REFERENCES zone (id),
            type BLOB NOT NULL,
            name BLOB NOT NULL,
            stem BLOB NOT NULL,
            text BLOB NOT NULL,
            created INTEGER NOT NULL,
            created_by TEXT NOT NULL,
            deleted INTEGER NOT NULL,
            author TEXT NOT NULL
        );
        CREATE INDEX trash_type ON trash (zone_id, type);

        -- Asset files that history (holder 0) and trash (holder 1) refer to; downloaded is whether
        -- the bytes were here then, and so have to be here now.
        CREATE TABLE kept_asset (
            holder INTEGER NOT NULL,
            holder_id INTEGER NOT NULL,
            field BLOB NOT NULL,
            idx INTEGER NOT NULL,
            hash TEXT NOT NULL,
            size INTEGER NOT NULL,
            ext BLOB NOT NULL,
            downloaded INTEGER NOT NULL,
            PRIMARY KEY (holder, holder_id, field, idx)
        ) WITHOUT ROWID;
        CREATE INDEX kept_asset_hash ON kept_asset (hash);

        -- batch is 0 while nobody sends the change; one that is sent keeps its row, and so its id,
        -- until it is answered. base_* are of a delete, whose record is gone.
        CREATE TABLE outbox (
            id INTEGER PRIMARY KEY,
            zone_id INTEGER NOT NULL REFERENCES zone (id),
            name BLOB NOT NULL,
            generation INTEGER NOT NULL,
            batch INTEGER NOT NULL DEFAULT 0,
            record_id INTEGER NOT NULL,
            operation INTEGER NOT NULL,
            type BLOB NOT NULL,
            first_at INTEGER NOT NULL,
            last_at INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            error TEXT,
            waits_for_asset INTEGER NOT NULL DEFAULT 0,
            base_tag TEXT,
            base_text BLOB,
            UNIQUE (zone_id, name, generation, batch)
        );

        CREATE VIRTUAL TABLE record_search USING fts5 (
            text, tokenize = 'unicode61 remove_diacritics 2');
        """

    /// The names of types that a zone no longer has, for the trash and the history that they left,
    /// and an index by which one deleted record is found.
    private static let pastTypes = """
        CREATE TABLE past_type (
            zone_id INTEGER NOT NULL REFERENCES zone (id),
            name BLOB NOT NULL,
            PRIMARY KEY (zone_id, name)
        ) WITHOUT ROWID;
        INSERT INTO past_type
            SELECT zone_id, type FROM history UNION SELECT zone_id, type FROM trash
            EXCEPT SELECT zone_id, name FROM record_type;

        DROP INDEX trash_type;
        CREATE INDEX trash_stem ON trash (zone_id, type, stem);
        """
}
