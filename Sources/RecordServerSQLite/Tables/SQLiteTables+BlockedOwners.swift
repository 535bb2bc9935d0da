extension SQLiteTables {
    /// The owners whose invitations a user does not want to see.
    static let blockedOwners = """
        CREATE TABLE blocked_owners (
            user BLOB NOT NULL,
            owner BLOB NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY (user, owner)
        ) WITHOUT ROWID;
        """
}
