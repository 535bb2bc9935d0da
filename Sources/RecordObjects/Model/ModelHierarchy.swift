/// The entities of a model by name, with what they inherit.
///
/// Only for a model in which `ModelConsistency` finds nothing: chains of parents end.
package struct ModelHierarchy: Sendable {
    package let entities: [String: Entity]
    private let children: [String: [String]]

    package init(_ model: ObjectModel) {
        entities = Dictionary(model.entities.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        children = Dictionary(
            grouping: model.entities.filter { $0.parent != nil }, by: { $0.parent ?? "" }
        ).mapValues { $0.map(\.name).sorted() }
    }

    /// Returns an entity and its ancestors, from the root on.
    package func line(of name: String) -> [Entity] {
        var line: [Entity] = []
        var next: String? = name
        while let current = next, let entity = entities[current],
            line.count < ModelConsistency.depthMax + 2
        {
            line.append(entity)
            next = entity.parent
        }
        return line.reversed()
    }

    /// Returns the ancestor without a parent: the entity that names the record type.
    package func root(of name: String) -> String { line(of: name).first?.name ?? name }

    /// Returns the attributes of an entity, inherited ones first.
    package func attributes(of name: String) -> [Attribute] {
        line(of: name).flatMap(\.attributes)
    }

    /// Returns the relationships of an entity, inherited ones first.
    package func relationships(of name: String) -> [Relationship] {
        line(of: name).flatMap(\.relationships)
    }

    /// Returns a relationship of an entity or of its ancestors.
    package func relationship(_ name: String, of entity: String) -> Relationship? {
        relationships(of: entity).first { $0.name == name }
    }

    /// Returns what the user info of an entity, or of the nearest ancestor that has it, says under a
    /// key.
    func note(_ key: String, of entity: String) -> String? {
        line(of: entity).reversed().lazy.compactMap { ancestor in
            ancestor.userInfo.first { $0.key == key }?.value
        }.first
    }

    /// Returns an entity and all that inherit from it, in the order of a walk down.
    package func family(of name: String) -> [Entity] {
        var family: [Entity] = []
        var waiting = [name]
        while let next = waiting.popLast() {
            guard let entity = entities[next] else { continue }
            family.append(entity)
            waiting += (children[next] ?? []).reversed()
        }
        return family
    }
}
