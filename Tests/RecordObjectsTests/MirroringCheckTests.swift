import RecordModel
import RecordObjects
import Testing

/// The rules of NSPersistentCloudKitContainer, in its words.
@Suite
struct MirroringCheckTests {
    @Test("a model that CloudKit can hold breaks no rule")
    func compatible() throws {
        #expect(MirroringCheck(try Shop.model()).failures == [])
    }

    @Test("all broken rules are told at once, in Core Data's order, inherited properties too")
    func all() {
        let model = ObjectModel(entities: [
            Entity(
                name: "base",
                attributes: [
                    .init(name: "when", type: .date, isOptional: false),
                    .init(name: "number", type: .integer16, isOptional: false, defaultValue: "0"),
                    .init(name: "any", type: .undefined),
                    .init(name: "object", type: .objectID),
                    .init(name: "hidden", type: .undefined, isTransient: true),
                ],
                relationships: [
                    .init(name: "others", destination: "Other", isToMany: true, isOrdered: true),
                    .init(
                        name: "first", destination: "Other", inverse: "owner", isOptional: false,
                        deleteRule: .deny),
                ], uniquenessConstraints: [["when", "number"], ["any"]]),
            Entity(name: "Derived", parent: "base"),
            Entity(
                name: "Other",
                relationships: [.init(name: "owner", destination: "base", inverse: "first")]),
        ])
        #expect(MirroringCheck(model).failures == Self.expected)
    }

    private static let expected = [
        """
        CloudKit integration requires that all relationships have an inverse, the following do not:
        base: others
        Derived: others
        """,
        """
        CloudKit integration does not support ordered relationships. The following relationships \
        are marked ordered:
        base: others
        Derived: others
        """,
        """
        CloudKit integration requires that all attributes be optional, or have a default value \
        set. The following attributes are marked non-optional but do not have a default value:
        base: when
        Derived: when
        """,
        """
        CloudKit integration requires that all relationships be optional, the following are not:
        base: first
        Derived: first
        """,
        """
        CloudKit integration does not support all attribute types. The following entities have \
        attributes of an unsupported type:
        base: any - Unsupported attribute type (Undefined)
        base: object - Unsupported attribute type (ObjectID)
        Derived: any - Unsupported attribute type (Undefined)
        Derived: object - Unsupported attribute type (ObjectID)
        """,
        """
        The following relationships are configured with unsupported delete rules:
        base:first - Deny
        Derived:first - Deny
        """,
        """
        CloudKit integration does not support unique constraints. The following entities are \
        constrained:
        base: when, number, any
        """,
    ]

    @Test("relationships that leave the configuration are named")
    func configuration() throws {
        let model = try Shop.model()
        let part = try #require(model.configurations.first { $0.name == "Part" })
        #expect(
            MirroringCheck(model, configuration: part).failures == [
                """
                CloudKit integration does not allow relationships to objects that aren't sync'd. \
                The following relationships have destination entities that not in the specified \
                configuration.
                Shelf: articles - Article
                Shelf: room - Room
                """
            ])
        #expect(
            MirroringCheck(model, configuration: model.configurations.first).failures.isEmpty)
    }
}
