import RecordModel
import RecordObjects
import Testing

/// The record types that Core Data makes of a model.
@Suite
struct MirroredSchemaTests {
    @Test("a type for each root entity, with all fields of its family, and CDMR")
    func document() throws {
        let document = try MirroredSchema.document(try Shop.model())
        #expect(
            document.types.map(\.name.description) == ["CD_Article", "CD_Room", "CD_Shelf", "CDMR"])
        #expect(
            lines(of: "CD_Article", document) == [
                "CD_added TIMESTAMP QUERYABLE SORTABLE",
                "CD_cover BYTES QUERYABLE SORTABLE",
                "CD_cover_ckAsset ASSET",
                "CD_entityName STRING QUERYABLE SORTABLE SEARCHABLE",
                "CD_moveReceipt BYTES QUERYABLE SORTABLE",
                "CD_moveReceipt_ckAsset ASSET",
                "CD_pages INT64 QUERYABLE SORTABLE",
                "CD_prequel STRING QUERYABLE SORTABLE SEARCHABLE",
                "CD_price DOUBLE QUERYABLE SORTABLE",
                "CD_secret ENCRYPTED STRING",
                "CD_secret_ckAsset ASSET",
                "CD_sequel STRING QUERYABLE SORTABLE SEARCHABLE",
                "CD_sku STRING QUERYABLE SORTABLE SEARCHABLE",
                "CD_sku_ckAsset ASSET",
            ])
        #expect(
            lines(of: "CD_Shelf", document) == [
                "CD_colour BYTES QUERYABLE SORTABLE", "CD_colour_ckAsset ASSET",
                "CD_entityName STRING QUERYABLE SORTABLE SEARCHABLE",
                "CD_id STRING QUERYABLE SORTABLE SEARCHABLE",
                "CD_moveReceipt BYTES QUERYABLE SORTABLE", "CD_moveReceipt_ckAsset ASSET",
                "CD_room STRING QUERYABLE SORTABLE SEARCHABLE",
            ])
    }

    @Test("system fields without indexes and the grants of Core Data follow the fields")
    func ending() throws {
        let type = try #require(try MirroredSchema.document(try Shop.model()).types.first)
        let system = type.fields.filter(\.isSystem)
        #expect(
            system.map(\.text) == [
                "\"___createTime\" TIMESTAMP", "\"___createdBy\" REFERENCE", "\"___etag\" STRING",
                "\"___modTime\" TIMESTAMP", "\"___modifiedBy\" REFERENCE",
                "\"___recordID\" REFERENCE",
            ])
        #expect(type.grants.map(\.role) == ["_creator", "_icloud", "_world"])
    }

    @Test("a configuration has the types of its entities alone")
    func configuration() throws {
        let model = try Shop.model()
        let part = try #require(model.configurations.last)
        let document = try MirroredSchema.document(model, configuration: part)
        #expect(document.types.map(\.name.description) == ["CD_Shelf", "CDMR"])
    }

    @Test("a model without many-to-many relationships needs no CDMR")
    func noLinks() throws {
        let document = try MirroredSchema.document(ObjectModel(entities: [Entity(name: "A")]))
        #expect(document.types.map(\.name.description) == ["CD_A"])
    }

    @Test("two sub-entities that give a field two types are refused, and 257 fields")
    func refused() throws {
        let model = ObjectModel(entities: [
            Entity(name: "A"),
            Entity(name: "B", parent: "A", attributes: [.init(name: "x", type: .string)]),
            Entity(name: "C", parent: "A", attributes: [.init(name: "x", type: .date)]),
        ])
        let clash = message { () throws(RecordError) in _ = try MirroredSchema.document(model) }
        #expect(clash == "CD_x of CD_A would be STRING and TIMESTAMP: C.x needs another name.")
        #expect(try MirroredSchema.document(wide(253)).types[0].fields.count == 256 + 6)
        #expect(throws: RecordError.self) { try MirroredSchema.document(wide(254)) }
    }

    @Test("everything that is wrong is told at once")
    func everything() {
        let model = ObjectModel(entities: [
            Entity(name: "A", attributes: [.init(name: "entityName", type: .date)]),
            Entity(
                name: "B", parent: "A",
                attributes: [.init(name: "x", type: .string, allowsCloudEncryption: true)]),
            Entity(name: "C", parent: "A", attributes: [.init(name: "x", type: .string)]),
            Entity(name: "D", attributes: [.init(name: "moveReceipt", type: .binary)]),
        ])
        let message = message { () throws(RecordError) in _ = try MirroredSchema.document(model) }
        #expect(
            message == """
                CD_entityName of CD_A is a field of Core Data itself: A.entityName needs another name.
                CD_x of CD_A would be ENCRYPTED STRING and STRING: C.x needs another name.
                CD_moveReceipt of CD_D is a field of Core Data itself: D.moveReceipt needs another name.
                CD_moveReceipt_ckAsset of CD_D is a field of Core Data itself: D.moveReceipt_ckAsset \
                needs another name.
                """)
    }

    private func wide(_ count: Int) -> ObjectModel {
        ObjectModel(entities: [
            Entity(
                name: "A",
                attributes: (0..<count).map { Attribute(name: "n\($0)", type: .double) })
        ])
    }

    private func lines(of type: String, _ document: SchemaDocument) -> [String] {
        document.types.first { $0.name.description == type }?.fields.filter { !$0.isSystem }
            .map(\.text) ?? []
    }
}
