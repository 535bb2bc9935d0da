extension Migrations {
    /// When a large field's file was moved to a name of this machine; the field leaves its record when
    /// the grace is over.
    static let leavingAssets = """
        ALTER TABLE asset ADD COLUMN leaving INTEGER;
        CREATE INDEX asset_leaving ON asset (leaving) WHERE leaving IS NOT NULL;
        """
}
