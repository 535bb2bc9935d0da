import RecordModel
import RecordObjects
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Objects whose relationships are written from both sides, with the model of a shop: shelves with books,
/// tags of books, a cover for each book, and pages that end with their book.
@Suite("Relationships of objects, from either side")
struct ObjectLinkTests {
    private static func toMany(
        _ name: String, _ destination: String, _ inverse: String,
        _ rule: Relationship.DeleteRule = .nullify
    ) -> Relationship {
        Relationship(
            name: name, destination: destination, inverse: inverse, isToMany: true, deleteRule: rule
        )
    }

    fileprivate static let model = ObjectModel(
        entities: [
            Entity(
                name: "Shelf", attributes: [Attribute(name: "name", type: .string)],
                relationships: [toMany("books", "Book", "shelf")]),
            Entity(
                name: "Book", attributes: [Attribute(name: "title", type: .string)],
                relationships: [
                    Relationship(name: "shelf", destination: "Shelf", inverse: "books"),
                    toMany("tags", "Tag", "books"),
                    Relationship(name: "cover", destination: "Cover", inverse: "book"),
                    toMany("pages", "Page", "book", .cascade),
                ]),
            Entity(name: "Tag", relationships: [toMany("books", "Book", "tags")]),
            Entity(
                name: "Cover",
                relationships: [Relationship(name: "book", destination: "Book", inverse: "cover")]),
            Entity(
                name: "Page",
                relationships: [Relationship(name: "book", destination: "Book", inverse: "pages")]),
        ])

    final class Shop {
        let fixture: StoreFixture
        private(set) var types: [String: TypeID] = [:]

        init(attached: Bool = true) throws {
            fixture = try StoreFixture()
            if attached { try attach() }
        }

        func attach() throws {
            let model = try AttachedModel(ObjectLinkTests.model, attached: fixture.clock.now)
            let zone = fixture.zone.id
            types = try fixture.write { transaction throws(RecordError) in
                try transaction.models.attach(model)
                var types: [String: TypeID] = [:]
                for type in model.mapping.types + [RecordTypeName("CDMR")] {
                    types[type.description] = try transaction.makeType(zone, type).id
                }
                return types
            }
        }

        func put(_ path: String, _ text: String) throws {
            let parts = path.split(separator: "/").map(String.init)
            try fixture.save(parts[1], text, type: #require(types[parts[0]]))
        }

        /// The text without spaces. Nil for an object that is not there.
        func text(_ path: String) throws -> String? {
            let parts = path.split(separator: "/").map(String.init)
            return try fixture.text(parts[1], type: #require(types[parts[0]]))?
                .filter { !" \n".contains($0) }
        }

        func delete(_ path: String) throws {
            let parts = path.split(separator: "/").map(String.init)
            let entry = try #require(try fixture.record(parts[1], type: #require(types[parts[0]])))
            try fixture.delete(entry.id)
        }

        func rename(_ path: String, to name: String) throws {
            let parts = path.split(separator: "/").map(String.init)
            let type = try #require(types[parts[0]])
            let entry = try #require(try fixture.record(parts[1], type: type))
            _ = try fixture.write { transaction throws(RecordError) in
                try transaction.records.rename(entry.id, toType: type, stem: Stem(name))
            }
            _ = try fixture.store.upkeep.finalizeWaitingDeletes(
                olderThan: .zero, author: .mount)
        }

        /// What is done when a download has ended.
        func settle() throws { try fixture.store.model.settleLinks(in: fixture.zone.id) }

        /// The links of many-to-many relationships, as their records say.
        func links() throws -> [String] {
            try fixture.store.records(in: #require(types["CDMR"]), limit: 100).map { entry in
                let text = try #require(try fixture.store.text(of: entry.id))
                let document = try RecordDocument(parsing: text, schema: .empty)
                return document.fields.map { field in
                    if case .string(let text) = field.value { text.description } else { "" }
                }.joined(separator: " ")
            }.sorted()
        }

        /// What the server tells.
        func receive(
            _ path: String, _ fields: KeyValuePairs<String, FieldValue>, tag: String = "r1"
        ) throws {
            let parts = path.split(separator: "/").map(String.init)
            try fixture.upsert(parts[1], fields, type: parts[0], tag: tag)
        }
    }

    @Test("the key of a book and the books of a shelf are one relationship")
    func oneToMany() throws {
        let shop = try Shop()
        try shop.put("Shelf/S1", #"{"name": "Top"}"#)
        try shop.put("Shelf/S2", #"{"name": "Low"}"#)
        try shop.put("Book/B1", #"{"title": "Soup", "shelf": "S1"}"#)
        try shop.put("Book/B2", #"{"shelf": "S1"}"#)
        #expect(try shop.text("Shelf/S1") == #"{"name":"Top","books":["B1","B2"]}"#)
        try shop.put("Shelf/S2", #"{"books": ["B2"], "name": "Low"}"#)
        #expect(try shop.text("Book/B2") == #"{"shelf":"S2"}"#)
        #expect(try shop.text("Shelf/S1") == #"{"name":"Top","books":["B1"]}"#)
        try shop.put("Shelf/S1", #"{"name": "Top", "books": []}"#)
        #expect(try shop.text("Book/B1") == #"{"title":"Soup"}"#)
        #expect(try shop.text("Shelf/S1") == #"{"name":"Top","books":[]}"#)
        try shop.put("Shelf/S2", #"{"name": "Lower"}"#)
        #expect(try shop.text("Book/B2") == #"{"shelf":"S2"}"#, "it was left out, and stays")
        #expect(try shop.text("Shelf/S2") == #"{"name":"Lower"}"#, "bytes stay as written")
        #expect(try shop.fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
    }

    @Test("many-to-many relationships are records of their own, one for each pair")
    func manyToMany() throws {
        let shop = try Shop()
        try shop.put("Tag/T1", "{}")
        try shop.put("Tag/T2", "{}")
        try shop.put("Book/B1", #"{"tags": ["T2", "T1"]}"#)
        #expect(
            try shop.links() == ["Book:Tag B1:T1 tags:books", "Book:Tag B1:T2 tags:books"])
        #expect(try shop.text("Tag/T1") == #"{"books":["B1"]}"#)
        #expect(try shop.text("Book/B1") == #"{"tags":["T2","T1"]}"#)
        try shop.put("Tag/T1", #"{"books": []}"#)
        #expect(try shop.links() == ["Book:Tag B1:T2 tags:books"])
        #expect(try shop.text("Book/B1") == #"{"tags":["T2"]}"#)
        // Written in the other order, and twice.
        for name in ["L1", "L2"] {
            try shop.receive(
                "CDMR/\(name)",
                [
                    "CD_entityNames": .string("Tag:Book"), "CD_recordNames": .string("T1:B1"),
                    "CD_relationships": .string("books:tags"),
                ])
        }
        #expect(try shop.text("Book/B1") == #"{"tags":["T1","T2"]}"#)
        try shop.put("Book/B1", #"{"tags": ["T2"]}"#)
        #expect(try shop.links() == ["Book:Tag B1:T2 tags:books"])
        #expect(try shop.text("Tag/T1") == #"{"books":[]}"#)
    }

    @Test("a link that was waiting is made once, also when the new object says it, too")
    func waitingLink() throws {
        let shop = try Shop()
        try shop.put("Tag/T1", #"{"books": ["B1"]}"#)
        try shop.put("Book/B1", #"{"tags": ["T1"]}"#)
        #expect(try shop.links() == ["Book:Tag B1:T1 tags:books"])
        #expect(try shop.text("Tag/T1") == #"{"books":["B1"]}"#)
        try shop.put("Book/B1", #"{"tags": []}"#)
        #expect(try shop.links() == [])
        #expect(try shop.text("Tag/T1") == #"{"books":[]}"#)
    }

    @Test("a one-to-one relationship is set and cleared on both sides")
    func oneToOne() throws {
        let shop = try Shop()
        for path in ["Cover/C1", "Cover/C2", "Book/B1", "Book/B2"] { try shop.put(path, "{}") }
        try shop.put("Book/B1", #"{"cover": "C1"}"#)
        #expect(try shop.text("Cover/C1") == #"{"book":"B1"}"#)
        try shop.put("Cover/C1", #"{"book": "B2"}"#)
        #expect(try shop.text("Book/B1") == "{}")
        #expect(try shop.text("Book/B2") == #"{"cover":"C1"}"#)
        try shop.put("Book/B2", #"{"cover": "C2"}"#)
        #expect(try shop.text("Cover/C1") == "{}")
        try shop.put("Book/B2", "{}")
        #expect(try shop.text("Cover/C2") == "{}")
    }

    @Test("a new object takes the key that was waiting for it")
    func waitingKey() throws {
        let shop = try Shop()
        try shop.put("Cover/C1", #"{"book": "B1"}"#)
        try shop.put("Cover/C2", #"{"book": "B2"}"#)
        try shop.put("Book/B1", #"{"title": "Soup"}"#)
        #expect(try shop.text("Book/B1") == #"{"title":"Soup","cover":"C1"}"#)
        try shop.receive("Book/B2", ["CD_entityName": .string("Book")])
        #expect(try shop.text("Book/B2") == "{}")
        try shop.settle()
        #expect(try shop.text("Book/B2") == #"{"cover":"C2"}"#)
    }

    @Test("the other side of a one-to-one relationship follows a rename")
    func renamed() throws {
        let shop = try Shop()
        try shop.put("Book/B1", "{}")
        try shop.put("Cover/C1", #"{"book": "B1"}"#)
        try shop.put("Shelf/S1", #"{"books": ["B1", "B2"]}"#)
        try shop.rename("Book/B1", to: "B2")
        #expect(try shop.text("Cover/C1") == #"{"book":"B2"}"#)
        #expect(try shop.text("Book/B2") == #"{"cover":"C1","shelf":"S1"}"#)
        #expect(try shop.text("Shelf/S1") == #"{"books":["B2"]}"#)
        // The name was waited for.
        try shop.put("Shelf/S2", "{}")
        try shop.put("Book/B3", #"{"shelf": "S9"}"#)
        try shop.rename("Shelf/S2", to: "S9")
        #expect(try shop.text("Shelf/S9") == #"{"books":["B3"]}"#)
    }

    @Test("a link that waits for a name is taken out of the object that gets the name by a rename")
    func waitingForRename() throws {
        let shop = try Shop()
        for tag in ["T1", "T3", "T4"] { try shop.put("Tag/\(tag)", "{}") }
        try shop.put("Book/B2", #"{"tags":["T1","T4"]}"#)
        try shop.put("Tag/T1", #"{"books":["B2","B4"]}"#)
        try shop.rename("Book/B2", to: "B4")
        try shop.put("Book/B4", #"{"tags":["T3","T4"]}"#)
        #expect(try shop.text("Book/B4") == #"{"tags":["T3","T4"]}"#)
        #expect(try shop.text("Tag/T1")?.contains("B4") == false)
        #expect(try shop.links().count == 2)
    }

    @Test("what another machine links to an object that was renamed here follows the rename")
    func renamedHere() throws {
        let shop = try Shop()
        try shop.receive("Shelf/S1", ["CD_entityName": .string("Shelf")])
        try shop.rename("Shelf/S1", to: "S2")
        try shop.receive("Book/B1", ["CD_entityName": .string("Book"), "CD_shelf": .string("S1")])
        try shop.settle()
        #expect(try shop.text("Book/B1") == #"{"shelf":"S2"}"#)
        #expect(try shop.text("Shelf/S2") == #"{"books":["B1"]}"#)
    }

    @Test("a side that has lost its partner to another machine's change is cleared")
    func brokenPair() throws {
        let shop = try Shop()
        for name in ["B1", "B2"] {
            try shop.receive("Book/\(name)", ["CD_entityName": .string("Book")])
        }
        try shop.receive("Cover/C1", ["CD_entityName": .string("Cover")])
        try shop.put("Book/B1", #"{"cover": "C1"}"#)
        try shop.fixture.sendAll(tag: "r2")
        try shop.receive(
            "Cover/C1", ["CD_entityName": .string("Cover"), "CD_book": .string("B2")], tag: "r3")
        #expect(try shop.text("Book/B1") == #"{"cover":"C1"}"#)
        try shop.settle()
        #expect(try shop.text("Book/B1") == "{}")
        #expect(try shop.text("Cover/C1") == #"{"book":"B2"}"#)
    }

    @Test("a name that is not there yet waits for its object")
    func waiting() throws {
        let shop = try Shop()
        try shop.put("Shelf/S1", #"{"books": ["B1"]}"#)
        try shop.put("Tag/T1", #"{"books": ["B1"]}"#)
        #expect(try shop.text("Shelf/S1") == #"{"books":["B1"]}"#)
        try shop.put("Book/B1", #"{"title": "Soup"}"#)
        #expect(try shop.text("Book/B1") == #"{"title":"Soup","shelf":"S1","tags":["T1"]}"#)
        #expect(try shop.links() == ["Book:Tag B1:T1 tags:books"])
        try shop.put("Shelf/S1", #"{"books": ["B1", "B2"]}"#)
        try shop.put("Tag/T1", #"{"books": ["B1", "C1"]}"#)
        try shop.receive("Book/B2", ["CD_entityName": .string("Book")])
        try shop.receive("Cover/C1", ["CD_entityName": .string("Cover")])
        try shop.settle()
        #expect(try shop.text("Book/B2") == #"{"shelf":"S1"}"#)
        #expect(try shop.text("Tag/T1") == #"{"books":["B1"]}"#, "a cover is no book")
        try shop.settle()
        #expect(try shop.fixture.outbox().contains { $0.name == RecordName("B2") })
    }

    @Test("a deletion clears the keys of others, and ends what is part of the object")
    func deletion() throws {
        let shop = try Shop()
        for path in ["Shelf/S1", "Tag/T1", "Cover/C1", "Page/P1", "Page/P2"] {
            try shop.put(path, "{}")
        }
        try shop.put(
            "Book/B1", #"{"shelf": "S1", "tags": ["T1"], "cover": "C1", "pages": ["P1", "P2"]}"#)
        try shop.delete("Book/B1")
        #expect(try shop.text("Shelf/S1") == #"{"books":[]}"#)
        #expect(try shop.text("Tag/T1") == #"{"books":[]}"#)
        #expect(try shop.text("Cover/C1") == "{}")
        #expect(try shop.text("Page/P1") == nil && shop.text("Page/P2") == nil)
        #expect(try shop.links() == [])
        try shop.put("Book/B2", #"{"shelf": "S1"}"#)
        try shop.delete("Shelf/S1")
        #expect(try shop.text("Book/B2") == "{}")
        #expect(try shop.fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
    }

    @Test("a restored text has the lists of today")
    func restored() throws {
        let shop = try Shop()
        try shop.put("Book/B1", "{}")
        try shop.put("Shelf/S1", #"{"books": ["B1"], "name": "a"}"#)
        try shop.put("Shelf/S1", #"{"books": [], "name": "b"}"#)
        let version = try #require(
            try shop.fixture.store.past.changes(after: 0, limit: 100).first {
                $0.name == RecordName("S1")
            })
        _ = try shop.fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.records.restoreVersion(version.token)
        }
        #expect(try shop.text("Shelf/S1") == #"{"books":[],"name":"a"}"#)
        #expect(try shop.text("Book/B1") == "{}")
    }

    @Test("a move ends nothing")
    func moved() throws {
        let shop = try Shop()
        try shop.put("Page/P1", "{}")
        try shop.put("Book/B1", #"{"pages": ["P1"]}"#)
        let book = try #require(try shop.fixture.record("B1", type: #require(shop.types["Book"])))
        // As the mover of a share does it.
        try shop.fixture.write { transaction throws(RecordError) in
            try transaction.records.finalizeDelete(book.id)
        }
        #expect(try shop.text("Page/P1") == #"{"book":"B1"}"#)
    }

    @Test("keys to what another machine has deleted are cleared when its download has ended")
    func deletedElsewhere() throws {
        let shop = try Shop()
        try shop.receive("Shelf/S1", ["CD_entityName": .string("Shelf")])
        try shop.receive("Book/B1", ["CD_entityName": .string("Book"), "CD_shelf": .string("S1")])
        #expect(try shop.text("Shelf/S1") == #"{"books":["B1"]}"#)
        try shop.fixture.remoteDelete("S1")
        #expect(try shop.text("Book/B1") == #"{"shelf":"S1"}"#)
        #expect(try shop.fixture.outbox().isEmpty)
        try shop.settle()
        #expect(try shop.text("Book/B1") == "{}")
        #expect(try shop.fixture.outbox().map(\.name) == [RecordName("B1")])
        // What was never here may still arrive.
        try shop.receive("Book/B2", ["CD_entityName": .string("Book"), "CD_shelf": .string("S9")])
        try shop.settle()
        #expect(try shop.text("Book/B2") == #"{"shelf":"S9"}"#)
        // What was deleted here, too.
        try shop.put("Tag/T1", "{}")
        try shop.delete("Tag/T1")
        try shop.receive(
            "CDMR/L1",
            [
                "CD_entityNames": .string("Tag:Book"), "CD_recordNames": .string("T1:B1"),
                "CD_relationships": .string("books:tags"),
            ])
        try shop.settle()
        #expect(try shop.links() == [])
    }

    @Test("what the server tells shows in the lists; the lists are never sent")
    func told() throws {
        let shop = try Shop(attached: false)
        try shop.receive(
            "CD_Book/B1", ["CD_entityName": .string("Book"), "CD_shelf": .string("S1")])
        try shop.receive(
            "CD_Shelf/S1", ["CD_entityName": .string("Shelf"), "CD_name": .string("Top")])
        try shop.attach()
        #expect(try shop.text("Shelf/S1") == #"{"name":"Top","books":["B1"]}"#)
        try shop.receive("Book/B2", ["CD_entityName": .string("Book"), "CD_shelf": .string("S1")])
        #expect(try shop.text("Shelf/S1") == #"{"name":"Top","books":["B1","B2"]}"#)
        try shop.receive("Book/B1", ["CD_entityName": .string("Book")], tag: "r2")
        #expect(try shop.text("Shelf/S1") == #"{"name":"Top","books":["B2"]}"#)
        #expect(try shop.fixture.outbox().isEmpty)
        try shop.fixture.write { transaction throws(RecordError) in try transaction.models.detach()
        }
        let shelf = try #require(
            try shop.fixture.store.type(shop.fixture.zone.id, RecordTypeName("CD_Shelf")))
        let text = try shop.fixture.text("S1", type: shelf.id)?.filter { !" \n".contains($0) }
        #expect(text == #"{"CD_name":"Top","CD_entityName":"Shelf"}"#)
    }

    @Test(
        "a text that was begun before others came keeps them, and what it removes itself is removed"
    )
    func merged() throws {
        let shop = try Shop()
        for book in ["B1", "B2"] { try shop.put("Book/\(book)", "{}") }
        try shop.put("Shelf/S1", #"{"books": ["B1", "B2"], "name": "Top"}"#)
        let begun = try #require(try shop.text("Shelf/S1"))
        try shop.receive("Book/B3", ["CD_entityName": .string("Book"), "CD_shelf": .string("S1")])
        try shop.put("Book/B4", "{}")
        let type = try #require(shop.types["Shelf"])
        _ = try shop.fixture.write { transaction throws(RecordError) in
            try transaction.merging.saveMerging(
                text: Array(#"{"books": ["B4", "B1"], "name": "Low"}"#.utf8),
                since: Array(begun.utf8), type: type, stem: Stem("S1"),
                modified: shop.fixture.clock.now)
        }
        #expect(try shop.text("Shelf/S1") == #"{"books":["B1","B3","B4"],"name":"Low"}"#)
        #expect(try shop.text("Book/B2") == "{}")
        #expect(try shop.text("Book/B3") == #"{"shelf":"S1"}"#)
    }

    @Test(
        "a name that the relationship cannot have is refused",
        arguments: [
            ("Shelf/S1", #"{"books": ["T1"]}"#, "takes names of Book"),
            ("Book/B1", #"{"tags": ["S9"]}"#, "takes names of Tag"),
            ("Shelf/S1", #"{"books": "B1"}"#, "takes the names of objects"),
            ("Shelf/S1", #"{"books": [1]}"#, "takes the names of objects"),
        ])
    func refused(path: String, text: String, words: String) throws {
        let shop = try Shop()
        try shop.put("Tag/T1", "{}")
        try shop.put("Shelf/S9", "{}")
        do {
            try shop.put(path, text)
            Issue.record("it is saved")
        } catch let error as RecordError {
            #expect(error.code == .schemaMismatch && error.message.contains(words), "\(error)")
        }
        #expect(try shop.text(path) == nil)
    }

    @Test("both sides of all relationships agree after any changes", arguments: 1...20)
    func agreement(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let shop = try Shop()
        let names = ["Shelf": "S", "Book": "B", "Tag": "T", "Cover": "C", "Page": "P"]
        func name(_ type: String) -> String {
            "\(names[type] ?? "")\(Int.random(in: 1...3, using: &random))"
        }
        func list(_ type: String) -> String {
            let some = (0..<Int.random(in: 0...3, using: &random)).map { _ in "\"\(name(type))\"" }
            return "[\(Set(some).joined(separator: ","))]"
        }
        for _ in 0..<80 {
            let type = names.keys.sorted().randomElement(using: &random) ?? "Book"
            let path = "\(type)/\(name(type))"
            if try Int.random(in: 0..<6, using: &random) == 0 && shop.text(path) != nil {
                try shop.delete(path)
                continue
            }
            var members: [String] = []
            for relation in try #require(shop.fixture.store.model.attached).mapping.relations(
                of: RecordTypeName(type)) where Bool.random(using: &random)
            {
                if case .key = relation.form {
                    members.append("\"\(relation.name)\":\"\(name(relation.destination))\"")
                } else {
                    members.append("\"\(relation.name)\":\(list(relation.destination))")
                }
            }
            try shop.put(path, "{\(members.joined(separator: ","))}")
        }
        try checkAgreement(shop, names)
    }

    /// Checks that each object which names another one is named by it.
    private func checkAgreement(_ shop: Shop, _ names: [String: String]) throws {
        var said: [String: Set<String>] = [:]
        let mapping = try #require(shop.fixture.store.model.attached).mapping
        var shown: [String: Set<String>] = [:]
        for (type, letter) in names {
            for number in 1...3 {
                let path = "\(type)/\(letter)\(number)"
                guard let text = try shop.text(path) else { continue }
                let document = try RecordDocument(
                    parsing: Array(text.utf8),
                    schema: shop.fixture.store.schema(of: RecordTypeName(type)))
                for relation in mapping.relations(of: RecordTypeName(type)) {
                    var others: [String] = []
                    if case .key(let field) = relation.form {
                        if case .string(let text)? = document[field] { others = [text.description] }
                    } else if let list = document.lists[relation.name] {
                        others = list.map(\.description)
                    } else {
                        continue
                    }
                    shown["\(path).\(relation.name)"] = Set(others)
                    for other in others {
                        let inverse = relation.inverse.map { "\($0)" } ?? ""
                        said["\(relation.destination)/\(other).\(inverse)", default: []].insert(
                            "\(letter)\(number)")
                    }
                }
            }
        }
        for (place, others) in said {
            guard let list = shown[place] else { continue }
            #expect(others.isSubset(of: list), "\(place): \(list), and \(others) name it")
        }
        #expect(try shop.fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
    }
}
