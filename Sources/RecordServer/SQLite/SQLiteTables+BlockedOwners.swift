extension SQLiteTables {
    /// Whose invitations a user wants to know nothing of.
    static let blockedOwners = """
        CREATE TABLE blocked_owners (
            user BLOB NOT NULL,
            owner BLOB NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY (user, owner)
        ) WITHOUT ROWID;
        """
}
