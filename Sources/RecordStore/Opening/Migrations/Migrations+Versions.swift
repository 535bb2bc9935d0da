import RecordSQL

extension Migrations {
    /// Stores every text once. `record.version` is the version of history that is the record's
    /// state. `record_text` contains a text only if it is written differently from the version that
    /// has the same values.
    ///
    /// The index of words contains versions and no texts. A version that is not the current one of
    /// a record is skipped.
    static let stepsOfVersions: [Step] = [sql("versions", versions)]

    /// The name that a program has given itself as the author of a change. `batch` is the token of
    /// the first change of the same transaction, NULL for that change itself.
    static let authors = """
        ALTER TABLE history ADD COLUMN program TEXT;
        ALTER TABLE history ADD COLUMN batch INTEGER;
        """

    /// The gestures (`Gesture`). `first_token` is the first token that a change of it can have;
    /// `reverts` is the gesture that it has taken back. `record.gesture` is the gesture of a waiting
    /// deletion.
    static let gestures = """
        CREATE TABLE gesture (
            id INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            author TEXT NOT NULL,
            program TEXT,
            tool TEXT,
            first_token INTEGER NOT NULL,
            reverts INTEGER
        );
        CREATE INDEX gesture_reverts ON gesture (reverts) WHERE reverts IS NOT NULL;
        ALTER TABLE history ADD COLUMN gesture INTEGER;
        ALTER TABLE record ADD COLUMN gesture INTEGER;
        """

    /// The name that a gesture has on all machines, and the author there of one that another machine
    /// has told of.
    static let gestureNames = """
        ALTER TABLE gesture ADD COLUMN name TEXT;
        ALTER TABLE gesture ADD COLUMN origin TEXT;
        CREATE UNIQUE INDEX gesture_name ON gesture (name) WHERE name IS NOT NULL;
        """

    /// The moments that users have named. All that was shown after version `token` is kept.
    static let moments = """
        CREATE TABLE moment (
            name TEXT PRIMARY KEY NOT NULL,
            token INTEGER NOT NULL,
            at INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    /// An undo of thousands of removals, and a purge, look for each record in the trash.
    static let trashNames = "CREATE INDEX trash_name ON trash (zone_id, name)"

    /// The programs that read the history with a name, each with the token up to which it has read,
    /// and the time of its last use.
    static let readers = """
        CREATE TABLE history_reader (
            name TEXT PRIMARY KEY NOT NULL,
            token INTEGER NOT NULL,
            used INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    private static let versions = """
        ALTER TABLE record ADD COLUMN version INTEGER;
        UPDATE record SET version = (
            SELECT token FROM history h
            WHERE h.zone_id = record.zone_id AND h.name = record.name AND h.record_id = record.id
                AND h.kind != 'deleted'
            ORDER BY token DESC LIMIT 1)
        WHERE state != 1;
        DELETE FROM record_text WHERE EXISTS (
            SELECT 1 FROM record r JOIN history h ON h.token = r.version
            WHERE r.id = record_text.record_id
                AND h.text = record_text.text AND h.checksum = record_text.checksum);

        CREATE TRIGGER record_version AFTER UPDATE OF version ON record BEGIN
            DELETE FROM record_text WHERE record_id = new.id;
        END;
        CREATE VIEW saved_text AS
            SELECT r.id AS record_id, coalesce(t.text, h.text) AS text,
                iif(t.text IS NULL, h.checksum, t.checksum) AS checksum
            FROM record r
                LEFT JOIN history h ON h.token = r.version
                LEFT JOIN record_text t ON t.record_id = r.id
            WHERE t.text IS NOT NULL OR h.token IS NOT NULL;

        DROP TABLE record_search;
        CREATE VIRTUAL TABLE record_search USING fts5 (
            text, content = '', tokenize = 'unicode61 remove_diacritics 2');
        UPDATE meta SET value = 0 WHERE key = 'searchToken';
        INSERT OR IGNORE INTO meta (key, value) VALUES ('searchVersions', 0);
        """
}
