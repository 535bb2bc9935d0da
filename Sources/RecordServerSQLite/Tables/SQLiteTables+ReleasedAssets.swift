extension SQLiteTables {
    /// The time at which a record last gave up an asset, in milliseconds, or 0 for never. The bytes
    /// of the asset are kept for some time, for machines that edited that record and do not have
    /// them.
    static let releasedAssets = """
        ALTER TABLE assets ADD COLUMN released INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX assets_released ON assets (database, uploaded)
            WHERE reference_count = 0 AND released > 0;
        """
}
