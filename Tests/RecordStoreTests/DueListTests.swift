import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// The lists of objects while a download brings their members, page by page.
@Suite struct DueListTests {
    private let shop: ObjectLinkTests.Shop

    init() throws {
        shop = try ObjectLinkTests.Shop()
        try shop.put("Shelf/S1", #"{"name": "Top"}"#)
        try shop.put("Book/B1", #"{"shelf": "S1"}"#)
    }

    private func download(_ books: [String], token: String) throws {
        let changes = books.map { name in
            RemoteChange(
                type: RecordTypeName("Book"), name: RecordName(name),
                operation: .upsert(
                    [RecordField(name: FieldName("CD_shelf"), value: .string("S1"))], parent: nil),
                changeTag: "r1", modifiedBy: "_other")
        }
        try shop.fixture.apply(shop.fixture.page(changes, token: token))
    }

    @Test("the end of a download writes them once, and they have all that has come")
    func end() throws {
        try download(["B2"], token: "1")
        try download(["B3"], token: "2")
        #expect(try shop.text("Shelf/S1") == #"{"name":"Top","books":["B1"]}"#)
        let before = try #require(shop.fixture.store.commits)
        try shop.settle()
        #expect(try shop.text("Shelf/S1") == #"{"name":"Top","books":["B1","B2","B3"]}"#)
        #expect(shop.fixture.store.commits == before + 1)
        try shop.settle()
        #expect(shop.fixture.store.commits == before + 1)
    }

    @Test("a save before that end removes nothing that its writer could not read")
    func saved() throws {
        try download(["B2", "B3"], token: "1")
        try shop.put("Shelf/S1", #"{"name": "High", "books": ["B1"]}"#)
        #expect(try shop.text("Shelf/S1") == #"{"name":"High","books":["B1","B2","B3"]}"#)
        #expect(try shop.text("Book/B2") == #"{"shelf":"S1"}"#)
        try shop.put("Shelf/S1", #"{"name": "High", "books": ["B2", "B3"]}"#)
        try shop.settle()
        #expect(try shop.text("Shelf/S1") == #"{"name":"High","books":["B2","B3"]}"#)
        #expect(try shop.text("Book/B1") == "{}")
    }

    @Test("a kill in a download leaves them to the next one")
    func killed() throws {
        try download(["B2"], token: "1")
        try shop.fixture.reopen()
        try shop.settle()
        #expect(try shop.text("Shelf/S1") == #"{"name":"Top","books":["B1","B2"]}"#)
    }

    @Test("an object that is renamed or removed before that end takes its members along, or none")
    func gone() throws {
        try download(["B2"], token: "1")
        try shop.rename("Shelf/S1", to: "S2")
        try shop.settle()
        #expect(try shop.text("Shelf/S2") == #"{"name":"Top","books":["B1","B2"]}"#)
        #expect(try shop.text("Book/B2") == #"{"shelf":"S2"}"#)
        try download(["B3"], token: "2")
        try shop.settle()
        // The server still has the shelf under its former name.
        #expect(try shop.text("Book/B3") == #"{"shelf":"S2"}"#)
    }
}
