import RecordModel
import RecordObjects
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// A store with the records that Core Data makes, before, while and after a model is attached.
@Suite("Attaching a model to a store")
struct ModelAttachingTests {
    private static let model = ObjectModel(
        entities: [
            Entity(
                name: "Article",
                attributes: [
                    Attribute(name: "title", type: .string),
                    Attribute(name: "isNew", type: .boolean),
                ],
                relationships: [
                    Relationship(name: "shelf", destination: "Shelf", inverse: "articles")
                ]),
            Entity(
                name: "Book", parent: "Article",
                attributes: [Attribute(name: "pages", type: .integer32)]
            ),
            Entity(
                name: "Shelf", attributes: [Attribute(name: "name", type: .string)],
                relationships: [
                    Relationship(
                        name: "articles", destination: "Article", inverse: "shelf", isToMany: true)
                ]),
        ])

    private func attach(_ fixture: StoreFixture) throws {
        let model = try AttachedModel(Self.model, attached: fixture.clock.now)
        try fixture.write { transaction throws(RecordError) in
            try transaction.models.attach(model)
        }
    }

    private func detach(_ fixture: StoreFixture) throws {
        try fixture.write { transaction throws(RecordError) in try transaction.models.detach() }
    }

    /// Records as the server has them: of an entity, of one that inherits, of one that no model has.
    private func fixture() throws -> StoreFixture {
        let fixture = try StoreFixture()
        try fixture.upsert(
            "A1",
            [
                "CD_entityName": .string("Article"), "CD_title": .string("Soup"),
                "CD_isNew": .int64(1),
            ],
            type: "CD_Article")
        try fixture.upsert(
            "B1",
            [
                "CD_entityName": .string("Book"), "CD_title": .string("Bread"),
                "CD_pages": .int64(12), "CD_shelf": .string("S1"), "CD_later": .string("x"),
            ], type: "CD_Article")
        try fixture.upsert(
            "X1", ["CD_entityName": .string("Pen"), "CD_title": .string("Ink")], type: "CD_Article")
        try fixture.upsert(
            "S1", ["CD_entityName": .string("Shelf"), "CD_name": .string("Top")], type: "CD_Shelf")
        try fixture.save("plain", #"{"n": 1}"#)
        return fixture
    }

    private func mark(_ entity: String?) -> ObjectMark {
        ObjectMark(entity: entity.map { .string(Text($0)) })
    }

    /// All records by their places: `Book/B1`.
    private func texts(_ fixture: StoreFixture) throws -> [String: String] {
        var texts: [String: String] = [:]
        for type in try fixture.store.types(in: fixture.zone.id) {
            for stem in ["A1", "B1", "X1", "S1", "N1", "plain"] {
                guard let text = try fixture.text(stem, type: type.id) else { continue }
                texts["\(type.name)/\(stem)"] = text.filter { !" \n".contains($0) }
            }
        }
        return texts
    }

    private func type(_ name: String, _ fixture: StoreFixture) throws -> TypeID {
        try #require(try fixture.store.type(fixture.zone.id, RecordTypeName(name))).id
    }

    private func fields(_ stem: String, _ type: String, _ fixture: StoreFixture) throws
        -> [String: FieldValue]
    {
        let text = try #require(try fixture.text(stem, type: self.type(type, fixture)))
        let document = try RecordDocument(
            parsing: Array(text.utf8), schema: fixture.store.schema(of: RecordTypeName(type)))
        return Dictionary(
            uniqueKeysWithValues: document.fields.map { ($0.name.description, $0.value) })
    }

    private let raw = [
        "CD_Article/A1": #"{"CD_entityName":"Article","CD_title":"Soup","CD_isNew":1}"#,
        "CD_Article/B1":
            #"{"CD_entityName":"Book","CD_title":"Bread","CD_pages":12,"CD_shelf":"S1","CD_later":"x"}"#,
        "CD_Article/X1": #"{"CD_entityName":"Pen","CD_title":"Ink"}"#,
        "CD_Shelf/S1": #"{"CD_entityName":"Shelf","CD_name":"Top"}"#, "Note/plain": #"{"n":1}"#,
    ]

    private let shown = [
        "Article/A1": #"{"title":"Soup","isNew":true}"#,
        "Book/B1": #"{"title":"Bread","pages":12,"shelf":"S1","CD_later":"x"}"#,
        "CD_Article/X1": #"{"CD_entityName":"Pen","CD_title":"Ink"}"#,
        "Shelf/S1": #"{"name":"Top","articles":["B1"]}"#, "Note/plain": #"{"n":1}"#,
    ]

    @Test("objects show under their entities with the members of the model; nothing is to be sent")
    func attached() throws {
        let fixture = try fixture()
        #expect(try texts(fixture) == raw)
        let outbox = try fixture.outbox().count
        try attach(fixture)
        #expect(try texts(fixture) == shown)
        #expect(try fixture.outbox().count == outbox)
        for (stem, type) in [("A1", "Article"), ("B1", "Book"), ("S1", "Shelf")] {
            let entry = try #require(try fixture.record(stem, type: self.type(type, fixture)))
            #expect(try fixture.store.text(of: entry.id)?.count == Int(entry.size))
        }
        #expect(try fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
        try fixture.reopen()
        #expect(try texts(fixture) == shown)
        let (article, book) = (RecordTypeName("CD_Article"), RecordTypeName("Book"))
        #expect(fixture.store.model.serverType(of: book) == article)
        #expect(fixture.store.model.type(of: article, by: mark("Book")) == book)
        #expect(fixture.store.model.type(of: article, by: mark("Shelf")) == article)
        #expect(fixture.store.model.type(of: book, by: mark(nil)) == nil)
    }

    @Test("detaching shows the records as they were")
    func detached() throws {
        let fixture = try fixture()
        try attach(fixture)
        try detach(fixture)
        // The name of the entity is a member of its own again, behind the others.
        let moved = try texts(fixture).mapValues { $0.sorted() }
        #expect(moved == raw.mapValues { $0.sorted() })
        #expect(try fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
        #expect(throws: RecordError.self) { try detach(fixture) }
    }

    @Test("a save keeps the entity, and makes fields of the members")
    func saved() throws {
        let fixture = try fixture()
        try attach(fixture)
        try fixture.save(
            "B1", #"{"title": "Rye", "isNew": false, "pages": 13}"#, type: type("Book", fixture))
        try fixture.save("N1", #"{"name": "Low"}"#, type: type("Shelf", fixture))
        #expect(
            try fields("B1", "Book", fixture) == [
                "CD_title": .string("Rye"), "CD_isNew": .int64(0), "CD_pages": .int64(13),
                "CD_entityName": .string("Book"),
            ])
        try detach(fixture)
        let texts = try texts(fixture).mapValues { $0.sorted() }
        #expect(texts["CD_Shelf/N1"] == #"{"CD_name":"Low","CD_entityName":"Shelf"}"#.sorted())
        #expect(
            texts["CD_Article/B1"]
                == #"{"CD_title":"Rye","CD_isNew":0,"CD_pages":13,"CD_entityName":"Book"}"#.sorted()
        )
    }

    @Test("what the server tells shows in the members of the model, beside an edit that waits")
    func told() throws {
        let fixture = try fixture()
        try attach(fixture)
        try fixture.save(
            "A1", "{ \"isNew\": true, \"title\": \"Stew\" }", type: type("Article", fixture))
        try fixture.upsert(
            "A1",
            [
                "CD_entityName": .string("Article"), "CD_title": .string("Soup"),
                "CD_isNew": .int64(0),
            ], type: "Article", tag: "r2")
        #expect(
            try fixture.text("A1", type: type("Article", fixture))
                == "{ \"isNew\": false, \"title\": \"Stew\" }")
        try fixture.upsert(
            "N1", ["CD_entityName": .string("Book"), "CD_pages": .int64(1)], type: "Book")
        #expect(try texts(fixture)["Book/N1"] == #"{"pages":1}"#)
    }

    @Test("versions, the trash, conflicts and unsent changes follow their records")
    func kept() throws {
        let fixture = try fixture()
        try fixture.save(
            "B1", #"{"CD_entityName": "Book", "CD_title": "Rye"}"#,
            type: type("CD_Article", fixture))
        try fixture.upsert(
            "B1", ["CD_entityName": .string("Book"), "CD_title": .string("Oats")],
            type: "CD_Article", tag: "r2")
        let shelf = try #require(try fixture.record("S1", type: type("CD_Shelf", fixture)))
        try fixture.delete(shelf.id)
        try attach(fixture)
        let versions = try fixture.store.past.changes(after: 0, limit: 100)
        #expect(
            Set(versions.filter { $0.name == RecordName("B1") }.map(\.type)) == [
                RecordTypeName("Book")
            ])
        #expect(
            Set(versions.filter { $0.name == RecordName("S1") }.map(\.type)) == [
                RecordTypeName("Shelf")
            ])
        #expect(
            Set(try fixture.store.past.trash(in: fixture.zone.id).map(\.type)) == [
                RecordTypeName("Shelf")
            ])
        #expect(
            try fixture.store.syncState.conflicts(in: fixture.zone.id).map(\.type) == [
                RecordTypeName("Book")
            ])
        let claims = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.claimOutbox(in: fixture.zone.id)
        }
        #expect(Set(claims.map(\.row.type.description)) == ["Book", "Shelf", "Note"])
        #expect(
            claims.first { $0.row.type == RecordTypeName("Book") }?.changedFields == [
                FieldName("CD_title")
            ])
        #expect(try fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
    }

    @Test("records that others share for reading show as objects too")
    func readOnly() throws {
        let fixture = try StoreFixture(.shared)
        try fixture.upsert(
            "B1", ["CD_entityName": .string("Book"), "CD_shelf": .string("S1")], type: "CD_Article")
        try fixture.upsert("S1", ["CD_entityName": .string("Shelf")], type: "CD_Shelf")
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.setPermission(.readOnly, of: fixture.zone.id)
        }
        try attach(fixture)
        #expect(try texts(fixture)["Book/B1"] == #"{"shelf":"S1"}"#)
        #expect(try texts(fixture)["Shelf/S1"] == #"{"articles":["B1"]}"#)
        try detach(fixture)
        #expect(try texts(fixture)["CD_Shelf/S1"] == #"{"CD_entityName":"Shelf"}"#)
    }

    @Test("a model is not attached beside plain records with the name of an entity")
    func taken() throws {
        let fixture = try fixture()
        _ = try fixture.write { transaction throws(RecordError) in
            try transaction.makeType(fixture.zone.id, RecordTypeName("Book"))
        }
        try fixture.save("mine", "{}", type: type("Book", fixture))
        do {
            try attach(fixture)
            Issue.record("it is attached")
        } catch let error as RecordError {
            #expect(error.code == .alreadyExists && error.message.contains("type Book"))
        }
        #expect(fixture.store.model.attached == nil)
        #expect(try texts(fixture) == raw)
    }

    @Test("a value of the server that its attribute cannot have is shown")
    func wrongValue() throws {
        let fixture = try fixture()
        try fixture.upsert(
            "A2",
            ["CD_entityName": .string("Article"), "CD_title": .string("a"), "CD_isNew": .int64(7)],
            type: "CD_Article")
        try attach(fixture)
        #expect(
            try fixture.text("A2", type: type("Article", fixture))
                == "{\n  \"title\": \"a\",\n  \"isNew\": 7\n}\n")
        #expect(try fields("A2", "Article", fixture)["CD_isNew"] == .int64(7))
    }

    @Test("another model takes the place of the first")
    func replaced() throws {
        let fixture = try fixture()
        try attach(fixture)
        var wider = Self.model
        wider.entities.append(Entity(name: "Pen", parent: "Article"))
        wider.entities[1].attributes.append(Attribute(name: "later", type: .string))
        let model = try AttachedModel(wider, attached: fixture.clock.now)
        try fixture.write { transaction throws(RecordError) in
            try transaction.models.attach(model)
        }
        let texts = try texts(fixture)
        #expect(texts["Pen/X1"] == #"{"title":"Ink"}"#)
        #expect(texts["Book/B1"] == #"{"title":"Bread","pages":12,"shelf":"S1","later":"x"}"#)
        #expect(texts["CD_Article/X1"] == nil)
    }
}
