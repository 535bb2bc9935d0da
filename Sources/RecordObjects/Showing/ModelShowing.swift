/// A model as lines for people.
package enum ModelShowing {
    package static func lines(of entity: Entity) -> [String] {
        var title = entity.name
        if let parent = entity.parent { title += ": \(parent)" }
        if entity.isAbstract { title += " (abstract)" }
        return [title] + entity.attributes.map { "    \(line(of: $0))" }
            + entity.relationships.map { "    \(line(of: $0))" }
            + entity.uniquenessConstraints.map { "    unique: \($0.joined(separator: ", "))" }
    }

    package static func line(of configuration: Configuration) -> String {
        let use = configuration.usedWithCloudKit ? " (used with CloudKit)" : ""
        return "configuration \(configuration.name)\(use): "
            + configuration.entities.joined(separator: ", ")
    }

    private static func line(of attribute: Attribute) -> String {
        "\(attribute.name): \(facts(of: attribute))"
    }

    static func facts(of attribute: Attribute) -> String {
        var words = [attribute.type.rawValue]
        if !attribute.isOptional { words.append("required") }
        if let value = attribute.defaultValue { words.append("default \(value)") }
        if let minimum = attribute.minimum { words.append("at least \(minimum)") }
        if let maximum = attribute.maximum { words.append("at most \(maximum)") }
        if let pattern = attribute.pattern { words.append("pattern \(pattern)") }
        if attribute.isTransient { words.append("transient") }
        if let derivation = attribute.derivation { words.append("= \(derivation)") }
        if attribute.allowsExternalStorage { words.append("external storage") }
        if attribute.allowsCloudEncryption { words.append("encrypted") }
        return words.joined(separator: ", ")
    }

    private static func line(of relationship: Relationship) -> String {
        "\(relationship.name) \(facts(of: relationship))"
    }

    static func facts(of relationship: Relationship) -> String {
        let arrow = relationship.isToMany ? "->>" : "->"
        var words = ["\(arrow) \(relationship.destination)"]
        if let inverse = relationship.inverse { words.append("inverse \(inverse)") }
        if !relationship.isOptional { words.append("required") }
        if relationship.isOrdered { words.append("ordered") }
        if let least = relationship.minimumCount { words.append("at least \(least)") }
        if let most = relationship.maximumCount { words.append("at most \(most)") }
        if relationship.deleteRule != .nullify {
            words.append("on delete \(relationship.deleteRule.rawValue)")
        }
        return words.joined(separator: ", ")
    }
}
