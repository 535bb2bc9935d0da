import RecordObjects
import Testing

/// What `recordfs model diff` prints.
@Suite
struct ModelDifferenceTests {
    @Test("equal models have no difference")
    func equal() throws {
        #expect(ModelDifference.lines(from: try Shop.model(), to: try Shop.model()) == [])
    }

    @Test("renames, new, removed and changed parts are told, in the order of the new model")
    func changes() throws {
        let old = try Shop.model()
        var new = old
        new.entities[1].name = "Volume2"
        new.entities[1].renamedFrom = "Book"
        new.entities[1].attributes[2].name = "length"
        new.entities[1].attributes[2].renamedFrom = "pages"
        new.entities[1].attributes[2].type = .integer64
        new.entities[0].attributes.remove(at: 0)
        new.entities[2].relationships[0].deleteRule = .nullify
        new.entities[3].attributes.append(Attribute(name: "floor", type: .integer16))
        new.entities.append(Entity(name: "Till"))
        new.configurations.removeLast()
        #expect(
            ModelDifference.lines(from: old, to: new) == [
                "Article.added: removed",
                "entity Volume2: renamed from Book",
                "Volume2.length: renamed from pages",
                "Volume2.length: type Integer 32 -> Integer 64",
                "Shelf.articles: onDelete Cascade -> Nullify",
                "Room.floor: new",
                "entity Till: new",
                "configuration Part: removed",
            ])
    }

    @Test("a name that is still there was not renamed")
    func notRenamed() {
        let old = ObjectModel(entities: [Entity(name: "A")])
        let new = ObjectModel(entities: [Entity(name: "B", renamedFrom: "A"), Entity(name: "A")])
        #expect(ModelDifference.lines(from: old, to: new) == ["entity B: new"])
    }
}
