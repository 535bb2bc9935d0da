/// The differences between two versions of a model, as lines for people. Renames come from
/// `renamedFrom`.
package enum ModelDifference {
    /// Returns a line for each difference, in the order of the new model; removed things come last.
    package static func lines(from old: ObjectModel, to new: ObjectModel) -> [String] {
        var lines: [String] = []
        compare(old.entities, new.entities, \.name, \.renamedFrom, "entity ", &lines) { old, new in
            entityLines(from: old, to: new)
        }
        compare(
            old.configurations, new.configurations, \.name, { _ in nil }, "configuration ", &lines
        ) { old, new in
            let name = "configuration \(new.name)"
            return change(name, "entities", old.entities.sorted(), new.entities.sorted())
                + change(name, "usedWithCloudKit", old.usedWithCloudKit, new.usedWithCloudKit)
        }
        return lines
    }

    /// Returns whether an entity of the new model, or a property that has or may have values in
    /// records, has another name than in the old one.
    package static func hasRenames(from old: ObjectModel, to new: ObjectModel) -> Bool {
        ModelPairing(old.entities, new.entities).pairs.contains { former, entity in
            guard let former else { return false }
            let attributes = ModelPairing(
                former.attributes.filter(\.isMirrored), entity.attributes.filter(\.isMirrored),
                name: \.name, formerName: \.renamedFrom)
            let relationships = ModelPairing(
                former.relationships, entity.relationships, name: \.name,
                formerName: \.renamedFrom)
            return former.name != entity.name
                || attributes.pairs.contains {
                    $0.old.map { $0.name } ?? $0.new.name != $0.new.name
                }
                || relationships.pairs.contains {
                    $0.old.map { $0.name } ?? $0.new.name != $0.new.name
                }
        }
    }

    /// Pairs the items of two lists by their names, or by the former name of a new one.
    private static func compare<Item>(
        _ old: [Item], _ new: [Item], _ name: (Item) -> String, _ formerName: (Item) -> String?,
        _ kind: String, _ lines: inout [String], _ differences: (Item, Item) -> [String]
    ) {
        let pairing = ModelPairing(old, new, name: name, formerName: formerName)
        for (former, item) in pairing.pairs {
            guard let former else {
                lines.append("\(kind)\(name(item)): new")
                continue
            }
            if name(former) != name(item) {
                lines.append("\(kind)\(name(item)): renamed from \(name(former))")
            }
            lines += differences(former, item)
        }
        for item in pairing.removed { lines.append("\(kind)\(name(item)): removed") }
    }

    private static func entityLines(from old: Entity, to new: Entity) -> [String] {
        let name = "entity \(new.name)"
        var lines = change(name, "parent", old.parent, new.parent)
        lines += change(name, "abstract", old.isAbstract, new.isAbstract)
        lines += change(name, "unique", old.uniquenessConstraints, new.uniquenessConstraints)
        lines += change(name, "indexes", old.indexes, new.indexes)
        lines += change(name, "userInfo", old.userInfo, new.userInfo)
        let prefix = "\(new.name)."
        compare(old.attributes, new.attributes, \.name, \.renamedFrom, prefix, &lines) { old, new in
            attributeLines(prefix + new.name, from: old, to: new)
        }
        compare(old.relationships, new.relationships, \.name, \.renamedFrom, prefix, &lines) {
            old, new in relationshipLines(prefix + new.name, from: old, to: new)
        }
        return lines
    }

    private static func attributeLines(
        _ name: String, from old: Attribute, to new: Attribute
    ) -> [String] {
        change(name, "type", old.type.rawValue, new.type.rawValue)
            + change(name, "required", !old.isOptional, !new.isOptional)
            + change(name, "default", old.defaultValue, new.defaultValue)
            + change(name, "minimum", old.minimum, new.minimum)
            + change(name, "maximum", old.maximum, new.maximum)
            + change(name, "pattern", old.pattern, new.pattern)
            + change(name, "transient", old.isTransient, new.isTransient)
            + change(name, "derivation", old.derivation, new.derivation)
            + change(name, "externalStorage", old.allowsExternalStorage, new.allowsExternalStorage)
            + change(name, "encrypted", old.allowsCloudEncryption, new.allowsCloudEncryption)
            + change(
                name, "preserveAfterDeletion", old.isPreservedAfterDeletion,
                new.isPreservedAfterDeletion)
            + change(name, "transformer", old.transformer, new.transformer)
            + change(name, "userInfo", old.userInfo, new.userInfo)
    }

    private static func relationshipLines(
        _ name: String, from old: Relationship, to new: Relationship
    ) -> [String] {
        change(name, "to", old.destination, new.destination)
            + change(name, "many", old.isToMany, new.isToMany)
            + change(name, "inverse", old.inverse, new.inverse)
            + change(name, "onDelete", old.deleteRule.rawValue, new.deleteRule.rawValue)
            + change(name, "required", !old.isOptional, !new.isOptional)
            + change(name, "ordered", old.isOrdered, new.isOrdered)
            + change(name, "minimumCount", old.minimumCount, new.minimumCount)
            + change(name, "maximumCount", old.maximumCount, new.maximumCount)
            + change(name, "userInfo", old.userInfo, new.userInfo)
    }

    // MARK: Values

    private static func change<Value: Equatable>(
        _ name: String, _ member: String, _ old: Value, _ new: Value
    ) -> [String] {
        old == new ? [] : ["\(name): \(member) \(word(old)) -> \(word(new))"]
    }

    private static func word(_ index: FetchIndex) -> String {
        let parts = index.parts.map { part in
            let kind = part.kind == "Binary" ? "" : " \(part.kind)"
            return "\(part.property)\(kind)\(part.isAscending ? "" : " descending")"
        }
        return "\(index.name)(\(parts.joined(separator: ", ")))"
    }

    private static func word(_ value: some Any) -> String {
        switch value {
        case let flag as Bool: flag ? "true" : "false"
        case let text as String: text
        case let text as String?: text ?? "none"
        case let count as Int?: count.map(String.init) ?? "none"
        case let names as [String]: names.joined(separator: ", ")
        case let lists as [[String]]:
            lists.map { $0.joined(separator: " + ") }.joined(separator: ", ")
        case let indexes as [FetchIndex]: indexes.map { word($0) }.joined(separator: ", ")
        case let entries as [UserInfo]:
            entries.map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
        default: "\(value)"
        }
    }
}
