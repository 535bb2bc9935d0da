package import RecordModel

/// Writes a model as the `contents` of an `.xcdatamodel`, in Xcode's order. A model that Xcode has
/// written comes back byte for byte.
package enum XMLModelWriter {
    /// Errors: `invalidArgument` for a text that XML cannot hold.
    package static func print(_ model: ObjectModel) throws(RecordError) -> [UInt8] {
        var attributes = model.xcode.attributes
        attributes["type"] = attributes["type"] ?? "com.apple.IDECoreDataModeler.DataModel"
        attributes["documentVersion"] = attributes["documentVersion"] ?? "1.0"
        // Requests stand before configurations, the canvas after them.
        let requests = model.xcode.elements.filter { $0.name == "fetchRequest" }
        let others = model.xcode.elements.filter { $0.name != "fetchRequest" }
        return try XMLWriter.print(
            XMLElement(
                "model", XMLForm.ordered(attributes, by: XMLForm.model),
                children: model.entities.map(element) + requests
                    + model.configurations.map(element) + others))
    }

    /// The XML attributes that an attribute has as values of its own.
    static func typed(isDate: Bool, isDerived: Bool) -> Set<String> {
        let bounds: Set =
            isDate
            ? ["defaultDateTimeInterval", "minDateTimeInterval", "maxDateTimeInterval"]
            : ["defaultValueString", "minValueString", "maxValueString"]
        return bounds.union([
            "name", "attributeType", "optional", "regularExpressionString", "transient",
            "allowsExternalBinaryDataStorage", "allowsCloudEncryption", "preserveAfterDeletion",
            "valueTransformerName", "elementID",
        ]).union(isDerived ? ["derived", "derivationExpression"] : ["derived"])
    }

    static let typedOfRelationships: Set = [
        "name", "destinationEntity", "inverseName", "toMany", "optional", "ordered",
        "minCount", "maxCount", "deletionRule", "elementID",
    ]

    private static func element(_ configuration: Configuration) -> XMLElement {
        var facts = ["name": configuration.name]
        facts.set("usedWithCloudKit", configuration.usedWithCloudKit)
        return XMLElement(
            "configuration", XMLForm.ordered(facts, by: XMLForm.configuration),
            children: configuration.entities.map {
                XMLElement("memberEntity", [XMLAttribute("name", $0)])
            })
    }

    private static func element(_ entity: Entity) -> XMLElement {
        var facts = entity.xcode.attributes
        facts["name"] = entity.name
        facts["parentEntity"] = entity.parent
        facts["elementID"] = entity.renamedFrom
        facts.set("isAbstract", entity.isAbstract)
        let fetched = entity.xcode.elements.filter { $0.name == "fetchedProperty" }
        let others = entity.xcode.elements.filter { $0.name != "fetchedProperty" }
        return XMLElement(
            "entity", XMLForm.ordered(facts, by: XMLForm.entity),
            children: entity.attributes.map(element) + entity.relationships.map(element) + fetched
                + entity.indexes.map(element) + constraints(entity.uniquenessConstraints) + others
                + userInfo(entity.userInfo))
    }

    private static func element(_ attribute: Attribute) -> XMLElement {
        var facts = attribute.xcode.attributes
        let isDate = attribute.type == .date
        facts["name"] = attribute.name
        facts["attributeType"] = attribute.type.rawValue
        facts.set("optional", attribute.isOptional)
        facts[isDate ? "defaultDateTimeInterval" : "defaultValueString"] = attribute.defaultValue
        facts[isDate ? "minDateTimeInterval" : "minValueString"] = attribute.minimum
        facts[isDate ? "maxDateTimeInterval" : "maxValueString"] = attribute.maximum
        facts["regularExpressionString"] = attribute.pattern
        facts.set("transient", attribute.isTransient)
        if let derivation = attribute.derivation {
            facts.set("derived", true)
            facts["derivationExpression"] = derivation
        }
        facts.set("allowsExternalBinaryDataStorage", attribute.allowsExternalStorage)
        facts.set("allowsCloudEncryption", attribute.allowsCloudEncryption)
        facts.set("preserveAfterDeletion", attribute.isPreservedAfterDeletion)
        facts["valueTransformerName"] = attribute.transformer
        facts["elementID"] = attribute.renamedFrom
        return XMLElement(
            "attribute", XMLForm.ordered(facts, by: XMLForm.attribute),
            children: attribute.xcode.elements + userInfo(attribute.userInfo))
    }

    private static func element(_ relationship: Relationship) -> XMLElement {
        var facts = relationship.xcode.attributes
        facts["name"] = relationship.name
        facts.set("optional", relationship.isOptional)
        facts.set("toMany", relationship.isToMany)
        facts["minCount"] = relationship.minimumCount.map(String.init)
        facts["maxCount"] =
            relationship.isToMany ? relationship.maximumCount.map(String.init) : "1"
        facts["deletionRule"] = relationship.deleteRule.rawValue
        facts.set("ordered", relationship.isOrdered)
        facts["destinationEntity"] = relationship.destination
        if let inverse = relationship.inverse {
            facts["inverseName"] = inverse
            // Another entity is among Xcode's own details.
            facts["inverseEntity"] = facts["inverseEntity"] ?? relationship.destination
        }
        facts["elementID"] = relationship.renamedFrom
        return XMLElement(
            "relationship", XMLForm.ordered(facts, by: XMLForm.relationship),
            children: relationship.xcode.elements + userInfo(relationship.userInfo))
    }

    private static func element(_ index: FetchIndex) -> XMLElement {
        XMLElement(
            "fetchIndex", [XMLAttribute("name", index.name)],
            children: index.parts.map { part in
                XMLElement(
                    "fetchIndexElement",
                    [
                        XMLAttribute(part.isExpression ? "expression" : "property", part.property),
                        XMLAttribute("type", part.kind),
                        XMLAttribute("order", part.isAscending ? "ascending" : "descending"),
                    ])
            })
    }

    private static func constraints(_ constraints: [[String]]) -> [XMLElement] {
        guard !constraints.isEmpty else { return [] }
        let elements = constraints.map { names in
            XMLElement(
                "uniquenessConstraint",
                children: names.map { XMLElement("constraint", [XMLAttribute("value", $0)]) })
        }
        return [XMLElement("uniquenessConstraints", children: elements)]
    }

    private static func userInfo(_ entries: [UserInfo]) -> [XMLElement] {
        guard !entries.isEmpty else { return [] }
        let elements = entries.map {
            XMLElement("entry", [XMLAttribute("key", $0.key), XMLAttribute("value", $0.value)])
        }
        return [XMLElement("userInfo", children: elements)]
    }
}

extension [String: String] {
    /// Sets a flag: YES, or nothing.
    fileprivate mutating func set(_ name: String, _ flag: Bool) {
        self[name] = flag ? "YES" : nil
    }
}
