import RecordModel
import RecordObjects
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Tags that several machines have made: the one with the lowest name stays, or the lowest UUID where
/// the entity has one.
@Suite("Objects that are the same are merged")
struct DuplicateTests {
    private static func model(_ identity: String?) -> ObjectModel {
        let note = identity.map { [UserInfo(key: ObjectIdentity.key, value: $0)] } ?? []
        return ObjectModel(entities: [
            Entity(
                name: "Tag",
                attributes: [
                    Attribute(name: "name", type: .string), Attribute(name: "uuid", type: .uuid),
                    Attribute(name: "deduplicatedDate", type: .date),
                ],
                relationships: [
                    Relationship(
                        name: "books", destination: "Book", inverse: "tags", isToMany: true)
                ], userInfo: note),
            Entity(
                name: "Book",
                relationships: [
                    Relationship(name: "tags", destination: "Tag", inverse: "books", isToMany: true)
                ]),
        ])
    }

    private final class Shop {
        let fixture: StoreFixture
        private var tags: TypeID?
        private var books: TypeID?

        init(identity: String? = "name") throws {
            fixture = try StoreFixture()
            try attach(identity)
        }

        func attach(_ identity: String?) throws {
            let model = try AttachedModel(
                DuplicateTests.model(identity), attached: fixture.clock.now)
            let zone = fixture.zone.id
            (tags, books) = try fixture.write { transaction throws(RecordError) in
                try transaction.models.attach(model)
                return (
                    try transaction.makeType(zone, RecordTypeName("Tag")).id,
                    try transaction.makeType(zone, RecordTypeName("Book")).id
                )
            }
        }

        func put(_ name: String, _ text: String, isBook: Bool = false) throws {
            try fixture.save(name, text, type: try #require(isBook ? books : tags))
        }

        func receive(_ name: String, _ fields: KeyValuePairs<String, FieldValue>) throws {
            try fixture.upsert(name, fields, type: "Tag")
        }

        func book(_ name: String) throws -> String? {
            try fixture.text(name, type: try #require(books))?.filter { !" \n".contains($0) }
        }

        var names: [String] {
            get throws {
                try fixture.store.records(in: try #require(tags), limit: 100).map {
                    $0.stem.description
                }.sorted()
            }
        }

        func tag(_ name: String) throws -> String? {
            try fixture.text(name, type: try #require(tags))
        }

        /// A download has ended, with news or without.
        func download(hasNews: Bool = false) throws {
            if hasNews { try fixture.store.model.settleLinks(in: fixture.zone.id) }
            if !hasNews { try fixture.store.model.settleDuplicates() }
        }
    }

    @Test("a tag that arrives is merged into a lower one, and removed when the server knows that")
    func merged() throws {
        let shop = try Shop()
        try shop.put("B", #"{"name": "soup"}"#)
        try shop.put("K1", #"{"tags": ["B"]}"#, isBook: true)
        try shop.fixture.sendAll()
        try shop.receive(
            "A", ["CD_entityName": .string("Tag"), "CD_name": .string("soup")])
        #expect(try shop.names == ["A", "B"])
        try shop.download(hasNews: true)
        #expect(try shop.book("K1") == #"{"tags":["A"]}"#)
        #expect(try shop.tag("B")?.contains("deduplicatedDate") == true)
        #expect(try shop.tag("A")?.contains("deduplicatedDate") == false)
        try shop.download()
        try shop.download()
        #expect(try shop.names == ["A", "B"], "the server does not have it yet")
        try shop.fixture.sendAll(tag: "t2")
        try shop.download()
        #expect(try shop.names == ["A", "B"], "something may have been on its way")
        try shop.download()
        #expect(try shop.names == ["A"])
        #expect(try shop.fixture.outbox().map(\.operation) == [.delete])
        let deleted = shop.fixture.changes().last { $0.kind == .deleted }
        #expect(deleted?.program?.text == "deduplication")
        #expect(try shop.fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
    }

    @Test("a relationship that comes late is given on, too, and the duplicate waits again")
    func late() throws {
        let shop = try Shop()
        for name in ["A", "B"] { try shop.put(name, #"{"name": "soup"}"#) }
        try shop.download()
        try shop.fixture.sendAll()
        try shop.download()
        try shop.put("K1", #"{"tags": ["B"]}"#, isBook: true)
        try shop.download()
        #expect(try shop.book("K1") == #"{"tags":["A"]}"#)
        #expect(try shop.names == ["A", "B"])
        try shop.fixture.sendAll(tag: "t2")
        try shop.download()
        try shop.download()
        #expect(try shop.names == ["A"])
    }

    @Test("a tag with another name since then is no duplicate any more")
    func changed() throws {
        let shop = try Shop()
        for name in ["A", "B"] { try shop.put(name, #"{"name": "soup"}"#) }
        try shop.download()
        try shop.put("B", #"{"name": "tea"}"#)
        try shop.fixture.sendAll()
        for _ in 0..<3 { try shop.download() }
        #expect(try shop.names == ["A", "B"])
    }

    @Test("the lowest UUID decides, if the entity has one; a tag without a name is like no other")
    func order() throws {
        let shop = try Shop()
        let uuids = ["A": "F1111111", "B": "01111111", "C": "A1111111"]
        for (name, uuid) in uuids.sorted(by: { $0.key < $1.key }) {
            try shop.put(
                name, #"{"name": "soup", "uuid": "\#(uuid)-1111-1111-1111-111111111111"}"#)
        }
        for name in ["D", "E"] { try shop.put(name, "{}") }
        try shop.download()
        try shop.fixture.sendAll()
        for _ in 0..<2 { try shop.download() }
        #expect(try shop.names == ["B", "D", "E"])
    }

    @Test("a rule for objects that are there already merges them")
    func attachedLater() throws {
        let shop = try Shop(identity: nil)
        for name in ["A", "B"] { try shop.put(name, #"{"name": "soup"}"#) }
        try shop.download()
        try shop.attach("name")
        let model = try #require(shop.fixture.store.model.attached)
        let groups = try shop.fixture.write { transaction throws(RecordError) in
            try transaction.duplicates.groups(by: model)
        }
        #expect(groups.map { $0.objects.map(\.description) } == [["A", "B"]])
        try shop.download()
        try shop.fixture.sendAll()
        for _ in 0..<2 { try shop.download() }
        #expect(try shop.names == ["A"])
        #expect(throws: RecordError.self) { try shop.attach("nmae") }
    }
}
