extension SQLiteTables {
    /// The events of accounts. `client` is the address as it is counted, for sign-ins only: only
    /// these make an address known.
    static let accountEvents = """
        CREATE TABLE account_events (
            id INTEGER PRIMARY KEY,
            user BLOB NOT NULL,
            kind BLOB NOT NULL,
            at INTEGER NOT NULL,
            address BLOB NOT NULL,
            client BLOB,
            agent BLOB NOT NULL,
            is_new_place INTEGER NOT NULL
        );
        CREATE INDEX account_events_user ON account_events (user, id);
        CREATE INDEX account_events_client ON account_events (user, client, at)
            WHERE client IS NOT NULL;
        CREATE INDEX account_events_at ON account_events (at);
        """
}
