extension SQLiteTables {
    /// The times at which participants were invited and accepted, one-time links, the users who ask
    /// for access and the people who are blocked.
    ///
    /// The times of earlier participants are not known. `invited` and `accepted` are milliseconds
    /// since 1970. `kind` is 0 for a user who asks for access, with the time in `at`, and 1 for a
    /// person who is blocked.
    static let accessToShares = """
        ALTER TABLE participants ADD COLUMN invited INTEGER;
        ALTER TABLE participants ADD COLUMN accepted INTEGER;
        ALTER TABLE participants ADD COLUMN is_approved INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE participants ADD COLUMN link BLOB;
        CREATE INDEX participants_link ON participants (link) WHERE link IS NOT NULL;
        ALTER TABLE shares ADD COLUMN denies_requests INTEGER NOT NULL DEFAULT 0;

        CREATE TABLE share_people (
            zone INTEGER NOT NULL,
            share BLOB NOT NULL,
            kind INTEGER NOT NULL,
            place INTEGER NOT NULL,
            user BLOB,
            email_address BLOB,
            phone_number BLOB,
            at INTEGER NOT NULL,
            PRIMARY KEY (zone, share, kind, place)
        ) WITHOUT ROWID;

        -- When a user last asked for access to anything: the same is written whether there was
        -- something to ask for or not, so that an answer takes as long.
        CREATE TABLE access_requests (
            user BLOB PRIMARY KEY NOT NULL,
            at INTEGER NOT NULL
        ) WITHOUT ROWID;

        -- Stays when the share goes, with the names that it had.
        CREATE TABLE share_reports (
            id INTEGER PRIMARY KEY,
            container BLOB NOT NULL,
            environment INTEGER NOT NULL,
            owner BLOB NOT NULL,
            zone BLOB NOT NULL,
            share BLOB NOT NULL,
            short_guid BLOB NOT NULL,
            reporter BLOB NOT NULL,
            at INTEGER NOT NULL,
            text BLOB NOT NULL,
            UNIQUE (short_guid, reporter)
        );
        """

    /// The indexes that find a user's invitations. For participants who have accepted,
    /// `shared_zones` has the shares.
    static let invitations = """
        CREATE INDEX participants_invited_user ON participants (user)
            WHERE status = 'INVITED';
        CREATE INDEX participants_invited_address ON participants (email_address)
            WHERE status = 'INVITED' AND email_address IS NOT NULL;
        CREATE INDEX participants_invited_number ON participants (phone_number)
            WHERE status = 'INVITED' AND phone_number IS NOT NULL;
        """
}
