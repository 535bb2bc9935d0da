import RecordSQL

extension Migrations {
    /// The index of words stores which texts contain a word, but neither the positions of words nor
    /// the lengths of texts. It is a third as large, and the store of searched records is not
    /// larger than twice its content. The index is built again.
    static let stepsOfWordPlaces: [Step] = [sql("word places", wordPlaces)]

    private static let wordPlaces = """
        DROP TABLE record_search;
        CREATE VIRTUAL TABLE record_search USING fts5 (
            text, content = '', detail = 'none', columnsize = 0,
            tokenize = '\(SearchWords.tokenizer)');
        UPDATE meta SET value = 0 WHERE key IN ('searchToken', 'searchVersions');
        """

    /// The fields that have an index for queries, made because somebody asked for it, and the
    /// values in these indexes. The values are hashes, so every record that the index finds is
    /// compared before it is returned.
    ///
    /// `built` is the number of the last record that the making of the index has reached, NULL once
    /// the index is complete. `token` is the version up to which the index contains changes.
    static let queryIndex = """
        CREATE TABLE query_index (
            id INTEGER PRIMARY KEY,
            type BLOB NOT NULL,
            field BLOB NOT NULL,
            token INTEGER NOT NULL,
            built INTEGER,
            UNIQUE (type, field)
        );
        CREATE TABLE query_value (
            index_id INTEGER NOT NULL,
            hash INTEGER NOT NULL,
            record_id INTEGER NOT NULL,
            PRIMARY KEY (index_id, hash, record_id)
        ) WITHOUT ROWID;
        CREATE INDEX query_value_record ON query_value (record_id, index_id);
        """
}
