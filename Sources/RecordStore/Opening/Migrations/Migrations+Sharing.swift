extension Migrations {
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
