/// The rules of NSPersistentCloudKitContainer for a model, in its words and in its order: the reason
/// of its error 134060. Each rule that something breaks is a paragraph with one line for each break.
///
/// Inherited properties are named at each entity that has them, as Core Data does.
package struct MirroringCheck {
    private let hierarchy: ModelHierarchy
    private let entities: [Entity]
    private let members: Set<String>

    /// Prepares the check of a model.
    ///
    /// - Parameter configuration: the part of the model that is mirrored; all of it when nil.
    package init(_ model: ObjectModel, configuration: Configuration? = nil) {
        hierarchy = ModelHierarchy(model)
        entities = model.entities(of: configuration)
        members = Set(entities.map(\.name))
    }

    /// The paragraphs about the broken rules. Empty for a model that CloudKit can hold.
    package var failures: [String] {
        Self.rules.compactMap { rule in
            let lines = rule.breaks(self)
            return lines.isEmpty
                ? nil : ([rule.header] + Self.sorted(lines)).joined(separator: "\n")
        }
    }

    private struct Rule: Sendable {
        let header: String
        let breaks: @Sendable (MirroringCheck) -> [String]
    }

    /// Sorts lines without regard to case, as Core Data prints them.
    private static func sorted(_ lines: [String]) -> [String] {
        lines.sorted { ($0.lowercased(), $0) < ($1.lowercased(), $1) }
    }

    private func relationships(where breaks: (Relationship) -> Bool) -> [(Entity, Relationship)] {
        entities.flatMap { entity in
            hierarchy.relationships(of: entity.name).filter(breaks).map { (entity, $0) }
        }
    }

    private func attributes(where breaks: (Attribute) -> Bool) -> [(Entity, Attribute)] {
        entities.flatMap { entity in
            hierarchy.attributes(of: entity.name).filter(breaks).map { (entity, $0) }
        }
    }

    private static let rules = [
        Rule(
            header: "CloudKit integration requires that all relationships have an inverse, the "
                + "following do not:",
            breaks: { check in
                check.relationships { $0.inverse == nil }.map { "\($0.name): \($1.name)" }
            }),
        Rule(
            header: "CloudKit integration does not support ordered relationships. The following "
                + "relationships are marked ordered:",
            breaks: { check in
                check.relationships(where: \.isOrdered).map { "\($0.name): \($1.name)" }
            }),
        Rule(
            header: "CloudKit integration requires that all attributes be optional, or have a "
                + "default value set. The following attributes are marked non-optional but do not "
                + "have a default value:",
            breaks: { check in
                check.attributes { !$0.isOptional && $0.defaultValue == nil && $0.isMirrored }
                    .map { "\($0.name): \($1.name)" }
            }),
        Rule(
            header: "CloudKit integration requires that all relationships be optional, the "
                + "following are not:",
            breaks: { check in
                check.relationships { !$0.isOptional }.map { "\($0.name): \($1.name)" }
            }),
        Rule(
            header: "CloudKit integration does not support all attribute types. The following "
                + "entities have attributes of an unsupported type:",
            breaks: { check in
                check.attributes { !$0.type.isSupported && $0.isMirrored }.map {
                    "\($0.name): \($1.name) - Unsupported attribute type (\($1.type.rawValue))"
                }
            }),
        Rule(
            header: "CloudKit integration does not allow relationships to objects that aren't "
                + "sync'd. The following relationships have destination entities that not in the "
                + "specified configuration.",
            breaks: { check in
                check.relationships { !check.members.contains($0.destination) }.map {
                    "\($0.name): \($1.name) - \($1.destination)"
                }
            }),
        Rule(
            header: "The following relationships are configured with unsupported delete rules:",
            breaks: { check in
                check.relationships { $0.deleteRule == .deny }.map {
                    "\($0.name):\($1.name) - Deny"
                }
            }),
        Rule(
            header: "CloudKit integration does not support unique constraints. The following "
                + "entities are constrained:",
            breaks: { check in
                check.entities.compactMap { entity in
                    let names = entity.uniquenessConstraints.flatMap { $0 }
                    return names.isEmpty
                        ? nil : "\(entity.name): \(names.joined(separator: ", "))"
                }
            }),
    ]
}
