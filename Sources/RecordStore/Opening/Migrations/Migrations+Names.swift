extension Migrations {
    /// The time at which a large field's file was moved to a name that exists only on this machine.
    /// The field leaves its record when the grace time is over.
    static let leavingAssets = """
        ALTER TABLE asset ADD COLUMN leaving INTEGER;
        CREATE INDEX asset_leaving ON asset (leaving) WHERE leaving IS NOT NULL;
        """
}
