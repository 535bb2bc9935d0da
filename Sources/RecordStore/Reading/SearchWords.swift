import RecordModel
import RecordSQL

/// The words that a search asks for. For an index, some words are several tokens in a row
/// (`tea-time`).
struct SearchWords {
    /// The tokenizer of all indexes of words.
    static let tokenizer = "unicode61 remove_diacritics 2"

    /// A separator between two values. For the indexes it is a word that nobody writes, so that a
    /// search for words in a row finds none that are in two values.
    private static let valueEnd = "\n\u{E000}\n"

    /// Returns the texts of a record in the form in which they are indexed.
    static func indexed(_ texts: [Text]) -> [UInt8] {
        Array(texts.map(\.utf8).joined(separator: valueEnd.utf8))
    }

    let text: String
    /// The expression for an index that knows where in a text a token is.
    let phrases: String
    /// The expression for the index of the store, which knows which texts contain a token, but not
    /// where.
    let tokens: String
    /// True when a text that has all tokens may lack a word.
    let hasPhrases: Bool

    /// Reads the words of a search.
    ///
    /// - Returns: nil where there is nothing to search for.
    init?(_ text: String) throws(RecordError) {
        self.text = text
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        let parts = try Self.tokens(of: words)
        // Signs alone are no word for an index.
        guard parts.contains(where: { !$0.isEmpty }) else { return nil }
        phrases = words.map(Self.quoted).joined(separator: " ")
        tokens = parts.joined().map(Self.quoted).joined(separator: " ")
        hasPhrases = parts.contains { $0.count > 1 }
    }

    /// Returns whether the byte is a letter or digit of ASCII.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func quoted(_ word: String) -> String {
        "\"\(word.replacing("\"", with: "\"\""))\""
    }

    /// Returns the tokens of each word, as SQLite finds them.
    private static func tokens(of words: [String]) throws(RecordError) -> [[String]] {
        let isPlain = words.allSatisfy { word in
            word.utf8.allSatisfy(Self.isPlain)
        }
        if isPlain { return words.map { [$0] } }
        return try SQLQueue().use { connection throws(RecordError) in
            try connection.run(
                "CREATE VIRTUAL TABLE word USING fts5 (text, tokenize = '\(tokenizer)')")
            try connection.run(
                "CREATE VIRTUAL TABLE token USING fts5vocab ('word', 'instance')")
            for (number, word) in words.enumerated() {
                try connection.run(
                    "INSERT INTO word (rowid, text) VALUES (?, ?)",
                    [.integer(Int64(number)), .text(word)])
            }
            var tokens = [[String]](repeating: [], count: words.count)
            try connection.each("SELECT doc, term FROM token ORDER BY doc, offset") { row in
                tokens[Int(row.int64(0))].append(row.string(1))
            }
            return tokens
        }
    }
}
