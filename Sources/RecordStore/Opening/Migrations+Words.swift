import GRDB

extension Migrations {
    /// The index of words knows in which texts a word is, and not where, nor how long they are: it is a third
    /// as large, and the store of searched records not larger than twice what is in them. It is made anew.
    static let stepsOfWordPlaces: [Step] = [("word places", { try $0.execute(sql: wordPlaces) })]

    private static let wordPlaces = """
        DROP TABLE record_search;
        CREATE VIRTUAL TABLE record_search USING fts5 (
            text, content = '', detail = 'none', columnsize = 0,
            tokenize = '\(SearchWords.tokenizer)');
        UPDATE meta SET value = 0 WHERE key IN ('searchToken', 'searchVersions');
        """
}
