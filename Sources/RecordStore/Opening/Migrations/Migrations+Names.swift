import RecordSQL

extension Migrations {
    /// The time at which a large field's file was moved to a name that exists only on this machine.
    /// The field leaves its record when the grace time is over.
    static let leavingAssets = """
        ALTER TABLE asset ADD COLUMN leaving INTEGER;
        CREATE INDEX asset_leaving ON asset (leaving) WHERE leaving IS NOT NULL;
        """

    /// The new names of renamed records, while their old names wait for the deletion. If an old
    /// name comes back, the record was not renamed.
    static let stepsOfRenames: [Step] = [sql("renames", renames)]

    private static let renames = """
        CREATE TABLE renamed (
            record_id INTEGER PRIMARY KEY,
            zone_id INTEGER NOT NULL,
            name BLOB NOT NULL
        );
        CREATE INDEX renamed_copy ON renamed (zone_id, name);
        CREATE INDEX move_tree ON move (tree);
        CREATE TRIGGER renamed_back AFTER UPDATE OF state ON record
        WHEN old.state = 2 AND new.state != 2 BEGIN
            DELETE FROM renamed WHERE record_id = new.id;
        END;
        CREATE TRIGGER renamed_gone AFTER DELETE ON record BEGIN
            DELETE FROM renamed WHERE record_id = old.id;
        END;
        """
}
