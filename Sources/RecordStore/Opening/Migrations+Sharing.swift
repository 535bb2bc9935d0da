extension Migrations {
    /// Values of unsent records that others have written, as far as what they were taken from is here no
    /// longer: `checksum` is that of the value as a document prints it. They are not kept for this user
    /// when what he has not sent goes into the trash. `is_taken`: he had deleted the record that had it.
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
