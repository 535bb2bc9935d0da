import Foundation
import RecordModel
import RecordStore
import Testing

func overwrite(_ path: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
}

@Suite struct SearchTests {
    @Test("a search finds the words of saved texts, whatever the case and the accents")
    func words() throws {
        let fixture = try StoreFixture()
        func search(_ words: String) throws -> [String] {
            try fixture.store.index.search(fixture.zone.id, words: words).map(\.stem.description)
        }
        let id = try fixture.save("a", #"{"t":"Crème brûlée","x":{"deep":["caramel"]}}"#).id
        try fixture.save("b", #"{"t":"soup","u":"creme fraiche"}"#, type: fixture.task)
        #expect(try Set(search("CREME")) == ["a", "b"])
        #expect(try search("creme caramel") == ["a"])
        #expect(try search("crem").isEmpty)
        #expect(try search("").isEmpty)
        #expect(try search("t").isEmpty)
        for odd in ["\"", "a\"b OR", "NOT", "creme*", "t:creme", "(", "-"] {
            _ = try search(odd)
        }
        try fixture.save("a", #"{"t":"pie"}"#)
        #expect(try search("creme") == ["b"])
        #expect(try search("pie") == ["a"])
        try fixture.beginDelete(id)
        #expect(try search("pie").isEmpty)
        try fixture.save("a", #"{"t":"pie"}"#)
        #expect(try search("pie") == ["a"])
        try fixture.delete(id)
        #expect(try search("pie").isEmpty)
        try fixture.expectSound()
    }

    @Test("a word with signs in it is found as it stands there, and signs alone are no word")
    func phrases() throws {
        let fixture = try StoreFixture()
        try fixture.save("together", #"{"t":"a tea-time at four, Ο'Neill"}"#)
        try fixture.save("apart", #"{"t":"time for tea"}"#)
        try fixture.save("fields", #"{"t":"tea","u":"time"}"#)
        for _ in 0..<2 {
            for (words, stems) in [
                ("tea-time", ["together"]), ("time-tea", []), ("TEA/TIME", ["together"]),
                ("time tea", ["apart", "fields", "together"]),
                ("tea -", ["apart", "fields", "together"]),
                ("tea-time four", ["together"]), ("tea-time for", []), ("-", []),
                ("ο'neill", ["together"]),
                ("for-tea", ["apart"]),
            ] {
                let found = try fixture.store.index.search(fixture.zone.id, words: words)
                #expect(found.map(\.stem.description).sorted() == stems, "\(words)")
                for stem in ["together", "apart", "fields"] {
                    let hit = try fixture.store.index.searchHit(
                        fixture.zone.id, words: words, .named(Stem(stem)))
                    #expect((hit != nil) == stems.contains(stem), "\(words) in \(stem)")
                }
            }
        }
    }

    @Test(
        "the best match comes first, and of very many the shortest; words with signs are still checked"
    )
    func order() throws {
        let fixture = try StoreFixture()
        try fixture.save("seldom", #"{"t":"tea and a good many other words beside that one"}"#)
        try fixture.save("often", #"{"t":"tea tea tea and the words that stand beside them here"}"#)
        func search(_ words: String) throws -> [String] {
            try fixture.store.index.search(fixture.zone.id, words: words).map(\.stem.description)
        }
        #expect(try search("tea") == ["often", "seldom"])
        try fixture.write { transaction throws(RecordError) in
            for number in 0..<1500 {
                let text = number % 3 == 0 ? "time tea" : "tea time"
                _ = try transaction.records.save(
                    text: Array(#"{"t":"\#(text)"}"#.utf8), type: fixture.note,
                    stem: Stem("r\(number)"))
            }
        }
        let found = try search("tea")
        #expect(found.count == 1502)
        #expect(found.suffix(2) == ["seldom", "often"])
        #expect(try search("tea-time").count == 1000)
        #expect(try search("time-tea").count == 500)
    }

    @Test("a reader searches what the writer has indexed")
    func reader() throws {
        let fixture = try StoreFixture()
        try fixture.save("a", #"{"t":"soup"}"#)
        _ = try fixture.store.index.search(fixture.zone.id, words: "soup")
        let reader = try RecordStore.openForReading(directory: fixture.directory)
        #expect(try reader.index.search(fixture.zone.id, words: "soup").map(\.stem) == [Stem("a")])
        try reader.close()
    }

    @Test("a query gives the records that match, in the order asked for")
    func query() throws {
        let fixture = try StoreFixture()
        for number in 1...5 { try fixture.save("r\(number)", #"{"n":\#(number * 7 % 5)}"#) }
        _ = try fixture.draft("draft", "{")
        try fixture.beginDelete(try #require(try fixture.record("r5")).id)
        func query(_ text: String) throws -> [String] {
            let schema = try fixture.store.schema(of: RecordTypeName("Note"))
            let expression = try QueryExpression(parsing: Array(text.utf8), schema: schema)
            return try fixture.store.index.query(fixture.note, expression).map(\.stem.description)
        }
        #expect(try query("n>=2") == ["r1", "r2", "r4"])
        #expect(try query("n>=2,sort:-n") == ["r2", "r4", "r1"])
        #expect(try query("n=9").isEmpty)
    }

    @Test("pages of a listing give each record once while others come and go")
    func pages() throws {
        let fixture = try StoreFixture()
        for number in 0..<50 { try fixture.save("r\(number)", "{}") }
        var seen: [Stem] = []
        var last = RecordID(0)
        while let page = Optional(
            try fixture.store.records(in: fixture.note, after: last, limit: 7)), !page.isEmpty
        {
            seen += page.map(\.stem)
            last = try #require(page.last).id
            try fixture.delete(
                try #require(try fixture.store.record(fixture.note, page[0].stem)).id)
        }
        #expect(seen == (0..<50).map { Stem("r\($0)") })
    }

    @Test("versions and changes are told in order, from any token")
    func history() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#, author: .commandLine).id
        try fixture.save("a", #"{"n":2}"#)
        try fixture.delete(id)
        let versions = try fixture.store.past.history(of: RecordName("a"), in: fixture.zone.id)
        #expect(versions.map(\.kind) == [.created, .updated, .deleted])
        #expect(versions.map(\.author) == [.commandLine, .mount, .mount])
        let changes = try fixture.store.past.changes(after: versions[0].token, limit: 10)
        #expect(changes.map(\.token) == versions.dropFirst().map(\.token))
        #expect(changes[0].text == Array(#"{"n":2}"#.utf8))
        #expect(try fixture.store.past.lastToken() == versions[2].token)
        #expect(fixture.changes().compactMap(\.token) == versions.map(\.token))
        #expect(
            try fixture.store.past.historyNames(in: fixture.zone.id, type: RecordTypeName("Note"))
                == [RecordName("a")])
        let gone = failure {
            try fixture.write(.restore) { transaction throws(RecordError) in
                try transaction.records.restoreVersion(versions[2].token)
            }
        }
        #expect(gone?.code == .notFound)
        let entry = try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.records.restoreVersion(versions[0].token)
        }
        #expect(try fixture.savedText(entry.id) == #"{"n":1}"#)
        #expect(try fixture.kinds("a").last == .restored)
        try fixture.expectSound()
    }
}
