extension Migrations {
    /// A type that the mount has removed while the deletions of its records wait keeps its row until
    /// they are final. Nobody finds it meanwhile.
    static let removedTypes = """
        ALTER TABLE record_type ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
        """

    /// 1 while later times of the directory may be in the memory of the process that writes.
    static let directoryTimes = """
        ALTER TABLE record_type ADD COLUMN is_busy INTEGER NOT NULL DEFAULT 0;
        """
}
