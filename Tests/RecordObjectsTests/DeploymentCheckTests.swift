import RecordModel
import RecordObjects
import Testing

/// What a new version of a deployed model must keep.
@Suite struct DeploymentCheckTests {
    private let names =
        "A deployed schema keeps the names of its record types and fields. The following are "
        + "renamed, so that their records and values would be left behind:"

    private func model(_ change: (inout ObjectModel) -> Void = { _ in }) throws -> ObjectModel {
        var model = try Shop.model()
        change(&model)
        return model
    }

    /// The failures over the model before the change, and over the schema of it.
    private func failures(
        _ change: (inout ObjectModel) -> Void
    ) throws -> (model: [String], schema: [String]) {
        let check = DeploymentCheck(try model(change))
        return (
            try check.failures(after: try model()),
            try check.failures(over: try MirroredSchema.document(try model()))
        )
    }

    @Test("additions and removals are no failures")
    func additions() throws {
        let found = try failures { model in
            model.entities.append(Entity(name: "Till"))
            model.entities[3].attributes.append(Attribute(name: "floor", type: .integer16))
            model.entities[1].attributes.remove(at: 2)
        }
        #expect(found.model == [] && found.schema == [])
    }

    @Test("a renamed attribute and a renamed record type are refused")
    func renamed() throws {
        let found = try failures { model in
            model.entities[1].attributes[2].name = "length"
            model.entities[1].attributes[2].renamedFrom = "pages"
            model.entities[3].name = "Hall"
            model.entities[3].renamedFrom = "Room"
            for index in model.entities[2].relationships.indices
            where model.entities[2].relationships[index].destination == "Room" {
                model.entities[2].relationships[index].destination = "Hall"
            }
        }
        #expect(found.model == ["\(names)\nBook.length: was pages\nHall: was Room"])
        #expect(
            found.schema == [
                "\(names)\nHall: was Room (CD_Room)\nBook.length: was pages (CD_Article.CD_pages)"
            ])
    }

    @Test("a property of a renamed type is found under the former type")
    func both() throws {
        let old = ObjectModel(entities: [
            Entity(name: "A", attributes: [.init(name: "x", type: .string)])
        ])
        let new = ObjectModel(entities: [
            Entity(
                name: "B", renamedFrom: "A",
                attributes: [
                    .init(name: "y", type: .string, renamedFrom: "x")
                ])
        ])
        #expect(
            DeploymentCheck(new).renames(over: try MirroredSchema.document(old)) == [
                "B: was A (CD_A)", "B.y: was x (CD_A.CD_x)",
            ])
    }

    @Test("a rename that the schema has already, or never had, is none")
    func settled() throws {
        let new = ObjectModel(entities: [
            Entity(name: "A", attributes: [.init(name: "y", type: .string, renamedFrom: "x")])
        ])
        let check = DeploymentCheck(new)
        #expect(check.renames(over: try MirroredSchema.document(new)) == [])
        #expect(check.renames(over: SchemaDocument()) == [])
        let both = SchemaAddition(
            of: try MirroredSchema.document(
                ObjectModel(entities: [
                    Entity(name: "A", attributes: [.init(name: "x", type: .string)])
                ])), to: try MirroredSchema.document(new)
        ).merged
        #expect(check.renames(over: both) == [])
    }

    @Test("another type, another kind of relationship and another record type are refused")
    func changed() throws {
        let found = try failures { model in
            model.entities[1].attributes[2].type = .string
            model.entities[1].relationships[0].isToMany = true
        }
        #expect(
            found.model == [
                "A deployed relationship stays to one object, or to many. The following change:\n"
                    + "Book.sequel: now to many",
                "A deployed field keeps its type. The following would have another one:\n"
                    + "CD_Article.CD_pages: INT64, now STRING",
            ])
        let moved = ObjectModel(entities: [Entity(name: "A"), Entity(name: "B", parent: "A")])
        let apart = ObjectModel(entities: [Entity(name: "A"), Entity(name: "B")])
        #expect(
            try DeploymentCheck(moved).failures(after: apart) == [
                "An object keeps its record type. The following entities would have another one:\n"
                    + "B: CD_B, now CD_A"
            ])
    }

    @Test("fields of the deployed schema count towards the limit")
    func fields() throws {
        func model(_ prefix: String, _ count: Int) -> ObjectModel {
            ObjectModel(entities: [
                Entity(
                    name: "A",
                    attributes: (0..<count).map { Attribute(name: "\(prefix)\($0)", type: .double) }
                )
            ])
        }
        #expect(try DeploymentCheck(model("a", 100)).failures(after: model("b", 153)) == [])
        #expect(
            try DeploymentCheck(model("a", 100)).failures(after: model("b", 154)) == [
                "A record type has at most 256 fields. With the deployed ones, the following would "
                    + "have more:\nCD_A: 257"
            ])
    }

    @Test("the texts of samples are those that Core Data writes")
    func texts() throws {
        let texts = MirroredTexts(try model())
        func text(_ type: String, _ field: String) -> String? {
            texts.text(FieldName(field), of: RecordTypeName(type))
        }
        #expect(text("CD_Shelf", "CD_id") == MirroredTexts.uuid)
        #expect(text("CD_Shelf", "CD_room") == MirroredTexts.uuid)
        #expect(text("CD_Shelf", "CD_entityName") == "Shelf")
        #expect(text("CD_Article", "CD_sku") == nil)
        #expect(text("CDMR", "CD_entityNames") == "Article:Shelf")
        #expect(text("CDMR", "CD_relationships") == "shelves:articles")
        #expect(
            text("CDMR", "CD_recordNames") == "\(MirroredTexts.uuid):\(MirroredTexts.uuid)")
    }
}
