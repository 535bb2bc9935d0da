extension SQLiteTables {
    /// The places where tombstones said that their records had gone, for names that have records
    /// again.
    static let departures = """
        CREATE TABLE departures (
            zone INTEGER NOT NULL,
            name BLOB NOT NULL,
            position INTEGER NOT NULL,
            target BLOB NOT NULL,
            PRIMARY KEY (zone, name, position)
        ) WITHOUT ROWID;
        CREATE INDEX departures_position ON departures (zone, position);
        """
}
