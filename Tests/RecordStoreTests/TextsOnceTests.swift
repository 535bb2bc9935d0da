import Foundation
import RecordModel
import RecordStore
import Testing

@Suite("Each text is stored once") struct TextsOnceTests {
    /// How often a text stands in the files of a store.
    private func count(_ text: String, in fixture: StoreFixture) throws -> Int {
        try fixture.store.close()
        let data = try Data(contentsOf: URL(filePath: fixture.directory + "/store.sqlite"))
        var (count, rest) = (0, data[...])
        while let place = rest.firstRange(of: Data(text.utf8)) {
            count += 1
            rest = rest[place.upperBound...]
        }
        return count
    }

    @Test("that of a record, whatever asks for it, and whatever the server has of it")
    func record() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"title":"leek and potato soup"}"#).id
        #expect(try fixture.store.index.search(fixture.zone.id, words: "potato").map(\.id) == [id])
        try fixture.complete(try #require(try fixture.claim().first))
        #expect(try fixture.savedText(id) == #"{"title":"leek and potato soup"}"#)
        #expect(try count("leek and potato", in: fixture) == 1)
    }

    @Test("but for one that is written otherwise than the version whose values it has")
    func otherSpelling() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"title":"leek and potato soup"}"#).id
        let spaced = #"{ "title": "leek and potato soup" }"#
        #expect(try fixture.save("a", spaced).outcome == .unchanged)
        #expect(try fixture.savedText(id) == spaced)
        #expect(
            try fixture.store.text(of: id).map { String(decoding: $0, as: UTF8.self) } == spaced)
        try fixture.expectSound()
        try fixture.save("a", #"{"title":"onion soup"}"#)
        #expect(try fixture.savedText(id) == #"{"title":"onion soup"}"#)
        try fixture.expectSound()
        #expect(try count(spaced, in: fixture) == 0)
    }

    @Test("and is found by its words as it is now, and not as it was")
    func words() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"title":"leek"}"#).id
        let gone = try fixture.save("b", #"{"title":"leek"}"#).id
        func found(_ words: String) throws -> [RecordID] {
            try fixture.store.index.search(fixture.zone.id, words: words).map(\.id)
        }
        #expect(try found("leek") == [id, gone])
        try fixture.save("a", #"{"title":"onion"}"#)
        try fixture.beginDelete(gone)
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        #expect(try found("leek") == [])
        #expect(try found("onion") == [id])
        try fixture.save("a", #"{ "title" : "onion" }"#)
        #expect(try found("onion") == [id])
    }
}
