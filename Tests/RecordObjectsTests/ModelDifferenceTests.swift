import RecordObjects
import Testing

/// The lines that `recordfs model diff` prints.
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

    @Test("two names that were exchanged are two renames, with what changed")
    func exchanged() {
        let old = ObjectModel(entities: [
            Entity(
                name: "A",
                attributes: [.init(name: "t", type: .string), .init(name: "u", type: .date)])
        ])
        var new = old
        new.entities[0].attributes = [
            .init(name: "t", type: .string, renamedFrom: "u"),
            .init(name: "u", type: .date, renamedFrom: "t"),
        ]
        #expect(
            ModelDifference.lines(from: old, to: new) == [
                "A.t: renamed from u", "A.t: type Date -> String",
                "A.u: renamed from t", "A.u: type String -> Date",
            ])
    }

    @Test("an entity that both versions say to come from one name is the same")
    func sameOrigin() {
        let old = ObjectModel(entities: [Entity(name: "A", renamedFrom: "X")])
        let new = ObjectModel(entities: [Entity(name: "B", renamedFrom: "X")])
        #expect(ModelDifference.lines(from: old, to: new) == ["entity B: renamed from A"])
        #expect(ModelDifference.lines(from: old, to: old) == [])
    }

    @Test("a changed index is shown with its parts")
    func indexes() {
        let old = Entity(
            name: "A", attributes: [.init(name: "t", type: .string)],
            indexes: [.init(name: "i", parts: [.init(property: "t")])])
        var new = old
        new.indexes[0].parts[0].isAscending = false
        #expect(
            ModelDifference.lines(
                from: ObjectModel(entities: [old]), to: ObjectModel(entities: [new]))
                == ["entity A: indexes i(t) -> i(t descending)"])
    }

    @Test("a name that is still there was not renamed")
    func notRenamed() {
        let old = ObjectModel(entities: [Entity(name: "A")])
        let new = ObjectModel(entities: [Entity(name: "B", renamedFrom: "A"), Entity(name: "A")])
        #expect(ModelDifference.lines(from: old, to: new) == ["entity B: new"])
    }
}
