import RecordModel
import RecordStore
import RecordStoreSync
import Testing

/// Texts that leave lists out, and removals that cross the loss of a key.
extension ObjectLinkTests {
    @Test("a list of a new object shows the keys that were there before it")
    func keysBefore() throws {
        let shop = try Shop()
        try shop.put("Book/B1", #"{"shelf": "S1"}"#)
        try shop.put("Shelf/S1", #"{"name": "Top"}"#)
        #expect(try shop.text("Shelf/S1") == #"{"name":"Top","books":["B1"]}"#)
        try shop.put("Shelf/S1", #"{"name": "Low", "books": []}"#)
        #expect(try shop.text("Book/B1") == "{}")
        // A text without objects stays as it is written.
        try shop.put("Shelf/S2", "{}")
        #expect(try shop.text("Shelf/S2") == "{}")
    }

    private func shopOfTwo() throws -> Shop {
        let shop = try Shop()
        try shop.receive("Shelf/S1", ["CD_entityName": .string("Shelf")])
        try shop.receive(
            "Book/B1",
            [
                "CD_entityName": .string("Book"), "CD_title": .string("Soup"),
                "CD_shelf": .string("S1"),
            ])
        return shop
    }

    @Test("an object that was removed does not come back for a key that was lost with its target")
    func lostKeyElsewhere() throws {
        let shop = try shopOfTwo()
        try shop.delete("Shelf/S1")
        try shop.delete("Book/B1")
        // The other machine has heard of the first removal, and not yet of the second.
        try shop.receive(
            "Book/B1", ["CD_entityName": .string("Book"), "CD_title": .string("Soup")], tag: "r2")
        #expect(try shop.text("Book/B1") == nil)
        #expect(try shop.fixture.pending().contains("B1 delete"))
        // An edit by somebody brings it back.
        try shop.receive(
            "Book/B1", ["CD_entityName": .string("Book"), "CD_title": .string("Stew")], tag: "r3")
        #expect(try shop.text("Book/B1")?.contains("Stew") == true)
    }

    @Test("a removal that is not final yet goes on over the loss of a key")
    func lostKeyOfWaiting() throws {
        let shop = try shopOfTwo()
        try shop.delete("Shelf/S1")
        let book = try #require(try shop.fixture.record("B1", type: #require(shop.types["Book"])))
        try shop.fixture.write { transaction throws(RecordError) in
            try transaction.records.beginDelete(book.id)
        }
        try shop.receive(
            "Book/B1", ["CD_entityName": .string("Book"), "CD_title": .string("Soup")], tag: "r2")
        #expect(try shop.fixture.store.record(book.id)?.state == .waitingDelete)
        _ = try shop.fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        #expect(try shop.text("Book/B1") == nil)
        #expect(try shop.fixture.pending().contains("B1 delete"))
    }

    @Test("a partner whose key was cleared does not bring an object back either")
    func lostPartner() throws {
        let shop = try Shop()
        try shop.receive(
            "Book/B1", ["CD_entityName": .string("Book"), "CD_cover": .string("C1")])
        try shop.receive(
            "Cover/C1", ["CD_entityName": .string("Cover"), "CD_book": .string("B1")])
        try shop.delete("Book/B1")
        #expect(try shop.text("Cover/C1") == "{}")
        // The other machine has heard of the cover alone.
        try shop.receive("Book/B1", ["CD_entityName": .string("Book")], tag: "r2")
        #expect(try shop.text("Book/B1") == nil)
        #expect(try shop.fixture.pending().contains("B1 delete"))
    }

    @Test("a key that this machine has cleared itself does not bring back what others have removed")
    func lostKeyHere() throws {
        let shop = try shopOfTwo()
        try shop.fixture.remoteDelete("S1")
        try shop.settle()
        #expect(try shop.fixture.pending() == ["B1 update"])
        try shop.fixture.remoteDelete("B1")
        #expect(try shop.text("Book/B1") == nil)
        #expect(try shop.fixture.pending() == [])
    }

    @Test("an edit beside the lost key, or of a key to what is there, wins against a removal")
    func editBesideLostKey() throws {
        let shop = try shopOfTwo()
        try shop.fixture.remoteDelete("S1")
        try shop.settle()
        try shop.put("Book/B1", #"{"title": "Stew"}"#)
        try shop.fixture.remoteDelete("B1")
        #expect(try shop.text("Book/B1") == #"{"title":"Stew"}"#)

        let other = try shopOfTwo()
        try other.put("Book/B1", #"{"title": "Soup"}"#)
        try other.fixture.remoteDelete("B1")
        #expect(try other.text("Book/B1") == #"{"title":"Soup"}"#)
    }
}
