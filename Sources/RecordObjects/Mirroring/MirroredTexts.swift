package import RecordModel

/// The texts that fields of representative records have, where not every text is one that Core Data
/// writes: names of entities, UUIDs, addresses, links.
package struct MirroredTexts: Sendable {
    private var texts: [RecordTypeName: [FieldName: String]] = [:]

    /// A UUID that no object has.
    package static let uuid = "00000000-0000-0000-0000-000000000000"
    static let address = "https://example.org/"

    /// Finds the texts of a model's fields, or of the part that a configuration has.
    package init(_ model: ObjectModel, configuration: Configuration? = nil) {
        let hierarchy = ModelHierarchy(model)
        let entities = model.entities(of: configuration)
        for entity in entities {
            let type = RecordTypeName(MirroredSchema.prefix + hierarchy.root(of: entity.name))
            if !entity.isAbstract { add(entity.name, "entityName", of: type) }
            for attribute in hierarchy.attributes(of: entity.name) {
                switch attribute.type {
                case .uuid: add(Self.uuid, attribute.name, of: type)
                case .uri: add(Self.address, attribute.name, of: type)
                default: break
                }
            }
            for relationship in hierarchy.relationships(of: entity.name)
            where !relationship.isToMany {
                add(Self.uuid, relationship.name, of: type)
            }
        }
        if let link = MirroredSchema.links(of: entities, hierarchy).first {
            addLink(link.entity.name, link.relationship)
        }
    }

    /// Returns the text of a field. Nil where any text will do.
    package func text(_ field: FieldName, of type: RecordTypeName) -> String? {
        texts[type]?[field]
    }

    private mutating func add(_ text: String, _ property: String, of type: RecordTypeName) {
        let field = FieldName(MirroredSchema.prefix + property)
        if texts[type]?[field] == nil { texts[type, default: [:]][field] = text }
    }

    /// Adds the texts of a link. Its two sides are in the order of their names, as Core Data writes
    /// them.
    private mutating func addLink(_ entity: String, _ relationship: Relationship) {
        let sides = [
            (entity, relationship.name),
            (relationship.destination, relationship.inverse ?? relationship.name),
        ].sorted { ($0.0.lowercased(), $0.1.lowercased()) < ($1.0.lowercased(), $1.1.lowercased()) }
        let type = MirroredSchema.linkType
        add(sides.map(\.0).joined(separator: ":"), "entityNames", of: type)
        add(sides.map(\.1).joined(separator: ":"), "relationships", of: type)
        add("\(Self.uuid):\(Self.uuid)", "recordNames", of: type)
    }
}
