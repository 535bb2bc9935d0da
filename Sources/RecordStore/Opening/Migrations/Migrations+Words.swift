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
}
