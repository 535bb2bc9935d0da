extension SQLiteTables {
    /// The former states of records (`FormerRecord`). A row is never changed, and rows are in the
    /// order in which the states ended.
    static let formerRecords = """
        CREATE TABLE former_records (
            id INTEGER PRIMARY KEY,
            zone INTEGER NOT NULL,
            name BLOB NOT NULL,
            position INTEGER NOT NULL,
            replaced INTEGER NOT NULL,
            replaced_by INTEGER NOT NULL,
            replaced_on INTEGER NOT NULL,
            replacing_gesture BLOB,
            is_deletion INTEGER NOT NULL,
            type INTEGER NOT NULL,
            tag INTEGER NOT NULL,
            has_assets INTEGER NOT NULL,
            created INTEGER NOT NULL,
            created_by INTEGER NOT NULL,
            created_on INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            modified_by INTEGER NOT NULL,
            modified_on INTEGER NOT NULL,
            parent BLOB,
            fields BLOB NOT NULL,
            file_text BLOB,
            gesture BLOB
        );
        CREATE INDEX former_records_name ON former_records (zone, name, position);
        CREATE INDEX former_records_position ON former_records (zone, position);
        """
}
