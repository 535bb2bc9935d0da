package import RecordModel

/// Reads a model from the `contents` of an `.xcdatamodel`.
///
/// An attribute that is absent means NO. Elements and attributes that mean nothing here are kept as
/// they are.
package enum XMLModelReader {
    /// Errors: `invalidArgument`.
    package static func read(_ text: [UInt8]) throws(RecordError) -> ObjectModel {
        let root = try XMLReader.parse(text)
        guard root.name == "model" else {
            throw RecordError(
                .invalidArgument,
                "the XML text is a <\(root.name)>. The contents of an .xcdatamodel are a <model>.")
        }
        var model = ObjectModel()
        model.xcode.attributes = Facts(root).rest([])
        for child in root.children {
            switch child.name {
            case "entity": model.entities.append(try entity(child))
            case "configuration": model.configurations.append(try configuration(child))
            default: model.xcode.elements.append(child)
            }
        }
        try ModelConsistency.check(model)
        return model
    }

    private static func configuration(_ element: XMLElement) throws(RecordError) -> Configuration {
        let facts = Facts(element)
        return Configuration(
            name: try facts.required("name"),
            entities: element.children(named: "memberEntity").compactMap { $0["name"] },
            usedWithCloudKit: try facts.flag("usedWithCloudKit"))
    }

    private static func entity(_ element: XMLElement) throws(RecordError) -> Entity {
        let facts = Facts(element)
        var entity = Entity(
            name: try facts.required("name"), parent: facts["parentEntity"],
            isAbstract: try facts.flag("isAbstract"), renamedFrom: facts["elementID"])
        entity.xcode.attributes = facts.rest(["name", "parentEntity", "isAbstract", "elementID"])
        for child in element.children {
            switch child.name {
            case "attribute": entity.attributes.append(try attribute(child))
            case "relationship": entity.relationships.append(try relationship(child))
            case "fetchIndex": entity.indexes.append(try index(child))
            case "uniquenessConstraints":
                entity.uniquenessConstraints += child.children.map { constraint in
                    constraint.children(named: "constraint").compactMap { $0["value"] }
                }
            case "userInfo": entity.userInfo += userInfo(child)
            default: entity.xcode.elements.append(child)
            }
        }
        return entity
    }

    private static func attribute(_ element: XMLElement) throws(RecordError) -> Attribute {
        let facts = Facts(element)
        let name = try facts.required("name")
        let spelling = facts["attributeType"] ?? AttributeType.undefined.rawValue
        guard let type = AttributeType(rawValue: spelling) else {
            throw RecordError(
                .invalidArgument, "the attribute \(name) has the unknown type \"\(spelling)\".")
        }
        let isDate = type == .date
        let isDerived = try facts.flag("derived")
        var attribute = Attribute(
            name: name, type: type, isOptional: try facts.flag("optional"),
            defaultValue: facts[isDate ? "defaultDateTimeInterval" : "defaultValueString"],
            minimum: facts[isDate ? "minDateTimeInterval" : "minValueString"],
            maximum: facts[isDate ? "maxDateTimeInterval" : "maxValueString"],
            pattern: facts["regularExpressionString"], isTransient: try facts.flag("transient"),
            derivation: isDerived ? facts["derivationExpression"] ?? "" : nil,
            allowsExternalStorage: try facts.flag("allowsExternalBinaryDataStorage"),
            allowsCloudEncryption: try facts.flag("allowsCloudEncryption"),
            isPreservedAfterDeletion: try facts.flag("preserveAfterDeletion"),
            transformer: facts["valueTransformerName"], renamedFrom: facts["elementID"],
            userInfo: element.children(named: "userInfo").flatMap(userInfo))
        attribute.xcode = XcodeDetails(
            attributes: facts.rest(XMLModelWriter.typed(isDate: isDate, isDerived: isDerived)),
            elements: element.children.filter { $0.name != "userInfo" })
        return attribute
    }

    private static func relationship(_ element: XMLElement) throws(RecordError) -> Relationship {
        let facts = Facts(element)
        let name = try facts.required("name")
        let isToMany = try facts.flag("toMany")
        let spelling = facts["deletionRule"] ?? Relationship.DeleteRule.nullify.rawValue
        guard let rule = Relationship.DeleteRule(spelling: spelling) else {
            throw RecordError(
                .invalidArgument,
                "the relationship \(name) has the unknown delete rule \"\(spelling)\".")
        }
        let maximum = try facts.count("maxCount")
        guard isToMany || maximum == nil || maximum == 1 else {
            throw RecordError(
                .invalidArgument,
                "the relationship \(name) is to one object and has maxCount=\"\(maximum ?? 0)\".")
        }
        var relationship = Relationship(
            name: name, destination: try facts.required("destinationEntity"),
            inverse: facts["inverseName"], isToMany: isToMany,
            isOptional: try facts.flag("optional"), isOrdered: try facts.flag("ordered"),
            minimumCount: try facts.count("minCount"),
            maximumCount: isToMany ? maximum : nil, deleteRule: rule,
            renamedFrom: facts["elementID"],
            userInfo: element.children(named: "userInfo").flatMap(userInfo))
        relationship.xcode = XcodeDetails(
            attributes: facts.rest(
                facts["inverseEntity"] == relationship.destination
                    ? XMLModelWriter.typedOfRelationships.union(["inverseEntity"])
                    : XMLModelWriter.typedOfRelationships),
            elements: element.children.filter { $0.name != "userInfo" })
        return relationship
    }

    private static func index(_ element: XMLElement) throws(RecordError) -> FetchIndex {
        var index = FetchIndex(name: try Facts(element).required("name"), parts: [])
        for part in element.children(named: "fetchIndexElement") {
            let facts = Facts(part)
            index.parts.append(
                FetchIndex.Part(
                    property: facts["property"] ?? facts["expression"] ?? "",
                    isExpression: facts["property"] == nil,
                    kind: facts["type"] ?? "Binary",
                    isAscending: facts["order"] != "descending"))
        }
        return index
    }

    private static func userInfo(_ element: XMLElement) -> [UserInfo] {
        element.children(named: "entry").map {
            UserInfo(key: $0["key"] ?? "", value: $0["value"] ?? "")
        }
    }
}

/// The attributes of an XML element, read as values.
private struct Facts {
    private let element: XMLElement
    private let values: [String: String]

    init(_ element: XMLElement) {
        self.element = element
        values = Dictionary(
            element.attributes.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }

    subscript(name: String) -> String? { values[name] }

    /// Returns the attributes without those that the model has as values of its own.
    func rest(_ typed: Set<String>) -> [String: String] {
        values.filter { !typed.contains($0.key) }
    }

    func required(_ name: String) throws(RecordError) -> String {
        guard let value = values[name] else {
            throw RecordError(
                .invalidArgument, "\(label) has no \(name).")
        }
        return value
    }

    func flag(_ name: String) throws(RecordError) -> Bool {
        switch values[name] {
        case nil, "NO": return false
        case "YES": return true
        case let value?:
            throw RecordError(
                .invalidArgument, "\(label) has \(name)=\"\(value)\". Write YES or NO.")
        }
    }

    func count(_ name: String) throws(RecordError) -> Int? {
        guard let value = values[name] else { return nil }
        guard let count = Int(value), count >= 0 else {
            throw RecordError(
                .invalidArgument, "\(label) has \(name)=\"\(value)\", which is no count.")
        }
        return count
    }

    private var label: String { "<\(element.name) name=\"\(values["name"] ?? "")\">" }
}

extension Relationship.DeleteRule {
    /// Reads a spelling of a model's XML or of the JSON form: `No Action` has two.
    init?(spelling: String) {
        let plain = spelling.lowercased().filter { $0 != " " }
        guard
            let rule = Self.allCases.first(where: {
                $0.rawValue.lowercased().filter { $0 != " " } == plain
            })
        else { return nil }
        self = rule
    }
}
