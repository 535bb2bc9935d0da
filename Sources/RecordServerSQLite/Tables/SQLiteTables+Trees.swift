extension SQLiteTables {
    /// The tables of trees. Records had the name of their share; now they have the number of their
    /// tree, and the tree has the share.
    static let trees = """
        CREATE TABLE trees (
            zone INTEGER NOT NULL,
            number INTEGER NOT NULL,
            top BLOB NOT NULL,
            outer_tree INTEGER,
            share BLOB,
            PRIMARY KEY (zone, number)
        ) WITHOUT ROWID;
        CREATE INDEX trees_share ON trees (zone, share, number) WHERE share IS NOT NULL;
        CREATE INDEX trees_outer ON trees (zone, outer_tree, number)
            WHERE outer_tree IS NOT NULL;

        -- What is left to do on trees that are being made: children after this id.
        CREATE TABLE tree_work (
            zone INTEGER NOT NULL,
            tree INTEGER NOT NULL,
            parent BLOB NOT NULL,
            after INTEGER,
            PRIMARY KEY (zone, tree, parent)
        ) WITHOUT ROWID;

        INSERT INTO trees (zone, number, top, share)
            SELECT zone, random() & 0x7FFFFFFFFFFFFFFF, root, name FROM shares
            WHERE root IS NOT NULL;
        DROP INDEX records_share;
        ALTER TABLE records RENAME COLUMN share TO tree;
        UPDATE records SET tree = (
                SELECT number FROM trees WHERE zone = records.zone AND share = records.tree)
            WHERE tree IS NOT NULL;
        -- By id, not by name: children that came together are stored together.
        DROP INDEX records_parent;
        CREATE INDEX records_parent ON records (zone, parent) WHERE parent IS NOT NULL;
        CREATE INDEX records_tree ON records (zone, tree, position) WHERE tree IS NOT NULL;
        """
}
