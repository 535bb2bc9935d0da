import RecordModel
import Testing

@Suite struct AuthorNameTests {
    @Test("a name is printed text of at most 64 bytes, and none of the authors that exist")
    func names() throws {
        let good = [
            "a", "Photos 2", "nightly/backup", "Zoë", "日本語", "a!b",
            String(repeating: "x", count: 64),
        ]
        for text in good { #expect(try AuthorName(text).text == text) }
        let bad = [
            "", " a", "a ", "a\n", "a\u{1B}[1m", "!a", "a\u{0}b", "a\u{202E}b", "a\u{2028}b",
            "mount",
            "cli", "import", "sync", "restore", String(repeating: "x", count: 65),
            String(repeating: "ë", count: 33), "a\u{FFFD}",
        ]
        for text in bad {
            let error = #expect(throws: RecordError.self, "\(text)") { try AuthorName(text) }
            #expect(error?.code == .invalidArgument)
        }
    }
}
